"""Rollouts at the command line, on a service that carries them out, and that a crash in between does not stop."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.agents_of_service import reporting
from tests.support.cli_support import Cli
from tests.support.fleet_of_agents import version
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent
from tests.support.rolling import Host

pytestmark = pytest.mark.end_to_end

PLACE = ("servers", "Default")
# The first soak is long enough to see it and to kill the service, also on a slow machine.
STEPS = ("--step", "1:12s", "--step", "100%:1s")
SLOW = ("--step", "1:1h", "--step", "100%:1s")


@dataclass
class Running:
    """A group of three hosts that runs version 1. `hosts` fare as each test makes them."""

    service: LocalService
    cli: Cli
    hosts: list[Host]

    def shown(self, *options: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.cli.ok("rollout", "show", *PLACE, "--json", *options))
        return found

    def until(self, there: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + 120
        while not there(shown := self.shown()):
            assert time.monotonic() < end, shown
            time.sleep(0.5)
        return shown

    def assigned(self) -> int:
        (group,) = json.loads(self.cli.ok("deployment", "list", "servers", "--json"))
        return int(group["version_number"])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("rollouts")
    service = LocalService(folder / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    service.start()
    (folder / "folder").mkdir()
    cli = Cli(folder / "folder", service.base_url, service.read_write_token)
    try:
        with service.client() as api:
            configuration_id = api.post("/configurations", json={"name": "shop", "yaml": version(1)}).json()["id"]
            path = f"/configurations/{configuration_id}/versions"
            assert api.post(f"{path}/1/publish").is_success
            for n in (2, 3):
                assert api.post(path, json={"yaml": version(n)}).is_success
                assert api.post(f"{path}/{n}/publish").is_success
            fleet_id = api.post("/fleets", json={"label": "servers", "type": "server-supervisor"}).json()["id"]
            group = f"/fleets/{fleet_id}/deployments"
            deployment_id = api.get(group).json()["items"][0]["id"]
            assigned = {"configuration_id": configuration_id, "version_number": 1}
            assert api.patch(f"{group}/{deployment_id}", json=assigned).is_success
        hosts = [Host(Agent(lambda _: b"", host_name=f"edge-{n}")) for n in range(3)]
        with reporting(service, fleet_id, deployment_id, hosts):
            yield Running(service, cli, hosts)
    finally:
        service.stop()


def test_a_rollout_goes_on_after_its_service_was_killed_in_the_middle_of_a_soak(running: Running) -> None:
    running.cli.ok("rollout", "start", *PLACE, "shop@2", "--force", *STEPS)
    running.until(lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))

    running.service.kill9()
    assert [host.has_new for host in running.hosts].count(True) == 1
    running.service.start()
    watched = running.cli.run("rollout", "watch", *PLACE)

    assert (watched.code, "completed" in watched.out) == (0, True), watched
    assert all(host.has_new for host in running.hosts)
    assert running.assigned() == 2


def test_a_group_goes_back_at_once_to_the_last_version_that_was_good(running: Running) -> None:
    running.cli.ok("deployment", "assign", *PLACE, "shop", "--version", "3", "--force")

    assert "goes back to shop v2" in running.cli.ok("rollback", "Default")
    assert "goes back to shop v1" in running.cli.ok("rollback", "Default")
    assert running.assigned() == 1
    assert running.cli.run("rollback", "Default").code == 1


def test_people_hold_and_skip_and_let_go_on(running: Running) -> None:
    running.cli.ok("rollout", "start", *PLACE, "shop@2", "--force", *SLOW, "-m", "by hand")
    running.cli.ok("rollout", "pause", *PLACE)
    assert "paused" in running.cli.ok("rollout", "list", *PLACE)
    running.cli.ok("rollout", "resume", *PLACE)
    running.until(lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))
    running.cli.ok("rollout", "promote", *PLACE)

    ended = running.cli.run("rollout", "watch", *PLACE, "--json")

    assert (ended.code, ended.json[0]["status"], ended.json[0]["message"]) == (0, "completed", "by hand")
    running.cli.ok("rollback", "Default")
    running.until(lambda _: not any(host.has_new for host in running.hosts))


def test_a_version_that_fails_ends_the_pipeline_and_the_group_keeps_what_it_ran(running: Running) -> None:
    for host in running.hosts:
        host.fares = "fails"

    ended = running.cli.run("rollout", "start", *PLACE, "shop@2", "--force", *STEPS, "--watch")

    assert (ended.code, "rolled back" in ended.out, "apply failed: " in ended.out) == (1, True, True), ended
    assert (running.assigned(), [host.has_new for host in running.hosts]) == (1, [False] * 3)


def test_a_rollout_that_is_under_way_is_aborted_by_a_rollback(running: Running) -> None:
    for host in running.hosts:
        host.fares = "well"
    running.cli.ok("rollout", "start", *PLACE, "shop@3", "--force", *SLOW)

    assert "aborted" in running.cli.run("rollback", *PLACE).err
    assert running.cli.run("rollout", "watch", *PLACE).code == 1
    assert running.shown()["status"] == "aborted"


def test_a_step_that_waits_for_approval_takes_another_persons_sign_in(running: Running) -> None:
    steps = ("--step", "1:0s", "--step", "100%:1s:approval")
    running.cli.ok("rollout", "start", *PLACE, "shop@3", "--force", *steps)
    running.until(lambda shown: bool(shown["status"] == "waiting_for_approval"))

    refused = running.cli.run("rollout", "approve", *PLACE)

    assert (refused.code, "sign in with `headgate login`" in refused.err) == (3, True), refused
    running.cli.ok("rollout", "abort", *PLACE)

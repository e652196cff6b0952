"""Collectors of two hosts under load, moved in stages from one version to another and back, with what can go wrong.

Each test prints what its hosts lost. tests/end_to_end/test_collector_upgrade.py has the parts that every change tries.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.installs.releases import Artifact
from tests.support import rolling_hosts
from tests.support.fleet_host import until
from tests.support.installing import released
from tests.support.local_service import LocalService
from tests.support.rolling_hosts import Hosts
from tests.support.second_version import needs_second_version, second_version

pytestmark = [pytest.mark.end_to_end, pytest.mark.full, needs_second_version]
FIRST, SECOND = "0.139.0", second_version() or "second version"
# The exporter's name in the second version only.
NEW_NAME = (("exporters: [otlphttp]", "exporters: [otlp_http]"), ("  otlphttp:", "  otlp_http:"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    started = LocalService(tmp_path_factory.mktemp("stages") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def group(service: LocalService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with rolling_hosts.hosts(tmp_path_factory.mktemp("web"), service.client(), number=2, a_second=20) as found:
        yield found


@pytest.fixture(autouse=True)
def told(group: Hosts, request: pytest.FixtureRequest) -> Iterator[None]:
    """What the hosts lost, and the seconds that it took."""
    group.losses()
    began = time.monotonic()
    yield
    print(f"{request.node.name}: {time.monotonic() - began:.0f} s, {group.losses()}")


def collectors(group: Hosts) -> dict[str, str]:
    return {name: one["collector_version"] for name, one in group.instances().items()}


def moves(group: Hosts, n: int, collector: str) -> None:
    """A staged rollout that moves all hosts, and loses nothing that they took."""
    ended = group.ends(group.start(n, f"to {collector}", 5, 5, upgrade_collector=True))
    assert (ended["status"], ended["failures"]) == ("completed", [])
    group.all_run(n)
    assert set(collectors(group).values()) == {collector}
    losses = group.losses()
    print(f"to {collector}: {losses}")
    assert {loss.lost for loss in losses.values()} == {0}


def stays(group: Hosts, n: int, collector: str, gate: str, words: str) -> None:
    """A rollout that is taken back from the first host, where both are as they were, and so are the others."""
    before = group.running()
    ended = group.ends(group.start(n, "fails", 5, 5, upgrade_collector=True))
    assert (ended["status"], ended["step"], ended["failures"][0]["gate"]) == ("rolled_back", 1, gate)
    assert words in ended["failures"][0]["message"]
    until(lambda: group.running() == before, group.log)
    assert set(collectors(group).values()) == {collector}
    group.flow()


def test_hosts_are_moved_in_stages_and_back(group: Hosts) -> None:
    moves(group, group.publish("forth", collector=SECOND), SECOND)
    moves(group, group.publish("back", collector=FIRST), FIRST)


def test_a_version_that_starts_on_one_collector_only_brings_that_collector_or_none(group: Hosts) -> None:
    only = group.publish("only", collector=SECOND, instead=NEW_NAME)
    without = group.ends(group.start(only, "without its collector", 5, 5))
    assert (without["status"], without["failures"][0]["gate"]) == ("rolled_back", "apply_failed")
    assert set(collectors(group).values()) == {FIRST}

    moves(group, only, SECOND)
    moves(group, group.publish("and back", collector=FIRST), FIRST)


def test_a_program_with_a_wrong_hash_is_not_started(group: Hosts, service: LocalService) -> None:
    def change(artifacts: dict[str, Artifact]) -> None:
        for name in [name for name in artifacts if SECOND in name]:
            artifacts[name] = replace(artifacts[name], binary_sha256="0" * 64)

    with released(service, change):
        stays(group, group.publish("a wrong hash", collector=SECOND), FIRST, "apply_failed", "SHA-256")


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """A folder with room for a tenth of a program."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_leaves_the_host_as_it_was(group: Hosts) -> None:
    with full_disk(group.hosts[group.canary].root / "var" / "programs"):
        stays(group, group.publish("a full disk", collector=SECOND), FIRST, "apply_failed", "the disk is full")


def test_a_supervisor_that_is_killed_in_the_middle_goes_on(group: Hosts) -> None:
    n = group.publish("killed", collector=SECOND)
    rollout = group.start(n, "killed in the middle", 5, 5, upgrade_collector=True)
    canary = group.hosts[group.canary]
    until(lambda: any((canary.root / "var" / "programs").glob("*")), group.log)
    os.kill(canary.pid, signal.SIGKILL)
    until(lambda: group.collectors(group.canary) == [], group.log)
    # As a service manager does.
    canary.install()

    ended = group.ends(rollout)
    runs = group.api.get(group.group).json()["version_number"]
    group.all_run(runs)
    collector = SECOND if ended["status"] == "completed" else FIRST
    assert set(collectors(group).values()) == {collector}
    group.flow()
    moves(group, group.publish("after the kill", collector=FIRST), FIRST)


@pytest.mark.parametrize("seconds", [20, 60])
def test_headgate_may_be_away_while_collectors_are_moved(group: Hosts, service: LocalService, seconds: int) -> None:
    n = group.publish("away", collector=SECOND)
    rollout = group.start(n, "Headgate is away", 5, 5, upgrade_collector=True)
    group.until(rollout, lambda shown: bool(shown["hosts"] and shown["hosts"]["due"]))
    service.stop()
    time.sleep(seconds)
    service.start()
    group.api = service.client()

    # Agents try again after up to 90 s.
    ended = group.ends(rollout, seconds=400)
    assert (ended["status"], ended["failures"]) == ("completed", [])
    group.all_run(n)
    moves(group, group.publish("and back again", collector=FIRST), FIRST)

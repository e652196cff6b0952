"""A secret that a gated rollout changes on two real hosts, with telemetry: no install, and back if it is wrong."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import rolling_hosts
from tests.support.fleet_host import until
from tests.support.installing import installs
from tests.support.local_service import LocalService
from tests.support.rolling_hosts import Hosts

__all__ = ["installs"]
pytestmark = [pytest.mark.end_to_end, pytest.mark.full]
FIRST = {"secrets": {"PLACE": "/first-key"}, "variables": {"OLD": "yes"}}


@pytest.fixture
def group(installs: LocalService, tmp_path: Path) -> Iterator[Hosts]:
    place = "${env:PLACE}"
    with rolling_hosts.hosts(
        tmp_path, installs.client(), number=2, a_second=20, stored=FIRST, place=place, apply_timeout="5s"
    ) as found:
        yield found


def environment(group: Hosts, name: str) -> dict[str, str]:
    """What the collector's process of a host was started with."""
    until(lambda: len(group.collectors(name)) == 1, group.log)
    content = Path(f"/proc/{group.collectors(name)[0]}/environ").read_bytes().decode()
    return dict(entry.split("=", 1) for entry in content.split("\0") if entry)


def places(group: Hosts) -> list[str | None]:
    return [environment(group, name).get("PLACE") for name in group.hosts]


def installed(group: Hosts) -> dict[str, bytes]:
    """The files of the installs."""
    folders = [host.root / part for host in group.hosts.values() for part in ("etc", "bin")]
    return {str(file): file.read_bytes()[:4_096] for folder in folders for file in sorted(folder.iterdir())}


def of_hosts(group: Hosts) -> Any:
    return group.api.get(f"{group.group}/env/hosts").json()


def test_a_changed_secret_reaches_hosts_by_a_rollout_and_a_wrong_one_is_taken_back(group: Hosts) -> None:
    files, pids = installed(group), [host.pid for host in group.hosts.values()]
    assert (places(group), of_hosts(group)["running"]) == (["/first-key"] * 2, [{"revision": None, "hosts": 2}])
    revision = group.stores(secrets={"PLACE": "/second-key"}, variables={"OLD": None})

    ended = group.ends(group.start(1, "another key", 2, 2, variables=revision))

    assert ended["status"] == "completed", ended
    assert ended["variables"] == {"revision": 2, "before": None}
    assert places(group) == ["/second-key"] * 2
    assert all("OLD" not in environment(group, name) for name in group.hosts)
    assert of_hosts(group)["running"] == [{"revision": 2, "hosts": 2}]
    group.flow()
    assert {"/first-key/v1/logs", "/second-key/v1/logs"} <= group.backend.places.keys()

    refused = group.ends(group.start(1, "a wrong key", 40, 2, variables=group.stores(secrets={"PLACE": "/wrong"})), 240)

    assert (refused["status"], refused["failures"][0]["gate"]) == ("rolled_back", "send_failed"), refused
    assert group.backend.places["/wrong/v1/logs"] > 0
    assert places(group) == ["/second-key"] * 2
    assert of_hosts(group)["running"] == [{"revision": 2, "hosts": 2}]
    for host in group.hosts.values():
        kept = list((host.root / "var" / "programs" / "variables").iterdir())
        assert all(file.stat().st_mode & 0o777 == 0o600 for file in kept)
        # The collector itself logs the address at which it was refused.
        ours = [line for line in host.log().splitlines() if line.startswith("headgate-supervisor:")]
        assert not [line for line in ours if "second-key" in line or "/wrong" in line]
    assert (installed(group), [host.pid for host in group.hosts.values()]) == (files, pids)


def test_a_value_that_hangs_the_collector_is_taken_back_and_the_host_resolves_a_reference(
    group: Hosts, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    hangs = "${file:" + str(tmp_path / "pipe") + "}"
    for value in (hangs, '"not a place', hangs):
        revision = group.stores(secrets={"PLACE": value})
        ended = group.ends(group.start(1, "a bad value", 2, 2, variables=revision), 300)
        assert (ended["status"], ended["failures"][0]["gate"]) == ("rolled_back", "apply_failed"), ended
        group.all_run(1)
        assert places(group) == ["/first-key"] * 2

    # A secret that Headgate never has.
    (tmp_path / "key").write_text("/of-the-host")
    revision = group.stores(variables={"PLACE": "${file:" + str(tmp_path / "key") + "}"})
    assert group.ends(group.start(1, "a reference", 2, 2, variables=revision))["status"] == "completed"
    until(lambda: group.backend.places["/of-the-host/v1/logs"] > 0, group.log)

"""A host that is moved to another collector with a version, and back, with telemetry; and to another supervisor.

tests/benchmarks/bench_collector_upgrade.py has 50 records a second, more ways to fail, and the figures.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.installs.releases import Artifact
from tests.support import fleet_host, rolling_hosts
from tests.support.fleet_host import until
from tests.support.installing import bucket_of, released
from tests.support.local_service import LocalService
from tests.support.programs import cached_programs
from tests.support.rolling_hosts import Hosts
from tests.support.second_version import needs_second_version, second_version

pytestmark = [pytest.mark.end_to_end, needs_second_version]
SECOND = second_version() or "second version"


@pytest.fixture(scope="module")
def upgrades(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    service = LocalService(tmp_path_factory.mktemp("upgrades") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def group(upgrades: LocalService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with rolling_hosts.hosts(tmp_path_factory.mktemp("web"), upgrades.client(), number=1, a_second=20) as found:
        yield found


def shown(group: Hosts) -> dict[str, Any]:
    """What is known of the one host."""
    (one,) = group.instances().values()
    found: dict[str, Any] = group.api.get(f"/fleets/{group.fleet_id}/instances/{one['id']}").json()
    return found


def program(group: Hosts) -> Path:
    """The program of the collector's process."""
    until(lambda: len(group.collectors(group.canary)) == 1, group.log)
    return Path(f"/proc/{group.collectors(group.canary)[0]}/exe").readlink()


def having(group: Hosts, component: str) -> list[Any]:
    """The hosts whose collector has this component."""
    found: list[Any] = group.api.get(f"/fleets/{group.fleet_id}/instances", params={"component": component}).json()[
        "items"
    ]
    return found


@pytest.mark.full
def test_collector_and_version_come_together_and_go_back_together(group: Hosts) -> None:
    installed = group.hosts[group.canary].root / "bin" / "otelcol-contrib"
    with fleet_host.taken_port() as taken:
        fails = group.publish("fails", collector=SECOND, grpc=f"127.0.0.1:{taken}")
        ended = group.ends(group.start(fails, "a port in use", 1, 1, upgrade_collector=True))
    group.all_run(1)
    assert (ended["status"], ended["failures"][0]["gate"]) == ("rolled_back", "apply_failed")
    assert "bind: address already in use" in ended["failures"][0]["message"]
    assert (program(group), shown(group)["running"]["collector_version"]) == (installed, "0.139.0")
    assert group.losses()[group.canary].lost == 0

    good = group.publish("good", collector=SECOND)
    assert group.ends(group.start(good, "the second collector", 1, 1, upgrade_collector=True))["status"] == "completed"
    group.all_run(good)
    assert program(group).is_relative_to(group.hosts[group.canary].root / "var" / "programs")
    truth = shown(group)
    assert [truth[what]["collector_version"] for what in ("desired", "offered", "running")] == [SECOND] * 3
    assert (truth["collector_version"], truth["drifted"]) == (SECOND, [])
    history = group.api.get(f"/fleets/{group.fleet_id}/instances/{truth['id']}/history").json()["items"]
    assert "collector_changed" in [entry["event"] for entry in history]
    # Its name in the second collector only, in the list that the host reads once that runs.
    until(lambda: len(having(group, "exporter/otlp_http")) == 1, group.log)
    assert group.losses()[group.canary].lost == 0


def test_a_supervisor_is_replaced_by_one_that_reports_and_kept_if_that_does_not(
    group: Hosts, upgrades: LocalService, tmp_path: Path
) -> None:
    before = shown(group)
    version = before["supervisor_version"]
    other = version[:-4] + "0000"
    path = f"/fleets/{group.fleet_id}/instances/{before['id']}"
    content = cached_programs()["headgate-supervisor"].read_bytes()

    def publish(program: bytes) -> Any:
        # An object, to which a host is redirected, as on AWS.
        s3, bucket = bucket_of(upgrades)
        digest = hashlib.sha256(program).hexdigest()
        key = f"install/{digest}"
        s3.put_object(Bucket=bucket, Key=key, Body=program)

        def change(artifacts: dict[str, Artifact]) -> None:
            for name in [name for name in artifacts if name.startswith("supervisor-")]:
                artifacts[name] = Artifact(key, digest, compressed=False, binary_sha256=digest, size=len(program))

        return released(upgrades, change, other)

    def ordered() -> dict[str, Any]:
        order: dict[str, Any] = group.api.post(f"{path}/upgrade-supervisor").json()
        where = f"{path}/orders/{order['id']}"
        until(lambda: group.api.get(where).json()["status"] != "pending", group.log)
        found: dict[str, Any] = group.api.get(where).json()
        return found

    # It says another version than the one that is published.
    with publish(content + b"\0"):
        refused = ordered()
    assert (refused["status"], refused["reason"]) == ("failed", f'it says that it is version "{version}"')
    assert shown(group)["supervisor_version"] == version

    with publish(content.replace(version.encode(), other.encode())):
        replaced = ordered()
    assert replaced["status"] == "done", replaced
    group.all_run(shown(group)["desired"]["version_number"])
    after = shown(group)
    assert (after["supervisor_version"], after["collector_version"]) == (other, before["collector_version"])
    group.flow()
    events = [one["event"] for one in group.api.get(f"{path}/history").json()["items"]]
    assert {"supervisor_kept", "supervisor_changed"} <= set(events)

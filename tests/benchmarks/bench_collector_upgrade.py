"""A rollout that moves a real host from one collector to another: what the host loses, if it succeeds and if it fails.

The two collectors are those that are built here, with 50 records a second. Heartbeats take 5 s, as in `make dev`, and a
version is Applied once it was healthy for 10 s, the supervisor's default. The baseline is the same with the collector
that runs: a version that is rolled out, and one that fails as the third row does.

python -m tests.benchmarks.bench_collector_upgrade
"""

import tempfile
import time
from pathlib import Path

from headgate_engine.collector import by_age
from tests.benchmarks.bench_rollout_hosts import APPLY_TIMEOUT, HEARTBEAT, measured, story
from tests.support import fleet_host, rolling_hosts
from tests.support.rolling_hosts import Hosts
from tests.support.service import running_service


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS=HEARTBEAT) as service,
        rolling_hosts.hosts(
            Path(folder), service.client(), number=1, a_second=50, apply_timeout=APPLY_TIMEOUT
        ) as group,
        fleet_host.taken_port() as taken,
    ):
        before = group.instances()[group.canary]["collector_version"]
        installed = [one["version"] for one in group.api.get("/collector-versions").json()["items"] if one["hosts"]]
        to = max((version for version in installed if version != before), key=by_age)
        print(f"the host runs collector {before}, and is moved to {to}")
        measured(group, "baseline: 15 s without a change", lambda: time.sleep(15))
        in_use = f"127.0.0.1:{taken}"
        moves(group, "baseline: a version", group.publish("a"), upgrade=False)
        moves(group, "baseline: a port in use", group.publish("b", grpc=in_use), upgrade=False)
        refused = group.publish("c", grpc='127.0.0.1:0", nonsense: "', collector=to)
        moves(group, "its own validation refuses the text", refused)
        moves(group, "it ends at once: a port in use", group.publish("d", grpc=in_use, collector=to))
        wrong = group.publish("e", backend=group.backend.wrong, collector=to)
        moves(group, "it runs, and a gate takes both back", wrong)
        moves(group, "it succeeds", group.publish("f", collector=to))
        print(f"\nthe timeline of {group.canary}, oldest first")
        story(group.api, f"/fleets/{group.fleet_id}/instances/{group.instances()[group.canary]['id']}/history")


def moves(group: Hosts, name: str, n: int, *, upgrade: bool = True) -> None:
    """Roll a version out, and print how that ended."""
    rollouts: list[str] = []

    def roll_out() -> None:
        rollouts.append(group.start(n, name, 15, 5, upgrade_collector=upgrade))
        group.ends(rollouts[0])

    measured(group, name, roll_out)
    shown, stays = group.rollout(rollouts[0]), group.api.get(group.group).json()["version_number"]
    group.all_run(stays)
    collector = group.instances()[group.canary]["collector_version"]
    print(f"  {shown['status']}; the host runs version {stays} with collector {collector}")
    for failure in shown["failures"]:
        print(f"  {failure['gate']}: {failure['message']}")


if __name__ == "__main__":
    main()

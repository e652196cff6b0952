"""Rollouts on three real hosts with telemetry: what each host loses, and the story as the API tells it.

A good version, a wrong backend that its gate takes back, and a collector that ends. Heartbeats take 5 s, as in
`make dev`, and a version is Applied once it was healthy for 10 s, the supervisor's default. The baseline is the same
version, assigned to all hosts at once.

python -m tests.benchmarks.bench_rollout_hosts
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.support import rolling_hosts
from tests.support.rolling_hosts import Entity, Hosts, told
from tests.support.service import running_service

HEARTBEAT = "5"
APPLY_TIMEOUT = "10s"


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS=HEARTBEAT) as service,
        rolling_hosts.hosts(
            Path(folder), service.client(), number=3, a_second=50, apply_timeout=APPLY_TIMEOUT
        ) as group,
    ):
        measured(group, "baseline: 15 s without a change", lambda: time.sleep(15))
        at_once = group.publish("assigned at once")

        def assign() -> None:
            group.assign(at_once, "to all at once")
            group.all_run(at_once)

        measured(group, "assigned to all at once", assign)
        good = group.publish("good")
        rollouts = []

        def roll_out(n: int, message: str, soak: int) -> Entity:
            rollouts.append(group.start(n, message, soak, 10))
            return group.ends(rollouts[-1])

        measured(group, "a good version, in two steps", lambda: roll_out(good, "a good version", 15))
        wrong = group.publish("wrong", backend=group.backend.wrong)
        measured(group, "a wrong backend, taken back", lambda: roll_out(wrong, "a wrong backend", 600))
        group.all_run(good)
        loops = group.publish("loops")

        def loop() -> None:
            rollouts.append(group.start(loops, "a collector that ends", 600, 10))
            group.until(rollouts[-1], lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))
            group.crash(group.canary, rollouts[-1])
            group.all_run(good)

        measured(group, "a collector that ends, taken back", loop)
        for rollout_id in rollouts:
            shown = group.rollout(rollout_id)
            print(f"\n{shown['message']}: {shown['status']} in step {shown['step']}; {shown['reason'] or 'no reason'}")
            for failure in shown["failures"]:
                print(f"  {failure['gate']}: {failure['message']}")
        print("\nthe group's timeline, oldest first")
        story(group.api, f"{group.group}/history")
        canary = group.instances()[group.canary]["id"]
        print(f"\nthe timeline of {group.canary}, the canary")
        story(group.api, f"/fleets/{group.fleet_id}/instances/{canary}/history")


def measured(group: Hosts, name: str, change: Callable[[], object]) -> None:
    """Do it, and print how long it took and what each host lost of what was sent meanwhile."""
    group.losses()
    started = time.perf_counter()
    change()
    took = time.perf_counter() - started
    for host, loss in group.losses().items():
        print(
            f"{name:<36} {took:>6.1f} s  {host}: {loss.sent:>5} taken, {loss.lost:>4} of them lost, "
            f"{loss.refused:>3} refused",
            flush=True,
        )


def story(api: httpx.Client, path: str) -> None:
    for event in reversed(api.get(path, params={"limit": 100}).json()["items"]):
        print(f"  {told(event)}")


if __name__ == "__main__":
    main()

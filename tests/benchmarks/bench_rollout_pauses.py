"""Pauses of the service in the middle of rollouts to two real hosts with telemetry: what becomes of a healthy version.

python -m tests.benchmarks.bench_rollout_pauses [--heartbeat 30] [--pauses 45,60]

Each rollout gives a good version to one host and then to both. The service ends while the first host applies the
version, or while it soaks, by turns, and starts again after the pause. The baseline is a rollout without a pause.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.support import rolling_hosts
from tests.support.fleet_host import until
from tests.support.local_service import LocalService
from tests.support.rolling_hosts import Entity, Hosts

A_SECOND = 5
SOAKS = (30, 10)
# A host at rest, the waking after the pause, and the soaks.
LONGEST = 1_500
QUICK = "5"


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--heartbeat", type=int, default=5)
    arguments.add_argument("--pauses", default="45,60")
    chosen = arguments.parse_args()
    pauses = [int(seconds) for seconds in chosen.pauses.split(",") if seconds]
    with tempfile.TemporaryDirectory() as folder:
        service = LocalService(Path(folder) / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS=QUICK)
        service.start()
        try:
            with rolling_hosts.hosts(
                Path(folder), service.client(), number=2, a_second=A_SECOND, apply_timeout="10s"
            ) as group:
                _slow_down(service, group, chosen.heartbeat)
                print(
                    f"{'heartbeat':>9} {'away':>5} {'while it':>9} {'seconds':>8} {'how it ended':<24} losses",
                    flush=True,
                )
                for number, pause in enumerate([0, *pauses]):
                    _course(service, group, chosen.heartbeat, pause, "soaks" if number % 2 else "applies")
        finally:
            service.stop()


def _slow_down(service: LocalService, group: Hosts, heartbeat: int) -> None:
    service.stop()
    service.environment["HEADGATE_FLEET_HEARTBEAT_SECONDS"] = str(heartbeat)
    service.start()
    group.api = service.client()


def _course(service: LocalService, group: Hosts, heartbeat: int, pause: int, when: str) -> None:
    group.losses()
    n = group.publish(f"away for {pause}")
    began = time.monotonic()
    rollout = group.start(n, f"Headgate is away for {pause} s", *SOAKS)
    group.until(rollout, lambda shown: _has_come_to(shown, when), LONGEST)
    if pause:
        service.stop()
        time.sleep(pause)
        service.start()
        group.api = service.client()
    ended = group.ends(rollout, LONGEST)
    took = time.monotonic() - began
    until(lambda: group.running() == dict.fromkeys(group.hosts, n), group.log, LONGEST)
    losses = "; ".join(f"{loss.lost} of {loss.sent} lost, {loss.refused} refused" for loss in group.losses().values())
    print(f"{heartbeat:>9} {pause:>5} {when:>9} {took:>8.0f} {ended['status']:<24} {losses}", flush=True)
    for failure in ended["failures"]:
        print(f"  {failure}", flush=True)


def _has_come_to(shown: Entity, when: str) -> bool:
    hosts = shown["hosts"]
    return bool(hosts and (hosts["applied"] if when == "soaks" else hosts["due"]))


if __name__ == "__main__":
    main()

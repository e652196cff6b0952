"""A rollout on one real host: from the assignment until telemetry flows and until Applied, against restarting by hand.

python -m tests.benchmarks.bench_rollout [--rounds 5]
"""

import argparse
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.support import fleet_host
from tests.support.fleet_host import Host
from tests.support.service import running_service

HEARTBEATS = (1, 5)
# The supervisor's own default: a version is Applied once it was healthy for so long.
APPLY_TIMEOUT = "10s"
POLL_SECONDS = 0.02


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=3)
    rounds = arguments.parse_args().rounds
    print(f"\n{'seconds, median of ' + str(rounds):<44} {'flows':>8} {'Applied':>8} {'line':>8}")
    hand = 0.0
    for heartbeat in HEARTBEATS:
        with (
            tempfile.TemporaryDirectory() as folder,
            running_service(Path(folder) / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS=str(heartbeat)) as service,
            fleet_host.host(Path(folder), service.client(), "rollout", apply_timeout=APPLY_TIMEOUT) as host,
        ):
            line = timed(host.install)
            host.apply(host.flowing("first"))
            hand = hand or median(by_hand(host, Path(folder)) for _ in range(rounds))
            measured = [rollout(host, f"step {n}") for n in range(rounds)]
            flows, applied = (median(one[part] for one in measured) for part in (0, 1))
            named = f"heartbeat {heartbeat} s, apply timeout {APPLY_TIMEOUT}"
            print(f"{named:<44} {flows:>8.2f} {applied:>8.2f} {line:>8.2f}")
    print(f"{'baseline: collector stopped and started by hand':<48} {hand:>4.2f}")


def rollout(host: Host, step: str) -> tuple[float, float]:
    """From the assignment until a record comes out of the new version, and until the service says Applied."""
    n = host.publish(host.flowing(step))
    started = time.perf_counter()
    host.assign(n)
    host.output.unlink(missing_ok=True)
    wait(lambda: host.sends() and host.output.exists() and step in host.output.read_text())
    flows = time.perf_counter() - started
    wait(lambda: host.instance()["state"] == "applied")
    return flows, time.perf_counter() - started


def by_hand(host: Host, folder: Path) -> float:
    """The same collector, told to stop and started again, until a record comes out; beside the fleet's."""
    other = Host(folder / "hand", host.api, "", "", "", folder, 0)
    other.folder.mkdir(exist_ok=True)
    config = other.folder / "collector.yaml"
    config.write_text(other.flowing("hand"))
    command = [host.root / "bin" / "otelcol-contrib", "--config", config]
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait(other.sends)
    started = time.perf_counter()
    first.send_signal(signal.SIGINT)
    first.wait()
    other.output.unlink(missing_ok=True)
    second = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait(lambda: other.sends() and other.output.exists() and "hand" in other.output.read_text())
    took = time.perf_counter() - started
    os.kill(second.pid, signal.SIGKILL)
    second.wait()
    return took


def timed(what: Callable[[], object]) -> float:
    started = time.perf_counter()
    what()
    return time.perf_counter() - started


def wait(there: Callable[[], bool]) -> None:
    while not there():
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()

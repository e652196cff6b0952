"""POST /validate against spawning the collector's own command for the same text, and the checker over many calls.

python -m tests.benchmarks.bench_validate [--calls 20000] [--requests 300]
"""

import argparse
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

import httpx

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import default_limits
from tests.support.askers import ASKER
from tests.support.service import running_service

# 100 lines that people write: two signals, several processors, a connector.
CONFIGURATION = (Path(__file__).parent / "hundred_lines.yaml").read_text()


@dataclass
class Times:
    """Milliseconds of one thing, done many times."""

    name: str
    milliseconds: list[float] = field(default_factory=list)

    def measure(self, times: int, work: Callable[[], object]) -> None:
        for _ in range(times):
            started = time.perf_counter()
            work()
            self.milliseconds.append((time.perf_counter() - started) * 1000)

    @property
    def p50(self) -> float:
        return quantiles(self.milliseconds, n=100)[49]

    @property
    def p99(self) -> float:
        return quantiles(self.milliseconds, n=100)[98]

    def row(self, baseline: "Times | None" = None) -> str:
        ratio = f"{baseline.p50 / self.p50:6.1f}x" if baseline else "  (base)"
        return f"{self.name:<44} {len(self.milliseconds):>6} {self.p50:>9.2f} {self.p99:>9.2f} {ratio:>9}"


class PeakMemory:
    """The most that this process's children of one checker held together, looked at every 20 ms."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self.each = 0
        self.together = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,))
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(0.02):
            held = [_resident_bytes(pid) for pid in self._checker.pids()]
            self.each = max(self.each, *held, 0)
            self.together = max(self.together, sum(held))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000, help="questions to the checker itself")
    parser.add_argument("--requests", type=int, default=300, help="requests to the service")
    options = parser.parse_args()
    binary = Installed(Path(settings().collectors_dir)).binary(settings().collector_version)

    spawned, answered = Times("spawning `otelcol-contrib validate`"), Times("POST /validate, the same text")
    checked = Times("the checker alone, one caller")
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "collector.yaml")
        text.write_text(CONFIGURATION)
        command = [str(binary), "validate", "--config", str(text)]
        with running_service(Path(folder, "data")) as service, service.client() as http:
            measure_in_turns(spawned, answered, options.requests, command, http)

    checker = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, default_limits())
    question = {"yaml": CONFIGURATION, "env": {}}
    checker.call("validate", question, asker=ASKER)
    memory = PeakMemory(checker)
    seen: set[int] = set()
    with memory.watching():
        for _ in range(0, options.calls, 100):
            checked.measure(100, lambda: checker.call("validate", question, asker=ASKER))
            seen.update(checker.pids())
    checker.close()

    print(f"{'':<44} {'times':>6} {'p50 ms':>9} {'p99 ms':>9} {'faster':>9}")
    print(spawned.row())
    print(answered.row(spawned))
    print(checked.row(spawned))
    print(
        f"checker's memory at most: {memory.each / 1e6:.0f} MB a process, {memory.together / 1e6:.0f} MB together, "
        f"over {options.calls} calls by {len(seen)} processes"
    )


def measure_in_turns(spawned: Times, answered: Times, requests: int, command: list[str], http: httpx.Client) -> None:
    """A few of the one, a few of the other, so that whatever else the machine does meets both alike."""

    def spawn() -> None:
        subprocess.run(command, check=True, env={}, capture_output=True)

    def post() -> None:
        answer = http.post("/validate", json={"yaml": CONFIGURATION}).raise_for_status().json()
        assert answer["valid"], answer

    post()
    for _ in range(max(1, requests // 10)):
        spawned.measure(2, spawn)
        answered.measure(10, post)


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return pages * os.sysconf("SC_PAGESIZE")


if __name__ == "__main__":
    main()

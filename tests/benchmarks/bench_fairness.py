"""Small validations while one credential sends large ones without end, and what a change of organization costs.

python -m tests.benchmarks.bench_fairness [--requests 200]
"""

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx

from headgate.checker import Asker, Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import default_limits
from tests.benchmarks.bench_validate import CONFIGURATION, Times
from tests.support.cli_support import Founder
from tests.support.service import Service, running_service

LARGE_BYTES = 590_000
AT_ONCE = 6


def large() -> str:
    """As many components as may be, and as much text: one verdict takes the collector seconds."""
    count = 1_900
    names = [f"attributes/{number}" for number in range(count)]
    padding = "x" * (LARGE_BYTES // count - 90)
    processors = "\n".join(f"  {name}: {{actions: [{{key: k, value: {padding}, action: insert}}]}}" for name in names)
    pipeline = f"receivers: [nop], processors: [{', '.join(names)}], exporters: [nop]"
    return (
        f"receivers: {{nop: }}\nexporters: {{nop: }}\nprocessors:\n{processors}\n"
        f"service: {{pipelines: {{logs: {{{pipeline}}}}}}}\n"
    )


@contextmanager
def sending(service: Service, text: str) -> Iterator[list[tuple[int, float]]]:
    """Six of the large text at once by the read-only token, again and again: statuses and seconds."""
    over = threading.Event()
    answered: list[tuple[int, float]] = []

    def send() -> None:
        with httpx.Client(base_url=f"{service.base_url}/api/v1/public", timeout=120) as http:
            http.headers["Authorization"] = f"Bearer {service.read_only_token}"
            while not over.is_set():
                started = time.perf_counter()
                status = http.post("/validate", json={"yaml": text}).status_code
                answered.append((status, time.perf_counter() - started))
                if status != httpx.codes.OK:
                    over.wait(0.2)

    threads = [threading.Thread(target=send) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(2)
        yield answered
    finally:
        over.set()
        for thread in threads:
            thread.join()


def small(http: httpx.Client, times: Times, requests: int, refused: list[int]) -> None:
    for _ in range(requests):
        started = time.perf_counter()
        status = http.post("/validate", json={"yaml": CONFIGURATION}).status_code
        times.milliseconds.append((time.perf_counter() - started) * 1000)
        if status != httpx.codes.OK:
            refused.append(status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    text = large()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        data = Path(folder, "data")
        service = stack.enter_context(running_service(data))
        # The founder reads only these two attributes of a service.
        founder = Founder(cast("Any", SimpleNamespace(base_url=service.base_url, data=data)))
        elsewhere = stack.enter_context(httpx.Client(base_url=f"{service.base_url}/api/v1/public", timeout=120))
        elsewhere.headers["Authorization"] = f"Bearer {founder.token('Elsewhere')}"
        clients = {"another organization": elsewhere, "another credential": stack.enter_context(service.client())}
        print(f"a large text is {len(text)} bytes")
        print(f"{'':<44} {'times':>6} {'p50 ms':>9} {'p99 ms':>9}")
        idle, busy = {}, {}
        refused: list[int] = []
        for name, http in clients.items():
            small(http, Times("warm"), 10, refused)
            idle[name] = Times(f"{name}, idle")
            small(http, idle[name], options.requests, refused)
            print(idle[name].row())
        with sending(service, text) as answered:
            for name, http in clients.items():
                busy[name] = Times(f"{name}, beside large ones")
                small(http, busy[name], options.requests, refused)
                ratio = busy[name].p50 / idle[name].p50
                longest = max(busy[name].milliseconds)
                print(f"{busy[name].row()} {ratio:.1f} times the idle median, longest {longest:.0f} ms")
        statuses = sorted({status for status, _ in answered})
        took = sorted(seconds for status, seconds in answered if status == httpx.codes.OK)
        print(f"refused of the small ones: {len(refused)}; of the large ones {len(answered)} answered, {statuses}")
        if took:
            print(f"a large one took {took[len(took) // 2]:.1f} s in the middle")
    switches()


def switches() -> None:
    """The checker alone: the same organization again and again, two in turns, and more than have processes."""
    checker = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, default_limits())
    question = {"yaml": CONFIGURATION, "env": {}}
    for count in (1, 2, 8):
        times = Times(f"the checker alone, {count} organizations in turns")
        askers = [Asker(f"org_{number}", f"tok_{number}") for number in range(count)]
        for asker in askers:
            checker.call("validate", question, asker=asker)
        for number in range(120):
            asker = askers[number % count]
            times.measure(1, lambda asker=asker: checker.call("validate", question, asker=asker))
        print(times.row())
    time.sleep(1)
    resident = [private_bytes(pid) / 1e6 for pid in checker.pids()]
    print("processes held, MB of their own each: " + ", ".join(f"{one:.0f}" for one in sorted(resident)))
    checker.close()


def private_bytes(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGESIZE")


if __name__ == "__main__":
    main()

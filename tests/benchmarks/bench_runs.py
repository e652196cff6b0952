"""A test run from POST to its final status, less its duration, against the collector by hand with the same files.

python -m tests.benchmarks.bench_runs [--rounds 5]
"""

import argparse
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import httpx

from headgate.foundation.settings import settings
from headgate_local.options import read_options
from tests.support import pipeline_cases
from tests.support.pipeline_cases import Case
from tests.support.service import running_service

CASES = ("logs_filelog_regex", "logs_transform", "traces_tail_sampling", "metrics_cumulativetodelta")
AT_ONCE = 20
POLL_SECONDS = 0.02
FINAL = ("Success", "Fail", "Error")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=5)
    rounds = arguments.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "data") as service,
        service.client() as client,
    ):
        # The first run pays for what is loaded once.
        by_the_service(client, pipeline_cases.case(CASES[0]))
        compare(client, rounds, Path(folder))
        many_at_once(client)


def compare(client: httpx.Client, rounds: int, folder: Path) -> None:
    collector = read_options(os.environ).collectors / settings().collector_version / "otelcol-contrib"
    print(f"\n{'seconds besides the duration, median of ' + str(rounds):<44} {'by hand':>8} {'service':>8} {'more':>8}")
    for name in CASES:
        tested = pipeline_cases.case(name)
        hand = median(by_hand(collector, tested, folder / f"{name}-{n}") for n in range(rounds))
        ours = median(by_the_service(client, tested) for _ in range(rounds))
        print(f"{name:<44} {hand:>8.2f} {ours:>8.2f} {ours - hand:>+8.2f}")


def many_at_once(client: httpx.Client) -> None:
    tested = pipeline_cases.case("logs_transform")
    started = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        times = sorted(pool.map(lambda _: by_the_service(client, tested, poll=0.2), range(AT_ONCE)))
    together = time.perf_counter() - started
    each = f"each {median(times):.1f} s besides its duration"
    print(f"\n{AT_ONCE} runs of {tested.duration_seconds} s at once: {together:.1f} s in all, {each}")


def by_hand(collector: Path, tested: Case, folder: Path) -> float:
    started = time.perf_counter()
    pipeline_cases.run_by_hand(collector, tested, folder)
    return time.perf_counter() - started - tested.duration_seconds


def by_the_service(client: httpx.Client, tested: Case, poll: float = POLL_SECONDS) -> float:
    started = time.perf_counter()
    run = client.post("/testing/runs", json=tested.request(tested.passes)).json()
    while run["status"] not in FINAL:
        time.sleep(poll)
        run = client.get(f"/testing/runs/{run['id']}").json()
    if run["status"] != "Success":
        raise RuntimeError(f"{tested.name} ended as {run['status']}: {run['stderr'][-300:]}")
    return time.perf_counter() - started - tested.duration_seconds


if __name__ == "__main__":
    main()

"""Forty cases of a gallery flow as one job, against runs of their own: seconds, and their ratio.

python -m tests.benchmarks.bench_jobs [--runs 6]
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.support import run_support
from tests.support.service import ROOT, running_service

FLOW = ROOT / "flows" / "log-noise-filter"
CASES = 40
POLL_SECONDS = 0.1


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--runs", type=int, default=6)
    runs = arguments.parse_args().runs
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "data") as service,
        service.client() as client,
    ):
        test = a_test()
        # The first one pays for what is loaded once.
        by_a_job(client, test, 1)
        one = by_runs(client, test, runs) / runs
        for count in (1, 10, CASES):
            took = by_a_job(client, test, count)
            alone = count * one
            print(
                f"{count:>3} cases as one job: {took:6.1f} s; as runs: {alone:6.1f} s; {alone / took:.1f} times faster"
            )


def a_test() -> dict[str, Any]:
    pipeline = yaml.safe_load((FLOW / "flow.yaml").read_text())["test"]["target_pipeline"]
    rules = yaml.safe_load((FLOW / "rules.yaml").read_text())["rules"]
    return {"target_pipeline": pipeline, "sample": (FLOW / "sample.json").read_text(), "rules": rules}


def by_a_job(client: httpx.Client, test: dict[str, Any], count: int) -> float:
    started = time.perf_counter()
    tests = [{**test, "name": f"case-{n}"} for n in range(count)]
    asked = {"yaml": (FLOW / "collector.yaml").read_text(), "tests": tests}
    job = client.post("/testing/suites", json=asked).raise_for_status().json()
    while job["status"] in ("Queued", "Running"):
        time.sleep(POLL_SECONDS)
        job = client.get(f"/testing/suites/{job['id']}").json()
    outcomes = [one["status"] for one in (job["result"] or {"tests": []})["tests"]]
    if outcomes != ["Success"] * count:
        raise RuntimeError(json.dumps(job)[:1_000])
    return time.perf_counter() - started


def by_runs(client: httpx.Client, test: dict[str, Any], count: int) -> float:
    """One after the other; the service may run several at once, which a job of an organization may be beside."""
    started = time.perf_counter()
    for _ in range(count):
        asked = {**test, "yaml": (FLOW / "collector.yaml").read_text(), "signal_type": "logs"}
        run = run_support.run(client, asked)
        if run["status"] != "Success":
            raise RuntimeError(run["stderr"][:1_000])
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

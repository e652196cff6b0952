"""Every operation of the API: its time, its calls to AWS, and their bytes, each against the same baseline.

python -m tests.benchmarks.bench_operations [--times 40]

The functions and moto in this process, with the real collector's checker; the requests are those of
`tests/support/endpoints.py`. The baseline is GET /identity: a credential and nothing else. A session is used, which
costs one read more than a token. Times are of one request at a time, moto's own included, and say something beside the
baseline only; what the tables cost as they grow is in `bench_growth`.
"""

import argparse
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from headgate.foundation.log import logger
from headgate.storage import aws
from tests.support.aws import aws_for
from tests.support.endpoints import ROWS
from tests.support.faults.bench import Bench, made_ready
from tests.support.faults.rows import Row


@dataclass
class Traffic:
    """What goes to AWS and comes from there."""

    calls: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    answered: int = 0

    def watch(self, client: Any) -> None:
        service = client.meta.service_model.service_name

        def sent(request: Any, **_: object) -> None:
            self.sent += int(
                request.headers.get("Content-Length") or request.headers.get("X-Amz-Decoded-Content-Length", 0)
            )

        def answered(http_response: Any, model: Any, **_: object) -> None:
            self.calls[service] += 1
            # What streams is counted by what it says of itself.
            length = http_response.headers.get("content-length")
            self.answered += int(length) if model.has_streaming_output and length else len(http_response.content)

        client.meta.events.register("before-send", sent)
        client.meta.events.register(f"after-call.{service}", answered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=40)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for described in aws_for(patch, Path(folder)):
            with made_ready(described, Path(folder) / "state") as bench:
                logger.setLevel("ERROR")
                table(bench, times)


def table(bench: Bench, times: int) -> None:
    traffic = Traffic()
    for client in (aws.dynamodb(), aws.s3(), aws.stepfunctions(), aws.cognito()):
        traffic.watch(client)
    print(f"{'':<76} {'p50 ms':>8} {'p99 ms':>8} {'DynamoDB':>9} {'others':>7} {'sent':>9} {'received':>9} {'p50':>7}")
    baseline = 0.0
    for row in ROWS:
        median, slow, one = measured(bench, row, traffic, times)
        baseline = baseline or median
        others = one["calls"] - one["dynamodb"]
        print(
            f"{str(row).replace('/api/v1', ''):<76} {median:>8.1f} {slow:>8.1f} {one['dynamodb']:>9.1f} {others:>7.1f} "
            f"{one['sent']:>9,.0f} {one['answered']:>9,.0f} {median / baseline:>6.1f}x",
            flush=True,
        )


def measured(bench: Bench, row: Row, traffic: Traffic, times: int) -> tuple[float, float, Mapping[str, float]]:
    bench.reset(row)
    bench.send(row)
    seconds = []
    traffic.calls.clear()
    traffic.sent = traffic.answered = 0
    for _ in range(times):
        bench.reset(row)
        started = time.perf_counter()
        response = bench.send(row)
        seconds.append((time.perf_counter() - started) * 1000)
        assert response.status_code == row.status, (str(row), response.text)
    totals = {
        "calls": traffic.calls.total(),
        "dynamodb": traffic.calls["dynamodb"],
        "sent": traffic.sent,
        "answered": traffic.answered,
    }
    return (
        statistics.median(seconds),
        statistics.quantiles(seconds, n=100)[98],
        {name: value / times for name, value in totals.items()},
    )


if __name__ == "__main__":
    main()

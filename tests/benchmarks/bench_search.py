"""Searches among 500 configurations of 20 KB, and the list's page, each against the plain list of the API.

python -m tests.benchmarks.bench_search [--configurations 500] [--times 5]

The functions' code and moto in this process. Times say something beside the baseline only; `calls` are those to
DynamoDB, whose number and size AWS has too.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headgate.configurations import search, service
from headgate.configurations.search import ConfigurationFilter
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.storage import aws
from headgate.usage import listing
from tests.support.aws import aws_for


def text_of(n: int) -> str:
    """Some 20 KB: a hundred processors, each with two statements."""
    words = random.Random(n)
    processors = "".join(
        f"  transform/{n}_{place}:\n    log_statements:\n      - context: log\n        statements:\n"
        f'          - set(attributes["{words.randrange(10**9)}"], "b") where body == "{words.randrange(10**9)}"\n'
        f'          - delete_key(attributes, "{words.randrange(10**9)}")\n'
        for place in range(95)
    )
    return f"receivers:\n  otlp:\nprocessors:\n  batch:\n{processors}exporters:\n  debug:\nservice:\n  pipelines:\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--configurations", type=int, default=500)
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for _ in aws_for(patch, Path(folder)):
            principal = Principal("user", new_id("usr"), "ada@example.com")
            caller = Caller(new_id("org"), "Acme", principal, "ada@example.com", "admin", "read_write", "c")
            for n in range(asked.configurations):
                service.create(caller, f"Configuration {n}", text_of(n), "otelcol-contrib", None)
            compare(caller, asked.times)


def compare(caller: Caller, times: int) -> None:
    calls: list[int] = []

    def answered(http_response: Any, **_: object) -> None:
        calls.append(int(http_response.headers.get("content-length", 0)))

    aws.dynamodb().meta.events.register("after-call.dynamodb", answered)

    def everything(wanted: ConfigurationFilter) -> Callable[[], object]:
        return lambda: search.find(caller, wanted, 100, None)

    questions: dict[str, Callable[[], object]] = {
        "list of 100 (baseline)": everything(ConfigurationFilter()),
        "a name that nobody has": everything(ConfigurationFilter(name="nowhere")),
        "a text that is nowhere": everything(ConfigurationFilter(text="is in none of them")),
        "a component that none has": everything(ConfigurationFilter(component="tail_sampling")),
        "a component that all have": everything(ConfigurationFilter(component="batch")),
        "the page's 50, with validity": lambda: listing.described(caller, service.visible(caller, 50, None).entries),
    }
    baseline = 0.0
    for name, ask in questions.items():
        spent = []
        for _ in range(times):
            calls.clear()
            begun = time.perf_counter()
            ask()
            spent.append(time.perf_counter() - begun)
        seconds = statistics.median(spent)
        baseline = baseline or seconds
        print(
            f"{name:30} {seconds * 1e3:7.0f} ms  {seconds / baseline:5.1f} x baseline  "
            f"{len(calls):3} calls, {sum(calls) / 1e6:.1f} MB"
        )


if __name__ == "__main__":
    main()

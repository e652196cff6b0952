"""What a pause in typing costs: requests, invocations of the checker, table calls and milliseconds.

python -m tests.benchmarks.bench_check [--rounds 15] [--processor] [--longest 5254]

Texts of transform processors (two statements each), and the gallery's. The base is what cannot be left out: the
collector's own dry run in its process, and one request that only identifies (GET /identity). `verdict` is
POST /validate, `whole` the same with lint, policies and pipelines, and `apart` what whole was: the four asked one after
the other. Times are medians in milliseconds and ratios are to the base, all in turns; then again beside a process that
is always busy. With `--processor` they are processor time, of this process and the collector's, for a machine that
does other work.
"""

import argparse
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest

from headgate.checker import Checker
from headgate.observability.log import logger
from headgate.storage import aws
from headgate_engine.validation import together
from tests.support.aws import aws_for
from tests.support.world import PUBLIC, World, founded, service

LINES: Final = (25, 109, 1_054, 5_254)
FLOWS: Final = Path(__file__).parents[2] / "flows"
WHOLE: Final = f"{PUBLIC}/validate?lint=true&policies=true&graph=true"


@dataclass
class Asked:
    """The questions to the check process, with the milliseconds of the dry runs among them, and the table calls."""

    operations: Counter[str] = field(default_factory=Counter)
    table_calls: int = 0
    milliseconds: float = 0

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        def called(**_: object) -> None:
            self.table_calls += 1

        aws.dynamodb().meta.events.register("before-call.dynamodb", called)
        call = Checker.call

        def counted(checker: Checker, op: str, fields: Any, **options: Any) -> dict[str, object]:
            self.operations[op] += 1
            answer = call(checker, op, fields, **options)
            if op == "dry_run":
                self.milliseconds = float(str(answer["milliseconds"]))
            return answer

        patch.setattr(Checker, "call", counted)


@dataclass
class Desk:
    """A world with its service in this process, and what it asks of others under watch."""

    world: World
    asked: Asked
    clock: Callable[[], float] = time.perf_counter

    def identify(self) -> float:
        return self._timed(lambda: self.world.call(self.world.admin, "GET", f"{PUBLIC}/identity", 200))

    def dry_run(self, text: str) -> float:
        from headgate import checker
        from headgate.checker import Asker

        asker = Asker(self.world.organization_id, "bench")
        question = {"yaml": text, "env": {}}
        spent = self._timed(lambda: checker.of_this_process().call("dry_run", question, asker=asker, timeout=60))
        return spent if self.clock is processor_seconds else self.asked.milliseconds

    def check(self, path: str, text: str) -> float:
        return self._timed(lambda: self.world.call(self.world.admin, "POST", path, 200, {"yaml": text}))

    def apart(self, text: str) -> float:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(together, "asked", lambda _, __, ___, *, asker: (asker, {}))
            return self.check(WHOLE, text)

    def counts(self, way: Callable[[], object]) -> str:
        """Requests, invocations and table calls."""
        self.asked.operations.clear()
        self.asked.table_calls = 0
        way()
        return f"1 / {self.asked.operations.total()} / {self.asked.table_calls}"

    def _timed(self, send: Callable[[], object]) -> float:
        began = self.clock()
        send()
        return (self.clock() - began) * 1000


def processor_seconds() -> float:
    """Of this process and the check processes of the collectors."""
    from headgate import checker

    tasks = [Path(f"/proc/{pid}/task") for pid in checker.of_this_process().pids()]
    threads = [thread / "schedstat" for folder in tasks if folder.exists() for thread in folder.iterdir()]
    return time.process_time() + sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--processor", action="store_true")
    arguments.add_argument("--longest", type=int, default=LINES[-1])
    options = arguments.parse_args()
    rounds = options.rounds
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for described in aws_for(patch, Path(folder), documented=False):
            with service(described) as http:
                logger.setLevel("ERROR")
                desk = Desk(
                    founded(http, "Bench"), Asked(), processor_seconds if options.processor else time.perf_counter
                )
                desk.asked.watch(patch)
                texts = {f"{lines} lines": [transforms(lines)] for lines in LINES if lines <= options.longest}
                texts["gallery"] = [file.read_text() for file in sorted(FLOWS.glob("*/collector.yaml"))]
                for beside in ("nothing else", "a busy process")[: 1 if options.processor else 2]:
                    print(f"\nbeside {beside} (milliseconds; requests / invocations / table calls)")
                    with busy(beside != "nothing else"):
                        table(desk, texts, rounds)


def table(desk: Desk, texts: dict[str, list[str]], rounds: int) -> None:
    print(f"{'':<12} {'identity':>8} {'dry run':>8} {'verdict':>17} {'whole':>17} {'apart':>17}   counts of the three")
    for name, group in texts.items():
        spent: dict[str, list[float]] = {way: [] for way in ("identity", "dry", "verdict", "whole", "apart")}
        for turn in range(max(rounds, len(group))):
            text = group[turn % len(group)]
            # In turns, so that what else the machine does meets all alike.
            spent["identity"].append(desk.identify())
            spent["dry"].append(desk.dry_run(text))
            spent["verdict"].append(desk.check(f"{PUBLIC}/validate", text))
            spent["whole"].append(desk.check(WHOLE, text))
            spent["apart"].append(desk.apart(text))
        identity, dry, *ways = (median(one) for one in spent.values())
        shown = "".join(f" {way:>9.1f} {way / (identity + dry):>6.2f}x" for way in ways)
        text = group[0]
        counts = (
            desk.counts(lambda text=text: desk.check(f"{PUBLIC}/validate", text)),
            desk.counts(lambda text=text: desk.check(WHOLE, text)),
            desk.counts(lambda text=text: desk.apart(text)),
        )
        print(f"{name:<12} {identity:>8.1f} {dry:>8.1f}{shown}   {', '.join(counts)}", flush=True)


@contextmanager
def busy(wanted: bool) -> Iterator[None]:
    process = multiprocessing.get_context("spawn").Process(target=spin, daemon=True)
    if wanted:
        process.start()
    try:
        yield
    finally:
        if wanted:
            process.kill()
            process.join()


def spin() -> None:
    while True:
        pass


def transforms(lines: int) -> str:
    count = max(1, (lines - 14) // 4)
    both = """['set(attributes["a{n}"], "b")', 'set(attributes["c{n}"], body)']"""
    statement = f"      - context: log\n        statements: {both}\n"
    processors = "".join(
        f"  transform/{n}:\n    log_statements:\n{statement.replace('{n}', str(n))}" for n in range(count)
    )
    names = ", ".join(f"transform/{n}" for n in range(count))
    return (
        f"receivers:\n  otlp:\n    protocols:\n      grpc:\nexporters:\n  debug:\nprocessors:\n{processors}service:\n"
        f"  pipelines:\n    logs:\n      receivers: [otlp]\n      processors: [{names}]\n      exporters: [debug]\n"
    )


if __name__ == "__main__":
    main()

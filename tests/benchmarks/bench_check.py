"""What a pause in typing costs: one question with lint, policies and pipelines, against four questions and the verdict.

python -m tests.benchmarks.bench_check [--rounds 9]

The text has transform processors of two statements each. Times are medians in milliseconds; a ratio
is to the verdict alone.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import closing, suppress
from statistics import median
from typing import Final

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import Refused
from tests.support import local_cases

LINES: Final = (25, 109, 1_054, 5_254)
POLICIES: Final[dict[str, object]] = {"rules": [], "not_suppressible": [], "today": "2026-11-22"}
ALL: Final = {"parts": ["lint", "policies", "graph"]}


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=9)
    rounds = arguments.parse_args().rounds
    print(f"{'lines':>6} {'verdict':>9} {'four':>9} {'ratio':>7} {'one':>9} {'ratio':>7}   (median ms)")
    with closing(local_cases.checker()) as collectors:
        asker = Asker("bench", "bench", collectors)
        for lines in LINES:
            text = configuration(lines)
            env: dict[str, object] = {"yaml": text, "env": {}}
            four = (("validate", env), ("lint", {"yaml": text}), ("policies", env | POLICIES), ("graph", env))
            ways: dict[str, Callable[[], None]] = {
                "verdict": lambda env=env: ask(asker, "validate", env),
                "four": lambda four=four: [ask(asker, *one) for one in four] and None,
                "one": lambda env=env: ask(asker, "check", env | POLICIES | ALL),
            }
            spent: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(rounds):  # in turns, so that what else the machine does meets all alike
                for name, way in ways.items():
                    began = time.perf_counter()
                    way()
                    spent[name].append((time.perf_counter() - began) * 1000)
            verdict, several, single = (median(spent[name]) for name in ("verdict", "four", "one"))
            print(
                f"{len(text.splitlines()):>6} {verdict:>9.1f} {several:>9.1f} {several / verdict:>6.2f}x "
                f"{single:>9.1f} {single / verdict:>6.2f}x",
                flush=True,
            )


def ask(asker: Asker, op: str, fields: dict[str, object]) -> None:
    with suppress(Refused):
        asker.ask(op, fields)


def configuration(lines: int) -> str:
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

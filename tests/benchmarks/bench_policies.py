"""Policies against the verdict on the same texts, in one check process: processor time as a ratio, and its memory.

python -m tests.benchmarks.bench_policies [--requests 100]
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support.askers import ASKER

HUNDRED_LINES: Final = Path(__file__).with_name("hundred_lines.yaml")
RULES: Final = [
    {
        "name": f"rule-{n}",
        "expression": f'components.filter(c, c.kind == "exporter" && c.used && c.id != "x{n}" && '
        "c.settings.?sending_queue.?queue_size.orValue(1000) > 100000).map(c, c.path)",
        "message": "m",
        "severity": "error",
    }
    for n in range(20)
]


def thousand_lines(text: str) -> str:
    """The text, with attributes and exporters added to some thousand lines."""
    attributes = "".join(f"      - key: team.{n}\n        value: v{n}\n        action: upsert\n" for n in range(320))
    return text.replace("processors:\n", f"processors:\n  resource/long:\n    attributes:\n{attributes}", 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=100)
    requests = parser.parse_args().requests
    checker = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, Limits(processes=1))
    try:
        short = HUNDRED_LINES.read_text()
        for name, text in {"100 lines": short, "1,000 lines": thousand_lines(short)}.items():
            compare(checker, name, text, requests)
        print(f"memory of the process afterwards: {resident(checker) >> 20} MB")
    finally:
        checker.close()


def compare(checker: Checker, name: str, text: str, requests: int) -> None:
    def ask(operation: str, **fields: object) -> Callable[[], dict[str, Any]]:
        return lambda: checker.call(operation, {"yaml": text, "env": {}, **fields}, asker=ASKER)

    today = {"today": "2026-11-22"}
    asks = {
        "validate": ask("validate"),
        "policies": ask("policies", **today),
        "with 20 rules": ask("policies", rules=RULES, **today),
    }
    asks["with 20 rules"]()  # compiles them
    spent: dict[str, list[float]] = {operation: [] for operation in asks}
    for _ in range(requests):
        for operation, one in asks.items():  # in turn, so that all meet the same machine
            before = processor_seconds(checker)
            one()
            spent[operation].append(processor_seconds(checker) - before)
    base = sum(spent["validate"])
    for operation, seconds in spent.items():
        each = sum(seconds) / requests * 1000
        print(f"{name}: {operation}: {each:.1f} ms of processor, {sum(seconds) / base:.2f} of validate")


def processor_seconds(checker: Checker) -> float:
    ticks = 0
    for pid in checker.pids():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident(checker: Checker) -> int:
    pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in checker.pids()]
    return int(median(pages)) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()

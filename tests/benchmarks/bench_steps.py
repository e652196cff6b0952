"""What a trace costs: processor time of a collector with a trace against one without, in the same run.

python -m tests.benchmarks.bench_steps [--rounds 5]
"""

import argparse
import json
import os
import resource
from dataclasses import dataclass
from statistics import median

from headgate.settings import settings
from headgate_cli.checks.local import LocalChecks
from headgate_cli.local_testing.cases import Case, Cases, Result
from headgate_local.options import read_options

LINES = 10_000
STATEMENTS = [
    'set(attributes["length"], Len(body))',
    'set(attributes["kind"], "odd") where IsMatch(body, "[13579] ")',
    'replace_pattern(body, "number", "line")',
    'set(resource.attributes["seen"], true)',
    'delete_key(attributes, "kind") where attributes["length"] > 1000',
]
PROCESSORS: dict[str, object] = {
    "transform": {"log_statements": [{"context": "log", "statements": STATEMENTS}]},
    "filter": {"logs": {"log_record": ['IsMatch(body, "7 of")', "severity_number > 20"]}},
    "resource": {"attributes": [{"key": "x", "value": "y", "action": "upsert"}]},
}


@dataclass(frozen=True)
class Cost:
    processor: float
    result: Result


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=5)
    rounds = arguments.parse_args().rounds
    binary = read_options(os.environ).collectors / settings().collector_version / "otelcol-contrib"
    print(
        f"{LINES} lines, median of {rounds}: seconds of processor, without a trace, with it, ratio; bytes of the answer"
    )
    with LocalChecks(str(binary)) as checks:
        runs = Cases(checks)
        for name in PROCESSORS:
            plain = median(cost(runs, name, trace=False).processor for _ in range(rounds))
            with_trace = [cost(runs, name, trace=True) for _ in range(rounds)]
            traced = median(one.processor for one in with_trace)
            answer = len(json.dumps(with_trace[0].result.trace))
            print(f"{name:<12} {plain:>6.2f} {traced:>6.2f} {traced / plain:>6.2f}x {answer:>10,}")


def cost(runs: Cases, name: str, *, trace: bool) -> Cost:
    """What one run costs, without making a document of its trace."""
    case = Case(
        name,
        configuration(name),
        "\n".join(f"number {n} of a sample with some text in it" for n in range(LINES)),
        {"target_pipeline": "logs", "signal_type": "logs", "duration_seconds": 10},
        trace=trace,
    )
    before = used()
    (result,) = runs.run([case])
    if result.status != "ran":
        raise RuntimeError(result.stderr)
    return Cost(used() - before, result)


def used() -> float:
    """Processor time of the collectors that have ended, in seconds."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def configuration(name: str) -> str:
    return json.dumps(
        {
            "receivers": {"otlp": {"protocols": {"grpc": {}}}},
            "processors": {name: PROCESSORS[name]},
            "exporters": {"debug": {}},
            "service": {"pipelines": {"logs": {"receivers": ["otlp"], "processors": [name], "exporters": ["debug"]}}},
        }
    )


if __name__ == "__main__":
    main()

"""What a trace costs: processor time of a collector with a trace against one without, in the same run.

python -m tests.benchmarks.bench_steps [--rounds 5]
"""

import argparse
import json
import resource
from contextlib import closing
from dataclasses import dataclass, replace
from statistics import median

from headgate_engine.checker.supervisor import Checker
from tests.support import local_cases
from tests.support.local_cases import Ran

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
    ran: Ran


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=5)
    rounds = arguments.parse_args().rounds
    print(
        f"{LINES} lines, median of {rounds}: seconds of processor, without a trace, with it, ratio; bytes of the answer"
    )
    with closing(local_cases.checker()) as collectors:
        for name in PROCESSORS:
            plain = median(cost(collectors, name, trace=False).processor for _ in range(rounds))
            with_trace = [cost(collectors, name, trace=True) for _ in range(rounds)]
            traced = median(one.processor for one in with_trace)
            answer = len(with_trace[0].ran.trace.model_dump_json()) if with_trace[0].ran.trace else 0
            print(f"{name:<12} {plain:>6.2f} {traced:>6.2f} {traced / plain:>6.2f}x {answer:>10,}")


def cost(collectors: Checker, name: str, *, trace: bool) -> Cost:
    """What one run costs, without making a document of its trace."""
    sample = "\n".join(f"number {n} of a sample with some text in it" for n in range(LINES))
    case = replace(local_cases.a_case(name, configuration(name), sample, "logs", 10), trace=trace)
    before = used()
    (ran,) = local_cases.run(collectors, [case])
    if ran.result.status != "ran":
        raise RuntimeError(ran.result.stderr)
    return Cost(used() - before, ran)


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

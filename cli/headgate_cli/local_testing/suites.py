"""A suite without a server: the answer of the API, made with a collector of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from headgate_cli.api import Entity, entities, optional
from headgate_cli.local_collector import LocalCollector
from headgate_cli.local_testing import outputs, refusals, runs
from headgate_cli.local_testing.cases import Cases, Result
from headgate_cli.local_testing.outputs import Incomparable, Ran

_MOST_TESTS: Final = 50
# As the service tells it, of all tests together, in bytes.
_DIFFERENCES: Final = 2 << 20
_LEFT: Final = "left: "


def suite(cases: Cases, body: Mapping[str, object]) -> Entity:
    """The result of a suite, with the fields of the API's.

    Raises ServerError as the API refuses such a request, NoSandbox, CollectorFailed, NoCollector.
    """
    tests = entities(body, "tests")
    if not tests or len(tests) > _MOST_TESTS:
        raise refusals.of_field(["tests"], f"A suite has 1 to {_MOST_TESTS} tests")
    for place, test in enumerate(tests):
        refusals.require_rules(test.get("rules") or [], ("tests", place, "rules"), least=0)
    shared = {name: body[name] for name in ("yaml", "collector_version") if body.get(name)}
    asked = [
        runs.case_of({"signal_type": signal_of(test), **test, **shared}, optional(test, "name"), may_end_early=True)
        for test in tests
    ]
    ran = Ran.now()
    results = cases.run(asked)
    told = _DIFFERENCES // len(tests)
    collector = cases.collector(optional(body, "collector_version"))
    concluded = [
        _outcome(collector, test, result, ran, told, with_output=body.get("output") is True)
        for test, result in zip(tests, results, strict=True)
    ]
    return {
        "passed": all(test["status"] == "Success" for test in concluded),
        "collector_version": collector.version,
        "tests": concluded,
    }


def seconds(result: Result) -> float:
    """How long the collector ran, as the service rounds it."""
    began, ended = (optional(result.outcome, name) for name in ("started_at", "finished_at"))
    if not began or not ended:
        return 0.0
    return round((datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds(), 1)


def _outcome(
    collector: LocalCollector, test: Entity, result: Result, ran: Ran, told: int, *, with_output: bool
) -> Entity:
    rules = runs.rule_results(result, api_owned=False)
    outcome: dict[str, object] = {
        "name": result.case.id,
        "status": "Error",
        "reason": result.reason,
        "field": result.wrong or None,
        "line": result.line or None,
        "validation_results": rules,
        "records": runs.records(result),
        "differences": None,
        "output": result.output if with_output and result.status == "ran" else None,
        "output_left_out": False,
        "stderr": result.stderr,
        "cut": False,
        "seconds": seconds(result),
    }
    if result.status != "ran":
        return outcome
    equal = True
    if test.get("expected") is not None:
        try:
            found = outputs.compare(
                collector,
                optional(test, "expected"),
                result.output,
                ignore=test.get("ignore"),
                left_ran=None,
                right_ran=ran,
                max_bytes=told,
            )
        except Incomparable as error:
            reason = _about(error)
            field = "ignore" if error.code == "bad_path" else "expected"
            return {**outcome, "reason": reason, "field": field, "stderr": f"headgate: {reason}\n{result.stderr}"}
        outcome["differences"], equal = found, found["equal"] is True
    passed = equal and all(rule["passed"] for rule in rules)
    return {**outcome, "status": "Success" if passed else "Fail"}


def _about(error: Incomparable) -> str:
    """Why the output cannot be compared, with the test's own names of fields."""
    if error.message.startswith(_LEFT):
        return f"expected: {error.message.removeprefix(_LEFT)}"
    return error.message if error.code == "bad_path" else f"expected: {error.message}"


def signal_of(test: Entity) -> str:
    """The pipeline's own, if the test does not say it."""
    return optional(test, "signal_type") or optional(test, "target_pipeline").partition("/")[0]

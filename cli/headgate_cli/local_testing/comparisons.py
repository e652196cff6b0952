"""A comparison without a server: the answer of the API, made with collectors of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from headgate_cli.api import Entity, ServerError, entities, number, optional
from headgate_cli.local_collector import Refused
from headgate_cli.local_testing import outputs, refusals, runs
from headgate_cli.local_testing.cases import Cases, Result
from headgate_cli.local_testing.outputs import Incomparable, Ran
from headgate_cli.local_testing.suites import seconds, signal_of

_SIDES: Final = ("left", "right")
# As the service tells it, of all tests together, in bytes, and of each at least.
_FIELDS_BYTES: Final = 2 << 20
_LEAST_BYTES: Final = 20_000
_LONGEST_STDERR: Final = 8_000
_COUNTS: Final = ("left", "right", "same", "changed", "added", "missing")
_OF_A_TEST: Final = (
    *("target_pipeline", "sample", "sample_format", "sample_name", "duration_seconds", "feature_gates"),
    *("skip", "attributes", "env", "output_pipelines"),
)


def comparison(cases: Cases, body: Mapping[str, object]) -> Entity:
    """The result of a comparison, with the fields of the API's.

    Raises ServerError as the API refuses such a request, NoSandbox, CollectorFailed, NoCollector.
    """
    sides = {name: _side(body, name) for name in _SIDES}
    tests = entities(body, "tests")
    if not tests:
        raise refusals.of_field(["tests"], "A comparison without a server needs tests", code="no_tests")
    collectors = {name: cases.collector(optional(side, "collector_version")) for name, side in sides.items()}
    ignore = body.get("ignore")
    if ignore is not None:
        _require_paths(cases, ignore)
    asked = [
        runs.case_of(_case(sides[name], test), f"{name}/{test['name']}", may_end_early=True, judged=False)
        for test in tests
        for name in _SIDES
    ]
    ran = Ran.now()
    by_id = {result.case.id: result for result in cases.run(asked)}
    most = max(_FIELDS_BYTES // len(tests), _LEAST_BYTES)
    compared = [
        _compared(
            cases,
            test,
            (by_id[f"left/{test['name']}"], by_id[f"right/{test['name']}"]),
            ran,
            test.get("ignore") if ignore is None else ignore,
            most,
        )
        for test in tests
    ]
    versions = {name: collector.version for name, collector in collectors.items()}
    return {
        "equal": all(test["status"] == "equal" for test in compared),
        "compared": all(test["status"] != "not_compared" for test in compared),
        **{
            name: {"collector_version": version, "configuration_id": None, "version_number": None}
            for name, version in versions.items()
        },
        "signals": _signals(compared),
        "tests": compared,
        "starts": _starts(cases, sides, by_id) if len(set(versions.values())) > 1 else None,
    }


def _side(body: Mapping[str, object], name: str) -> Entity:
    side = body.get(name)
    if not isinstance(side, dict) or not side.get("yaml"):
        raise ServerError(404, "not_found", "a stored version is on a server: leave out --local", [])
    return side


def _case(side: Entity, test: Entity) -> Entity:
    fields = {name: test[name] for name in _OF_A_TEST if test.get(name)}
    return {**fields, **side, "signal_type": signal_of(test)}


def _require_paths(cases: Cases, ignore: object) -> None:
    try:
        outputs.compare(
            cases.collector(""), "", "", ignore=ignore, left_ran=None, right_ran=Ran.now(), max_bytes=_LEAST_BYTES
        )
    except Incomparable as refused:
        raise refusals.of_field(["ignore"], refused.message, code="bad_path") from refused


def _compared(
    cases: Cases, test: Entity, pair: tuple[Result, Result], ran: Ran, ignore: object, most: int
) -> dict[str, object]:
    left, right = pair
    lacking = _lacks_pipeline(left, right)
    reason = "" if lacking else _why_not(left, right)
    differences: Entity | None = None
    if not reason:
        try:
            # The default collector compares, as in the service.
            differences = outputs.compare(
                cases.collector(""),
                left.output,
                right.output,
                ignore=ignore,
                left_ran=ran,
                right_ran=ran,
                max_bytes=most,
            )
        except Incomparable as refused:
            reason = refused.message
    status = "not_compared"
    if differences is not None:
        status = "equal" if differences["equal"] and not lacking else "differs"
        reason = lacking
    return {
        "name": test["name"],
        "target_pipeline": test["target_pipeline"],
        "signal_type": signal_of(test),
        "status": status,
        "reason": reason,
        "left": _outcome(left),
        "right": _outcome(right),
        "differences": differences,
    }


def _lacks_pipeline(left: Result, right: Result) -> str:
    """Why only one side has the pipeline, if that is so."""
    for name, side, other in (("left", left, right), ("right", right, left)):
        if side.status == "refused" and side.wrong == "target_pipeline" and other.status == "ran":
            return f"{name}: {side.reason}"
    return ""


def _why_not(left: Result, right: Result) -> str:
    """Why there is nothing to compare; empty if there is."""
    if left.status != "ran" and right.status != "ran" and left.reason == right.reason:
        return left.reason
    told = [f"{name}: {side.reason}" for name, side in (("left", left), ("right", right)) if side.status != "ran"]
    return "; ".join(told)


def _outcome(result: Result) -> Entity:
    return {
        "status": result.status,
        "reason": result.reason,
        "line": result.line or None,
        "records_in": result.records_in,
        "stderr": result.stderr[:_LONGEST_STDERR],
        "seconds": seconds(result),
    }


def _signals(compared: Sequence[Entity]) -> dict[str, dict[str, int]]:
    totals: dict[str, dict[str, int]] = {}
    for test in compared:
        differences = test["differences"]
        signals = differences.get("signals") if isinstance(differences, dict) else {}
        for signal, counts in signals.items() if isinstance(signals, dict) else ():
            total = totals.setdefault(signal, dict.fromkeys(_COUNTS, 0))
            for name in _COUNTS:
                total[name] += number(counts, name)
    return totals


def _starts(cases: Cases, sides: Mapping[str, Entity], by_id: Mapping[str, Result]) -> Entity:
    """What only one of two collector versions logs while it starts."""
    request = {
        name: {
            "logs": [one.log for id_, one in by_id.items() if id_.startswith(f"{name}/") and one.log],
            "built": _built(cases, side),
        }
        for name, side in sides.items()
    }
    answer = cases.collector("").ask("compare_starts", request)
    return {name: answer.get(name) for name in ("left", "right", "same", "left_out")}


def _built(cases: Cases, side: Entity) -> list[Entity]:
    """What the components of the whole configuration log while they are built; a test replaces some of them."""
    collector = cases.collector(optional(side, "collector_version"))
    try:
        answer = collector.ask("inspect", {"yaml": side["yaml"], "env": {}})
    except Refused:
        return []
    return [
        {"level": line.get("level"), "component": component.get("component_path"), "message": line.get("message")}
        for component in entities(answer, "components")
        for line in entities(component, "logs")
    ]

"""A test run without a server: the answer of the API, made with a collector of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from headgate_cli.api import Entity, ServerError, entities, optional
from headgate_cli.local_testing import refusals
from headgate_cli.local_testing.cases import Case, Cases, Result

ID: Final = "local"
MAX_SAMPLE_BYTES: Final = 1_048_576
_QUESTION: Final = (
    *("target_pipeline", "signal_type", "duration_seconds", "sample_format", "sample_name", "feature_gates"),
    *("skip", "attributes", "env", "output_pipelines"),
)
_CONTEXTS: Final = {"logs": "log", "traces": "span", "metrics": "datapoint"}
# Beside the name, in the order of the API.
_SHOWN: Final = ("context", "condition", "expect", "min", "max")


def case_of(body: Mapping[str, object], id_: str, *, may_end_early: bool, judged: bool = True) -> Case:
    """The case of a request for a run, or of a test. Raises ServerError for a sample that is too large."""
    sample = optional(body, "sample")
    if len(sample.encode()) > MAX_SAMPLE_BYTES:
        raise ServerError(413, "too_large", "The sample is over 1 MB (1,048,576 bytes)", [])
    signal = optional(body, "signal_type")
    return Case(
        id=id_,
        yaml=optional(body, "yaml"),
        sample=sample,
        question={"duration_seconds": 5} | {name: body[name] for name in _QUESTION if body.get(name)},
        version=optional(body, "collector_version"),
        rules=rules_of(body, signal),
        judged=judged,
        may_end_early=may_end_early,
        trace=body.get("trace") is True,
    )


def rules_of(body: Mapping[str, object], signal: str) -> list[Entity]:
    """The rules with all fields, as the service gives them to the checker."""
    return [_rule(rule, signal) for rule in entities(body, "rules")]


def run(cases: Cases, body: Mapping[str, object]) -> tuple[Entity, Result]:
    """The run, with the fields of the API's, once it has ended; and what came of it.

    Raises ServerError as the API refuses such a request, NoSandbox, CollectorFailed, NoCollector.
    """
    if body.get("rules") is not None:
        refusals.require_rules(body["rules"])
    if not optional(body, "yaml"):
        raise refusals.invalid(
            "body.yaml: This must not be empty", [{"loc": ["body", "yaml"], "message": "This must not be empty"}]
        )
    begun = now()
    (result,) = cases.run([case_of(body, "run", may_end_early=False)])
    require_runnable(result)
    return _document(body, result, begun), result


def require_runnable(result: Result, at: tuple[str | int, ...] = ()) -> None:
    """Raises ServerError for what the API refuses before anything runs; a run that is stored in Error is not that."""
    if result.status != "refused" or result.stored:
        return
    if result.wrong == "rules":
        raise _wrong_rules(result, at)
    if not result.outcome:
        code = "yaml_too_costly" if result.reason else "invalid"
        raise refusals.of_field([*at, result.wrong], result.reason, code=code)
    raise refusals.of_field([*at, result.wrong], result.reason, result.line)


def rule_results(result: Result, *, api_owned: bool = True) -> list[Entity]:
    """The results of the rules, with the fields of the API's."""
    owned = {"api_owned": True} if api_owned else {}
    return [
        {
            "name": rule["name"],
            "passed": verdict.get("passed") is True,
            **{name: rule.get(name) for name in _SHOWN},
            **{name: verdict.get(name) for name in ("matched", "total", "message")},
            **owned,
        }
        for rule, verdict in zip(result.case.rules, result.verdicts, strict=False)
    ]


def records(result: Result) -> Entity | None:
    """The records in and out, with the fields of the API's; None if the collector did not run as it should."""
    if result.records_out is None:
        return None
    return {"in": {result.case.question["signal_type"]: result.records_in}, "out": dict(result.records_out)}


def _document(body: Mapping[str, object], result: Result, begun: str) -> Entity:
    results = rule_results(result)
    passed = result.status == "ran" and all(one["passed"] for one in results)
    status = "Error" if result.status != "ran" else "Success" if passed else "Fail"
    variables = body.get("env")
    return {
        "id": ID,
        "status": status,
        "success": passed,
        "stderr": result.stderr,
        "validation_results": results,
        "records": records(result),
        "configuration_id": None,
        "version_number": None,
        "signal_type": body.get("signal_type"),
        "target_pipeline": body.get("target_pipeline"),
        "duration_seconds": result.case.question["duration_seconds"],
        "collector_version": result.version,
        "sample_format": body.get("sample_format"),
        "sample_name": body.get("sample_name"),
        "feature_gates": body.get("feature_gates") or [],
        "trace": result.case.trace,
        "skip": body.get("skip") or [],
        "attributes": body.get("attributes") or {},
        "env_names": sorted(variables) if isinstance(variables, dict) else [],
        "output_pipelines": body.get("output_pipelines") or [],
        "created_at": begun,
        "started_at": result.outcome.get("started_at") or None,
        "finished_at": now(),
    }


def _rule(rule: Entity, signal: str) -> Entity:
    defaults = {"context": _CONTEXTS.get(signal), "expect": "any", "min": None, "max": None}
    given = {name: value for name, value in rule.items() if value is not None}
    return {**defaults, **given, "name": optional(rule, "name").strip()}


def _wrong_rules(result: Result, at: tuple[str | int, ...]) -> ServerError:
    errors: list[Entity] = []
    for refusal in entities(result.outcome, "refusals"):
        index = refusal.get("index")
        place = index if isinstance(index, int) else 0
        message = f"rule '{result.case.rules[place]['name']}': {refusal.get('message')}"
        errors.append({"loc": ["body", *at, "rules", place, str(refusal.get("field"))], "message": message})
    return refusals.invalid(str(errors[0]["message"]), errors)


def now() -> str:
    """RFC 3339, UTC, milliseconds, as the API has times."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

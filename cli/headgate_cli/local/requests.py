"""The engine's answers to requests that need no server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

from pydantic import BaseModel, JsonValue
from pydantic_core import to_json

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.supervisor import Checker
from headgate_engine.collectors import service as collectors
from headgate_engine.policies.model import PolicyChoices
from headgate_engine.reference import documents
from headgate_engine.testing import cases, comparison, coverage, notes, sandbox, suite
from headgate_engine.testing.model import Case, CaseResult
from headgate_engine.testing.outcome import NEVER_EXECUTED, Left
from headgate_engine.testing.samples import require_small
from headgate_engine.testing.trace import ENDED_BEFORE, RecordedTrace, of_record, recorded
from headgate_engine.times import rfc3339
from headgate_engine.upgrades import service as upgrades
from headgate_engine.validation import checking
from headgate_engine.validation import service as validation
from headgate_engine.validation.checking import Parts
from headgate_engine.wire.checks import CheckedText, LintedText, ValidationResult
from headgate_engine.wire.runs import RecordsOut, RuleResultOut, RunOut
from headgate_engine.wire.tests import ComparisonOfTexts, CoverageOfText, RunOfText, SuiteOfText
from headgate_engine.wire.upgrades import CheckTextUpgrade

_ID: Final = "local"
_RUNS: Final = "/testing/runs"
_STEPS: Final = f"{_RUNS}/{_ID}/steps"
# Not a path of the API: all steps with their records.
_RECORDED: Final = f"{_STEPS}#recorded"


@dataclass(frozen=True, slots=True)
class LocalRequest:
    """A request. `stored` has the answers to later ones by their paths."""

    parameters: Mapping[str, str]
    body: Mapping[str, object]
    asker: Asker
    stored: MutableMapping[str, bytes]


def answer(method: str, path: str, asked: LocalRequest) -> bytes | None:
    """The answer; None if this needs a server. Raises what the engine raises, and ValidationError for the body."""
    if method == "GET" and path.startswith(f"{_STEPS}/"):
        return _step(asked.stored, int(path.removeprefix(f"{_STEPS}/")), asked.parameters.get("record"))
    respond = _ANSWERS.get((method, path))
    return None if respond is None else respond(asked)


def _json(model: BaseModel) -> bytes:
    return model.model_dump_json(by_alias=True).encode()


def _document(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _validate(asked: LocalRequest) -> bytes:
    parts = Parts(*(asked.parameters.get(name) == "true" for name in ("lint", "policies", "graph", "start")))
    request = CheckedText.model_validate(asked.body).request()
    checked = checking.check(request, parts, PolicyChoices(), asker=asked.asker)
    return ValidationResult.of(checked).model_dump_json(exclude_unset=True).encode()


def _lint(asked: LocalRequest) -> bytes:
    body = LintedText.model_validate(asked.body)
    return to_json(validation.lint_yaml(body.yaml, body.version, asker=asked.asker.gated(body.feature_gates)))


def _upgrade(asked: LocalRequest) -> bytes:
    body = CheckTextUpgrade.model_validate(asked.body)
    return _json(upgrades.check(body.text(), body.to, body.source, asker=asked.asker))


def _versions(asked: LocalRequest) -> bytes:
    versions = [collector.version for collector in collectors.installed(asker=asked.asker)]
    return _document({"items": [{"version": version} for version in versions], "next_cursor": None})


def _schema(asked: LocalRequest) -> bytes:
    version = asked.parameters.get("version") or asked.asker.default_version
    return documents.unpacked(documents.asked("reference", {"form": "document"}, version, asker=asked.asker))[2]


def _ottl(asked: LocalRequest) -> bytes:
    names = {name: asked.parameters[name] for name in ("component", "context") if name in asked.parameters}
    version = asked.parameters.get("version") or asked.asker.default_version
    return _document(documents.asked("ottl_reference", names, version, asker=asked.asker))


def _run(asked: LocalRequest) -> bytes:
    body = RunOfText.model_validate(asked.body)
    asker = asked.asker
    sample = body.as_sample()
    require_small(sample)
    case = Case(
        id="run",
        yaml=body.yaml,
        target_pipeline=body.target_pipeline,
        signal_type=body.signal_type,
        sample=sample,
        collector_version=body.collector_version or asker.default_version,
        duration_seconds=body.duration_seconds,
        feature_gates=tuple(body.feature_gates),
        rules=tuple(body.as_rules()),
        stand_ins=body.stand_ins,
        may_end_early=False,
        trace=body.trace,
    )
    begun = datetime.now(UTC)
    startable = cases.startable(case, asker=asker)
    if startable.refusal is not None or startable.prepared is None:
        reason = startable.refusal or ""
        result = CaseResult(case, "refused", reason, stderr=NEVER_EXECUTED + reason)
        started = None
    else:
        left = sandbox.run([(case, startable.prepared)], _binary(asked))["run"]
        started = left.outcome.started_at if left.outcome.executed else None
        ready = cases.Preparing(asker).ready(case, startable.prepared)
        if case.trace:
            ready.notes += _trace(asked, case, left)
        result = cases.Judge(asker).result(case, ready, left)
    results = [
        RuleResultOut.of(rule, verdict, api_owned=True)
        for rule, verdict in zip(case.rules, result.verdicts, strict=False)
    ]
    passed = result.status == "ran" and all(verdict.passed for verdict in results)
    run = RunOut(
        id=_ID,
        status="Error" if result.status != "ran" else "Success" if passed else "Fail",
        success=passed,
        stderr=result.stderr,
        component_errors=result.component_errors,
        notes=result.notes,
        validation_results=results,
        records=RecordsOut.of(case.signal_type, result.records_in, result.records_out),
        configuration_id=None,
        version_number=None,
        signal_type=case.signal_type,
        target_pipeline=case.target_pipeline,
        duration_seconds=case.duration_seconds,
        collector_version=case.collector_version,
        sample_format=body.sample_format,
        sample_name=body.sample_name,
        feature_gates=body.feature_gates,
        trace=case.trace,
        **body.recorded(),
        env_names=sorted(body.env),
        created_at=begun,
        started_at=started,
        finished_at=datetime.now(UTC),
    )
    path = f"{_RUNS}/{_ID}"
    asked.stored[path] = _json(run)
    asked.stored[f"{path}/output"] = result.output.encode()
    asked.stored[f"{path}/stderr"] = result.log.encode()
    if case.trace and _STEPS not in asked.stored:
        _store_trace(asked, RecordedTrace.unavailable(ENDED_BEFORE))
    return asked.stored[path]


def _trace(asked: LocalRequest, case: Case, left: Left) -> str:
    """Store the steps of a run. Returns the note about it, empty if there are some, or could be none."""
    if not left.outcome.executed:
        return ""
    trace = recorded(left.steps, case.yaml, asker=asked.asker, version=case.collector_version)
    _store_trace(asked, trace)
    return "" if trace.available else notes.note(f"this run has no steps: {trace.reason}")


def _store_trace(asked: LocalRequest, trace: RecordedTrace) -> None:
    asked.stored[_RECORDED] = _json(trace)
    asked.stored[_STEPS] = trace.model_dump_json(exclude={"items": {"__all__": {"records"}}}).encode()


def _step(stored: Mapping[str, bytes], n: int, record: str | None) -> bytes | None:
    """A step with its records: all, or those of one record of the sample. None if there is no such step."""
    trace = json.loads(stored.get(_RECORDED, b'{"items": []}'))
    step = next((step for step in trace["items"] if step["n"] == n), None)
    if step is None:
        return None
    entries = [entry for _, entry in of_record(step["records"], None if record is None else int(record), 0)]
    return _document({**step, "records": entries, "next_cursor": None})


def _suite(asked: LocalRequest) -> bytes:
    body = SuiteOfText.model_validate(asked.body)
    version = body.collector_version or asked.asker.default_version
    request = suite.request_of(body.yaml, body.named(), collector_version=version, with_output=body.output)
    result = _concluded(asked, suite, request)
    passed = isinstance(result, dict) and result.get("passed") is True
    return _job(asked, "/testing/suites", result, "Success" if passed else "Fail")


def _coverage(asked: LocalRequest) -> bytes:
    body = CoverageOfText.model_validate(asked.body)
    version = body.collector_version or asked.asker.default_version
    collectors.require_installed(version, "collector_version", asker=asked.asker)
    request = coverage.request_of(body.yaml, body.named(), collector_version=version, max_mutants=body.max_mutants)
    return _job(asked, "/testing/coverage", _concluded(asked, coverage, request), "Done")


def _comparison(asked: LocalRequest) -> bytes:
    body = ComparisonOfTexts.model_validate(asked.body)
    sides = {}
    for name, text in (("left", body.left), ("right", body.right)):
        version = text.collector_version or asked.asker.default_version
        field = "collector_version" if text.collector_version else "version_number"
        collectors.require_installed(version, field, asker=asked.asker, within=(name,))
        sides[name] = comparison.ComparisonSide(yaml=text.yaml, collector_version=version)
    if body.ignore is not None:
        comparison.require_paths(body.ignore, asker=asked.asker)
    tests = {test.name: test.as_test() for test in body.tests}
    request = comparison.request_of(sides["left"], sides["right"], tests, body.ignore)
    return _job(asked, "/testing/comparisons", _concluded(asked, comparison, request), "Done")


class _Kind(Protocol):
    """A kind of job, as the engine works on it."""

    def cases(self, request: JsonValue, asker: Asker) -> Sequence[Case]: ...

    def conclude(
        self, begun: datetime, request: JsonValue, results: Sequence[CaseResult], asker: Asker
    ) -> JsonValue: ...


def _concluded(asked: LocalRequest, kind: _Kind, request: JsonValue) -> JsonValue:
    begun = datetime.now(UTC)
    results = sandbox.results(kind.cases(request, asked.asker), _binary(asked), asker=asked.asker)
    return kind.conclude(begun, request, results, asked.asker)


def _job(asked: LocalRequest, path: str, result: JsonValue, status: str) -> bytes:
    """A job that has ended, as the API has it at its own path."""
    job_id = f"{_ID}-{len(asked.stored) + 1}"
    named = {"reason": "", "configuration_id": None, "version_number": None}
    times = dict.fromkeys(("created_at", "started_at", "finished_at"), rfc3339(datetime.now(UTC)))
    job = {"id": job_id, **named, **times, "status": status, "result": result}
    asked.stored[f"{path}/{job_id}"] = _document(job)
    return asked.stored[f"{path}/{job_id}"]


def _binary(asked: LocalRequest) -> Callable[[str], Path]:
    collectors_here = asked.asker.collectors
    assert isinstance(collectors_here, Checker)
    return collectors_here.collectors.binary


_ANSWERS: Final[Mapping[tuple[str, str], Callable[[LocalRequest], bytes]]] = {
    ("POST", "/validate"): _validate,
    ("POST", "/validate/upgrade-check"): _upgrade,
    ("POST", "/ottl/lint"): _lint,
    ("GET", "/collector-versions"): _versions,
    ("GET", "/components/schema.json"): _schema,
    ("GET", "/ottl/reference"): _ottl,
    ("POST", "/testing/runs"): _run,
    ("POST", "/testing/suites"): _suite,
    ("POST", "/testing/coverage"): _coverage,
    ("POST", "/testing/comparisons"): _comparison,
}

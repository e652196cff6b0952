"""The tasks of the state machine for a run, which is a job of one case that was made ready when the run was started."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, JsonValue

from headgate.foundation import clock
from headgate.runs import files, runner, service, tracing
from headgate.runs.execution import RunGone
from headgate.runs.model import CASE, RuleResult, Run
from headgate.runs.steps import Evaluation, Stage, Steps
from headgate_engine.collector import Signal
from headgate_engine.rules.engine import ComponentError, RuleVerdict, RunNote, Sample
from headgate_engine.testing.cases import Ready
from headgate_engine.testing.model import Case
from headgate_engine.testing.outcome import Left

_NO_STDERR: Final = "headgate: what the collector wrote could not be fetched\n"


class _Result(BaseModel):
    """The result of a run, stored until it is recorded."""

    executed: bool
    ran: bool
    reason: str
    verdicts: list[RuleVerdict]
    records: dict[Signal, int]
    stderr: str
    component_errors: list[ComponentError]
    notes: list[RunNote]


class RunSteps(Steps[Run]):
    life = service.RUNS

    def make_ready(self, execution: Run) -> tuple[Run, Collection[str]]:
        return execution, [execution.collector_version]

    def request(self, execution: Run) -> JsonValue:
        """The text, of which only the steps of a traced run need something."""
        return files.text(execution.id, "configuration.yaml") if execution.trace else None

    def cases(self, execution: Run, request: JsonValue) -> Sequence[Case]:
        """The case as far as it is judged."""
        return [
            Case(
                id=CASE,
                yaml=str(request or ""),
                target_pipeline=execution.target_pipeline,
                signal_type=execution.signal_type,
                sample=Sample("", execution.sample_is_otlp),
                collector_version=execution.collector_version,
                duration_seconds=execution.duration_seconds,
                rules=tuple(run_rule.rule for run_rule in execution.rules),
            )
        ]

    def conclude(
        self,
        execution: Run,
        _request: JsonValue,
        cases: Sequence[Case],
        ready: Mapping[str, Ready],
        left: Mapping[str, Left],
        /,
    ) -> None:
        (case,) = cases
        known, leaving = ready[case.id], left[case.id]
        files.put(execution.id, "output", leaving.output)
        files.put(execution.id, "stderr", leaving.stderr)
        if execution.trace and leaving.outcome.executed:
            no_steps = tracing.record(execution, case.yaml, leaving.steps)
            if no_steps:
                known = known.model_copy(update={"notes": known.notes + tracing.no_steps(no_steps)})
        result = self.judge(execution).result(case, known, leaving)
        document = _Result(
            executed=leaving.outcome.executed,
            ran=leaving.outcome.ran,
            reason=result.reason,
            verdicts=list(result.verdicts),
            records=dict(result.records_out or {}),
            stderr=result.stderr,
            component_errors=list(result.component_errors),
            notes=list(result.notes),
        )
        files.put(execution.id, "result.json", document.model_dump_json())

    def complete(self, execution: Run, evaluation: Evaluation) -> None:
        if evaluation.fault:
            noted = runner.ready(execution)[CASE].notes
            self.life.end(execution.fail(f"headgate: {evaluation.fault}\n{noted}", clock.now()))
            return
        content = files.read(execution.id, "result.json")
        if content is None:
            raise RunGone
        self.life.end(_ended(execution, _Result.model_validate_json(content)))

    def failed(self, execution: Run, stage: Stage, reason: str, /) -> Run:
        if stage == "prepare":
            return execution.refuse(reason, clock.now())
        return execution.fail(f"headgate: {reason}\n{_stderr_if_there(execution)}", clock.now())


def _ended(run: Run, result: _Result) -> Run:
    at = clock.now()
    if not result.executed:
        return run.refuse(result.reason, at)
    seen = run.says(result.component_errors, result.notes)
    if not result.ran:
        return seen.fail(result.stderr, at)
    results = tuple(
        RuleResult(rule.rule, rule.api_owned, verdict.passed, verdict.matched, verdict.total, verdict.message)
        for rule, verdict in zip(run.rules, result.verdicts, strict=True)
    )
    return seen.complete(results, result.records, result.stderr, at)


def _stderr_if_there(run: Run) -> str:
    """The stderr, of a run that may end because the bucket does not answer, or before there is any."""
    try:
        known = runner.ready(run).get(CASE)
        return (known.notes if known else "") + (files.text_if_there(run.id, "stderr") or "")
    except (BotoCoreError, ClientError):
        return _NO_STDERR

"""The tasks of the state machine: prepare, evaluate, record, and what to do when one of them fails.

Between prepare and evaluate the test runner fetches `collector.yaml` and `input` of the run and leaves `output`,
`stderr` and, last, `outcome.json`.
"""

from collections.abc import Callable
from typing import Final, Literal

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel

from headgate import clock, engine, metrics
from headgate.checker import Asker
from headgate.engine import Sample, Verdict
from headgate.runs import service, store
from headgate.runs.model import RuleResult, Run, RunRule

Stage = Literal["prepare", "collect", "evaluate", "record"]

_STAGES: Final[dict[Stage, str]] = {
    "prepare": "preparing the run failed",
    "collect": "the test runner failed",
    "evaluate": "judging the rules failed",
    "record": "recording the results failed",
}
_AGAIN: Final = "; run the test again"
_NO_STDERR: Final = "headgate: what the collector wrote could not be fetched\n"


class RunGone(Exception):
    """There is no such run, or it has ended: nothing is left to do."""


class Collection(BaseModel):
    """What the test runner needs to know, besides the files."""

    run_id: str
    prefix: str
    collector_version: str
    duration_seconds: str


class Outcome(BaseModel):
    """How the test runner says the collector ended; see `layers/collector/internal/sandbox`."""

    ran: bool
    executed: bool
    reason: str


def prepare(run_id: str) -> Collection:
    """Write the collector's configuration and input, and set the run to Running. Raises RunGone, Unavailable."""
    run = _unfinished(run_id)
    yaml, sample = store.file(run_id, "configuration.yaml"), store.file(run_id, "sample")
    if yaml is None or sample is None:
        raise RunGone
    prepared = engine.prepare(
        yaml, run.target_pipeline, run.signal_type, Sample(sample, run.sample_is_otlp), asker=_asker(run)
    )
    store.put_file(run_id, "collector.yaml", prepared.collector_yaml)
    store.put_file(run_id, "input", prepared.input)
    store.put_file(run_id, "notes", "".join(f"note: {note}\n" for note in prepared.notes))
    store.update(run.start(clock.now()))
    return Collection(
        run_id=run_id,
        prefix=store.prefix(run_id),
        collector_version=run.collector_version,
        duration_seconds=str(run.duration_seconds),
    )


def evaluate(run_id: str) -> list[Verdict]:
    """Judge the output, in the order of the rules; nothing when the collector did not run as it should.

    Raises RunGone, Unavailable.
    """
    run = _unfinished(run_id)
    if not run.rules or not _outcome(run_id).ran:
        return []
    output = store.file(run_id, "output") or ""
    return engine.evaluate(run.signals, [one.rule for one in run.rules], output, asker=_asker(run))


def record(run_id: str, verdicts: list[Verdict]) -> None:
    """End the run by what the test runner and the rules say. Raises RunGone."""
    run = _unfinished(run_id)
    outcome, at = _outcome(run_id), clock.now()
    if not outcome.executed:
        after = run.refuse(outcome.reason, at)
    elif not outcome.ran:
        after = run.fail(f"{_stderr(run_id)}headgate: {outcome.reason}\n", at)
    else:
        results = tuple(_result(one, verdict) for one, verdict in zip(run.rules, verdicts, strict=True))
        after = run.judge(results, _stderr(run_id), at)
    store.update(after)
    service.count_outcome(after)


def fail(run_id: str, stage: Stage, error: str, at_fault: str | None) -> None:
    """End the run as Error after a failure of the state machine's own. A run that has ended stays as it is.

    `error` is what the state machine calls the error, `at_fault` a sentence on it where it is one of ours.
    """
    try:
        run = _unfinished(run_id)
    except RunGone:
        return
    reason = f"{_STAGES[stage]}: {at_fault or _reason(error)}"
    if stage == "prepare":
        after = run.refuse(reason, clock.now())
    else:
        after = run.fail(f"{_stderr_if_there(run_id)}headgate: {reason}\n", clock.now())
    metrics.count("RunStepsFailed")
    store.update(after)
    service.count_outcome(after)


def settle(run_id: str) -> None:
    """End a run as Error whose execution ended without recording anything. A run that has ended stays as it is."""
    try:
        service.settle_lost(_unfinished(run_id))
    except RunGone:
        return


def _asker(run: Run) -> Asker:
    """The run stands for itself: whose credential started it may be gone by now."""
    return Asker(run.organization_id, run.id)


def _reason(error: str) -> str:
    """An error that is not ours, to a person: by what Step Functions calls it, since its own words may tell of AWS."""
    if error == "States.Timeout":
        return "it took too long" + _AGAIN
    if error.startswith("ECS."):
        return "it could not be started" + _AGAIN
    return "it ended with an error" + _AGAIN


def _unfinished(run_id: str) -> Run:
    run = store.run(run_id)
    if run is None or run.is_final:
        raise RunGone
    return run


def _outcome(run_id: str) -> Outcome:
    text = store.file(run_id, "outcome.json")
    if text is None:
        return Outcome(ran=False, executed=True, reason="the test runner left no outcome")
    return Outcome.model_validate_json(text)


def _stderr(run_id: str, file: Callable[[str, str], str | None] = store.file) -> str:
    """The notes of the preparation, then what the collector wrote; it ends with a line's end."""
    text = (file(run_id, "notes") or "") + (file(run_id, "stderr") or "")
    return text if not text or text.endswith("\n") else text + "\n"


def _stderr_if_there(run_id: str) -> str:
    """The same, for the end of a run that may be ending because the bucket does not answer, or before there is any."""
    try:
        return _stderr(run_id, store.file_if_there)
    except (BotoCoreError, ClientError):
        return _NO_STDERR


def _result(rule: RunRule, verdict: Verdict) -> RuleResult:
    return RuleResult(rule.rule, rule.api_owned, verdict.passed, verdict.matched, verdict.total, verdict.message)

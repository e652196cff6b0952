"""The tasks of the state machine: prepare, evaluate, record, and what happens if one of them fails.

Between prepare and evaluate the test runner fetches `task.json`, `collector.yaml` and `input` of the run and leaves
`output`, `stderr`, of a traced run `steps` and, last, `outcome.json`.
"""

from typing import Final, Literal

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel

from headgate.checker import Asker
from headgate.foundation import clock, metrics
from headgate.runs import runner, service, store, tracing, turns, variables
from headgate.runs.model import RuleResult, Run, RunRule, Untrusted
from headgate_engine.collector import Signal
from headgate_engine.rules import engine
from headgate_engine.rules.engine import Sample, Verdict
from headgate_engine.testing import notes
from headgate_engine.testing.outcome import Outcome

Stage = Literal["prepare", "collect", "evaluate", "record"]

_STAGES: Final[dict[Stage, str]] = {
    "prepare": "preparing the run failed",
    "collect": "the test runner failed",
    "evaluate": "evaluating the rules failed",
    "record": "recording the results failed",
}
_AGAIN: Final = "; run the test again"
_LONGEST_NOTE: Final = 500
_NO_STEPS: Final = "this run has no steps: "
_NO_STDERR: Final = "headgate: what the collector wrote could not be fetched\n"


class RunGone(Exception):
    """There is no such run, or it has ended: there is nothing to do."""


class Collection(BaseModel):
    """What the test runner gets: a signed link to its task."""

    run_id: str
    task_url: str


class Evaluation(BaseModel):
    """How the collector ended, and the results of the rules. Or `fault`, if the test runner's files cannot be right.

    `no_steps` is why a traced run has no steps, if it has none.
    """

    outcome: Outcome | None = None
    verdicts: list[Verdict] = []
    records: dict[Signal, int] = {}
    fault: str = ""
    no_steps: str = ""


def prepare(run_id: str) -> Collection:
    """Write the collector's configuration and input, and set the run to Running. Raises RunGone, Unavailable."""
    run = _unfinished(run_id)
    yaml, sample = store.file(run_id, "configuration.yaml"), store.file(run_id, "sample")
    if yaml is None or sample is None:
        raise RunGone
    env = variables.get(run_id) if run.env_names else {}
    if env is None:
        raise RunGone
    prepared = engine.prepare(
        yaml,
        run.target_pipeline,
        run.signal_type,
        Sample(sample, run.sample_is_otlp, run.sample_format, run.sample_name),
        asker=_asker(run),
        version=run.collector_version,
        duration_seconds=run.duration_seconds,
        feature_gates=run.feature_gates,
        stand_ins=run.stand_ins(env),
    )
    if env:
        variables.put_text(run_id, "collector.yaml", prepared.collector_yaml)
    else:
        store.put_file(run_id, "collector.yaml", prepared.collector_yaml)
    store.put_file(run_id, "input", prepared.input)
    noted = list(prepared.notes)
    no_steps = tracing.why_not(run) if run.trace else ""
    if no_steps:
        tracing.note_unavailable(run, no_steps)
        noted.append(_NO_STEPS + no_steps)
    store.put_file(run_id, "notes", "".join(map(notes.note, noted)))
    if prepared.nothing_out:
        store.put_file(run_id, "nothing-out", prepared.nothing_out)
    task_url = runner.give(run, trace=run.trace and not no_steps)
    try:
        store.update(run.start(prepared.records, clock.now()))
    except store.AlreadyFinal:
        # It was ended while this went on, and what has been written since is left.
        service.forget_variables(run)
        raise RunGone from None
    return Collection(run_id=run_id, task_url=task_url)


def evaluate(run_id: str) -> Evaluation:
    """Evaluate the rules on the output, and count its records, if the collector ran as it should.

    Raises RunGone, Unavailable.
    """
    run = _unfinished(run_id)
    try:
        outcome = runner.outcome(run)
        output = runner.output(run) if outcome.ran else None
        log = runner.stderr(run) if any(one.rule.context == "component_error" for one in run.rules) else ""
    except Untrusted as lie:
        return Evaluation(fault=str(lie))
    if output is None:
        return Evaluation(outcome=outcome, no_steps=_record_steps(run, outcome))
    rules = [run_rule.rule for run_rule in run.rules]
    results = engine.evaluate(run.signals, rules, output, asker=_asker(run), version=run.collector_version, log=log)
    for verdict in results.verdicts:
        # They go through the state machine, whose input is limited, and quote the conditions.
        verdict.note = verdict.note[:_LONGEST_NOTE]
    return Evaluation(
        outcome=outcome, verdicts=results.verdicts, records=results.records, no_steps=_record_steps(run, outcome)
    )


def record(run_id: str, evaluation: Evaluation) -> None:
    """End the run with what the test runner and the rules reported. Raises RunGone."""
    run = _unfinished(run_id)
    outcome, at = evaluation.outcome, clock.now()
    noted, fault, written = _notes(run_id), evaluation.fault, ""
    try:
        written = runner.stderr(run)
    except Untrusted as lie:
        fault = fault or str(lie)
    if evaluation.no_steps:
        noted += notes.note(_NO_STEPS + evaluation.no_steps)
    if outcome is None or fault:
        # Words that are not trusted, in the form in which they were left.
        after = run.fail(f"headgate: {fault}\n{noted}{written}", at)
    elif not outcome.executed:
        after = run.refuse(outcome.why, at)
    elif not outcome.ran:
        said = notes.told(outcome, written, noted, asker=_asker(run))
        after = run.says(said).fail(said.stderr, at)
    else:
        results = tuple(_result(*pair) for pair in zip(run.rules, evaluation.verdicts, strict=True))
        said = notes.told(
            outcome,
            written,
            noted,
            asker=_asker(run),
            nothing_out="" if any(evaluation.records.values()) else store.file(run.id, "nothing-out") or "",
            records=evaluation.records,
            rules=[run_rule.rule for run_rule in run.rules],
            verdicts=evaluation.verdicts,
        )
        after = run.says(said).complete(results, evaluation.records, said.stderr, at)
    service.forget_variables(run)
    store.update(after)
    service.count_outcome(after)
    turns.make_room(run.organization_id, run_id)


def fail(run_id: str, stage: Stage, error: str, at_fault: str | None) -> None:
    """End the run as Error, since a step failed. A run that has ended stays as it is.

    `error` is the state machine's name of the error. `at_fault` is a sentence about it, if the error is one of ours.
    """
    try:
        run = _unfinished(run_id)
    except RunGone:
        _make_room_after(run_id)
        return
    reason = why(stage, error, at_fault)
    if stage == "prepare":
        after = run.refuse(reason, clock.now())
    else:
        after = run.fail(f"headgate: {reason}\n{_stderr_if_there(run)}", clock.now())
    metrics.count("RunStepsFailed")
    service.forget_variables(run)
    store.update(after)
    service.count_outcome(after)
    turns.make_room(run.organization_id, run_id)


def why(stage: Stage, error: str, at_fault: str | None) -> str:
    """A sentence on a step that failed, with the arguments of `fail`."""
    return f"{_STAGES[stage]}: {at_fault or _reason(error)}"


def finish(run_id: str) -> None:
    """End a run as Error, since its execution ended without a result. A run that has ended stays as it is."""
    try:
        service.finish_lost(_unfinished(run_id))
    except RunGone:
        _make_room_after(run_id)


def _record_steps(run: Run, outcome: Outcome) -> str:
    """Why a traced run has no steps; empty if it has some, or could have none."""
    return tracing.record(run)[:_LONGEST_NOTE] if run.trace and outcome.executed else ""


def _make_room_after(run_id: str) -> None:
    """For a run that has ended: the step that ended it may have failed before it made room."""
    run = store.run(run_id)
    if run is not None:
        turns.make_room(run.organization_id, run_id)


def _asker(run: Run) -> Asker:
    """The run asks for itself, since the credential that started it may be deleted by now."""
    return Asker(run.organization_id, run.id)


def _reason(error: str) -> str:
    """A sentence about an error that is not ours. Its own message may have details of AWS, so its name decides."""
    if error == "States.Timeout":
        return "it took too long" + _AGAIN
    if error.startswith(("ECS.", "AmazonECS.")):
        return "it could not be started" + _AGAIN
    return "it ended with an error" + _AGAIN


def _unfinished(run_id: str) -> Run:
    run = store.run(run_id)
    if run is None or run.is_final:
        raise RunGone
    return run


def _notes(run_id: str) -> str:
    return store.file(run_id, "notes") or ""


def _stderr_if_there(run: Run) -> str:
    """The stderr, of a run that may end because the bucket does not answer, or before there is any."""
    try:
        noted = store.file_if_there(run.id, "notes") or ""
        return noted + runner.stderr_as_left(run.id)
    except (BotoCoreError, ClientError):
        return _NO_STDERR


def _result(rule: RunRule, verdict: Verdict) -> RuleResult:
    return RuleResult(rule.rule, rule.api_owned, verdict.passed, verdict.matched, verdict.total, verdict.message)

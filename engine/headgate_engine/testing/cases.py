"""Cases, made ready for the collector and judged after it ran. What several cases have in common is asked once."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from pydantic import BaseModel

from headgate_engine import errors
from headgate_engine.checker.asker import Asker
from headgate_engine.collector import Signal
from headgate_engine.rules import engine
from headgate_engine.rules.engine import Prepared, Results
from headgate_engine.testing import notes
from headgate_engine.testing.model import Case, CaseResult, Unworkable
from headgate_engine.testing.outcome import NEVER_EXECUTED, Left
from headgate_engine.validation.model import YAML_IN_BODY, ComponentNotInBuild

# A step of a job has 60 s, some of which the kind needs.
_JUDGING_SECONDS: Final = 40.0
_LARGEST_NOTES: Final = 64_000


class Ready(BaseModel):
    """The facts of a case before it runs. It is refused if there is a reason."""

    id: str
    reason: str = ""
    field: str = ""
    line: int | None = None
    signals: list[Signal] = []
    records: int | None = None
    notes: str = ""
    nothing_out: str = ""
    idle: bool = False


def not_installed(version: str, asker: Asker) -> str | None:
    """The reason why that collector cannot run, None if it can. Raises Unavailable."""
    if version == asker.default_version:
        return None
    installed = asker.collectors.installed(asker=asker)
    if version in installed:
        return None
    return f"collector {version} is not installed on the test runner; installed: {', '.join(installed)}"


def task_of(prepared: Iterable[tuple[Case, Prepared]]) -> dict[str, object]:
    """The cases and their inputs, as the test runner takes them."""
    inputs: dict[str, str] = {}
    cases: list[dict[str, object]] = []
    for case, ready in prepared:
        ref = sha256(ready.input.encode()).hexdigest()
        inputs[ref] = ready.input
        cases.append(
            {
                "id": case.id,
                "collector_version": case.collector_version,
                "collector_yaml": ready.collector_yaml,
                "input": ref,
                "sample_name": case.sample.name or "",
                "feature_gates": [*case.feature_gates, *ready.feature_gates],
                "duration_seconds": case.duration_seconds,
                "idle_milliseconds": ready.idle_milliseconds if case.may_end_early else 0,
                "env": case.stand_ins.env,
                **({"trace": True} if case.trace else {}),
            }
        )
    return {"cases": cases, "inputs": inputs}


@dataclass(frozen=True, slots=True)
class Startable:
    """The start of a run. `refusal` is why it is not run, though nothing is wrong with the request."""

    prepared: Prepared | None
    refusal: str | None


def startable(case: Case, *, asker: Asker, yaml_at: tuple[str, ...] = YAML_IN_BODY) -> Startable:
    """Prepare the start of a run of this case. Raises Invalid for one that cannot be run at all, and Unavailable."""
    try:
        prepared = Preparing(asker).prepared(case, yaml_at)
        engine.require_compilable(prepared.signals, case.rules, asker=asker, version=case.collector_version)
        return Startable(prepared, not_installed(case.collector_version, asker))
    except engine.Unpreparable as problem:
        raise problem.as_invalid(yaml_at) from problem
    except engine.RunRefused as refused:
        return Startable(None, refused.reason)
    except ComponentNotInBuild as lacking:
        # As if this collector were not installed: for this configuration it is not.
        return Startable(None, lacking.detail)


class Preparing:
    """Makes cases ready."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._not_installed: dict[str, str | None] = {}
        self._compiled: dict[tuple[object, ...], errors.Invalid | None] = {}

    def prepare(self, case: Case) -> tuple[Ready, Prepared | None]:
        """Ask for the facts of a case before it runs; it has no input if it is refused. Raises Unavailable."""
        version = case.collector_version
        if version not in self._not_installed:
            self._not_installed[version] = not_installed(version, self._asker)
        if absent := self._not_installed[version]:
            return Ready(id=case.id, reason=absent, field="collector_version"), None
        try:
            prepared = self.prepared(case)
        except engine.Unpreparable as problem:
            return Ready(id=case.id, reason=problem.message, field=problem.field, line=problem.line), None
        except engine.RunRefused as refused:
            return Ready(id=case.id, reason=refused.reason, field="yaml"), None
        except (errors.Invalid, ComponentNotInBuild) as refused:
            return Ready(id=case.id, reason=refused.detail, field="yaml"), None
        if mistake := self._mistake_in_rules(case, prepared):
            return Ready(id=case.id, reason=mistake.detail, field="rules"), None
        return self.ready(case, prepared), prepared

    def prepared(self, case: Case, yaml_at: tuple[str, ...] = YAML_IN_BODY) -> Prepared:
        """Prepare the collector's configuration and input. Raises what `engine.prepare` does."""
        return engine.prepare(
            case.yaml,
            case.target_pipeline,
            case.signal_type,
            case.sample,
            asker=self._asker,
            version=case.collector_version,
            duration_seconds=case.duration_seconds,
            feature_gates=case.feature_gates,
            stand_ins=case.stand_ins,
            yaml_at=yaml_at,
        )

    def ready(self, case: Case, prepared: Prepared) -> Ready:
        """The facts that `Judge` needs of a case that runs."""
        return Ready(
            id=case.id,
            signals=prepared.signals,
            records=prepared.records,
            notes="".join(map(notes.note, prepared.notes))[:_LARGEST_NOTES],
            nothing_out=prepared.nothing_out,
            idle=case.may_end_early and prepared.idle_milliseconds > 0,
        )

    def _mistake_in_rules(self, case: Case, prepared: Prepared) -> errors.Invalid | None:
        key = (case.collector_version, tuple(prepared.signals), case.rules)
        if key not in self._compiled:
            try:
                engine.require_compilable(
                    prepared.signals, case.rules, asker=self._asker, version=case.collector_version
                )
                self._compiled[key] = None
            except errors.Invalid as refused:
                self._compiled[key] = refused
        return self._compiled[key]


class Judge:
    """Evaluates the rules of cases. Cases with the same output and rules are evaluated once."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._deadline = time.monotonic() + _JUDGING_SECONDS
        self._known: dict[tuple[object, ...], Results] = {}

    def result(self, case: Case, ready: Ready, left: Left | None) -> CaseResult:
        """Evaluate a case; `left` is None if it did not run. Raises Unworkable, Unavailable."""
        signals = tuple(ready.signals)
        if left is None:
            why = NEVER_EXECUTED + ready.reason
            return CaseResult(case, "refused", ready.reason, ready.field, ready.line, stderr=why)
        outcome, written = left.outcome, left.stderr
        if written and not written.endswith("\n"):
            written += "\n"
        evaluated = self._evaluated(case, ready, left.output, written) if case.judged and outcome.ran else None
        said = notes.compose(
            outcome,
            written,
            ready.notes,
            asker=self._asker,
            nothing_out=ready.nothing_out,
            records=None if evaluated is None else evaluated.records,
            rules=case.rules,
            verdicts=() if evaluated is None else evaluated.verdicts,
        )
        return CaseResult(
            case,
            "ran" if outcome.ran else "error",
            "" if outcome.ran else outcome.why,
            signals=signals,
            records_in=ready.records,
            records_out=None if evaluated is None else evaluated.records,
            verdicts=() if evaluated is None else tuple(evaluated.verdicts),
            output=left.output,
            stderr=said.stderr,
            component_errors=tuple(said.component_errors),
            notes=tuple(said.notes),
            log=written,
            seconds=left.seconds,
        )

    def _evaluated(self, case: Case, ready: Ready, output: str, log: str) -> Results:
        if time.monotonic() > self._deadline:
            raise Unworkable("its rules take too long; give it fewer cases, or smaller samples")
        # Most rules are about the output alone, and the log has times.
        log = log if any(rule.context == "component_error" for rule in case.rules) else ""
        key = (case.collector_version, tuple(ready.signals), case.rules, output, log)
        if key not in self._known:
            self._known[key] = engine.evaluate(
                ready.signals, case.rules, output, asker=self._asker, version=case.collector_version, log=log
            )
        return self._known[key]

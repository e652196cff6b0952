"""Test runs, and what the test runner leaves of them, without a collector."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.runs import files, runner, store
from headgate.runs.model import CASE, RuleResult, Run, RunRule
from headgate_engine.rules import engine
from headgate_engine.rules.engine import RuleVerdict, Sample
from headgate_engine.rules.model import Rule
from headgate_engine.testing.cases import Ready
from headgate_engine.testing.model import Case
from run_steps.app import handler
from tests.support.members import API, Member
from tests.support.run_outcomes import outcome

RULE = Rule("some", "true", "log", "any")
_PATCHING: Final = threading.Lock()


def queued(member: Member, **changes: Any) -> Run:
    """A run of a YAML text, kept."""
    by = Principal("service_account", member.service_account_id, "ann")
    kept = run_of(**{"organization_id": member.organization_id, "created_by": by, **changes})
    store.create(kept)
    make_ready(kept)
    return kept


def make_ready(run: Run, **known: Any) -> None:
    """Store the run's case as its start does, and what is known of it."""
    ready = Ready(**{"id": CASE, "signals": ["logs"], "records": 1, **known})
    case = Case(CASE, "a: b", "logs", "logs", Sample("x", is_otlp=False), run.collector_version)
    prepared = engine.Prepared(signals=["logs"], collector_yaml="a: b", input="x", records=1, notes=[])
    runner.put_cases(run, [ready], [(case, prepared)])


def run_of(**changes: Any) -> Run:
    """A run of a YAML text, of nobody who is known."""
    run = Run(
        id=new_id("run"),
        organization_id=new_id("org"),
        created_by=Principal("service_account", new_id("sva"), "ann"),
        published=False,
        status="Queued",
        configuration_id=None,
        version_number=None,
        signal_type="logs",
        signals=("logs",),
        target_pipeline="logs",
        duration_seconds=5,
        collector_version="0.139.0",
        sample_is_otlp=False,
        sample_format=None,
        sample_name=None,
        feature_gates=(),
        trace=False,
        rules=(RunRule(RULE, api_owned=True),),
        created_at=clock.now(),
    )
    return replace(run, **changes)


def leave(
    run: Run,
    *,
    ran: bool,
    executed: bool = True,
    reason: str = "",
    cause: str = "",
    **texts: str,
) -> None:
    """What the test runner leaves: how the collector ended, and its `output`, `stderr` and `steps`."""
    ended = outcome(run.duration_seconds, ran=ran, executed=executed, reason=reason, cause=cause)
    leave_result(run.id, {"outcome": ended.model_dump(mode="json"), **texts})


def leave_result(run_id: str, result: Mapping[str, Any]) -> None:
    """Store a result of the run's only case as the test runner does."""
    files.put(run_id, "results", json.dumps({"id": CASE, **result}) + "\n")


def verdict(passed: bool) -> dict[str, Any]:
    """What came of a rule."""
    return RuleVerdict(matched=int(passed), total=1, passed=passed, message="seen").model_dump()


def end(run: Run, *verdicts: dict[str, Any], out: int = 1) -> None:
    """Judge and record what the test runner left, of which the rules say this."""
    judged = engine.Results(verdicts=[RuleVerdict(**each) for each in verdicts], records={"logs": out})
    # Two threads that patch at once would put back each other's patch, and leave it.
    with _PATCHING, pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "evaluate", lambda *_, **__: judged)
        evaluation = evaluate(run.id)
    handler({"step": "record", "run_id": run.id, "evaluation": evaluation}, None)


def judge(run_id: str) -> None:
    """Do the steps that follow the test runner."""
    handler({"step": "record", "run_id": run_id, "evaluation": evaluate(run_id)}, None)


def evaluate(run_id: str) -> object:
    """Do the step that judges what the test runner left."""
    return handler({"step": "evaluate", "run_id": run_id}, None)


def failed(run: Run, message: str = "seen") -> Run:
    """The run, ended by a rule that did not pass."""
    result = RuleResult(RULE, api_owned=True, passed=False, matched=0, total=2, message=message)
    ended = replace(run, records_in=2).start(clock.now()).complete((result,), {"logs": 2}, "a text", clock.now())
    store.update(ended)
    return ended


def get(member: Member, run: Run) -> Any:
    return member.http.get(f"{API}/testing/runs/{run.id}")


VALID = {"yaml": "a: b", "sample": "x", "signal_type": "logs", "target_pipeline": "logs"}

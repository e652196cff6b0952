"""Test runs, and what the test runner leaves of them, without a collector."""

from dataclasses import replace
from typing import Any

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.runs import runner, store
from headgate.runs.model import RuleResult, Run, RunRule
from headgate_engine.rules.engine import Verdict
from headgate_engine.rules.model import Rule
from run_steps.app import handler
from tests.support.members import API, Member
from tests.support.run_outcomes import outcome

RULE = Rule("some", "true", "log", "any")


def queued(member: Member, **changes: Any) -> Run:
    """A run of a YAML text, kept."""
    by = Principal("service_account", member.service_account_id, "ann")
    kept = run_of(**{"organization_id": member.organization_id, "created_by": by, **changes})
    store.create(kept)
    return kept


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


def leave(run: Run, *, ran: bool, executed: bool = True, reason: str = "", cause: str = "", **files: str) -> None:
    """What the test runner leaves."""
    told = outcome(run.duration_seconds, ran=ran, executed=executed, reason=reason, cause=cause)
    for name, text in {**files, "outcome.json": told.model_dump_json()}.items():
        store.put_file(run.id, name, text)


def verdict(passed: bool) -> dict[str, Any]:
    """What came of a rule."""
    return Verdict(matched=int(passed), total=1, passed=passed, message="seen").model_dump()


def end(run: Run, *verdicts: dict[str, Any], out: int = 1) -> None:
    """Record what the test runner left, and what came of the rules."""
    told = runner.outcome(run)
    evaluation = {"verdicts": verdicts, "records": {"logs": out}, "outcome": told.model_dump(mode="json")}
    handler({"step": "record", "run_id": run.id, "evaluation": evaluation}, None)


def failed(run: Run, message: str = "seen") -> Run:
    """The run, ended by a rule that did not pass."""
    result = RuleResult(RULE, api_owned=True, passed=False, matched=0, total=2, message=message)
    ended = run.start(2, clock.now()).complete((result,), {"logs": 2}, "a text", clock.now())
    store.update(ended)
    return ended


def get(member: Member, run: Run) -> Any:
    return member.http.get(f"{API}/testing/runs/{run.id}")


VALID = {"yaml": "a: b", "sample": "x", "signal_type": "logs", "target_pipeline": "logs"}

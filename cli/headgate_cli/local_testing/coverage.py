"""Coverage without a server: the collector's program makes the mutants, judges and scores. This carries them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from headgate_cli.api import Entity, ServerError, entities, number, optional
from headgate_cli.local_collector import UNKNOWN, LocalCollector, Refused
from headgate_cli.local_testing import refusals, runs
from headgate_cli.local_testing.cases import Case, Cases, Result
from headgate_cli.local_testing.outputs import Ran
from headgate_cli.local_testing.suites import signal_of

# The service's numbers: mutants of a job, its cases, questions for mutants, and characters judged together.
_MUTANTS: Final = 40
_MAX_MUTANTS: Final = 100
_MAX_CASES: Final = 200
_MAX_TESTS: Final = 50
_QUESTIONS: Final = 5
_PART: Final = 4_000_000
_UNCHANGED: Final = ("original", "again")
_OF_A_MUTANT: Final = ("id", "kind", "component", "pipelines", "line", "column", "description", "would_notice")
_MADE: Final = ("places", "refused", "left_out", "untested")
_RESULT: Final = (
    *("score", "reason", "killed", "survived", "unreached", "places", "not_loaded", "left_out"),
    *("untested_pipelines", "tests", "mutants"),
)
_OF_A_TEST: Final = ("name", "usable", "reason", "steady", "killed")
_JUDGED: Final = (
    *("id", "kind", "component", "line", "column", "description", "outcome", "noticed_by", "would_notice"),
    "suggested_rule",
)
_SUGGESTED: Final = ("test", "name", "context", "condition", "expect", "min", "max")


def coverage(cases: Cases, body: Mapping[str, object]) -> Entity:
    """The result of a coverage job, with the fields of the API's.

    Raises ServerError as the API refuses such a request, or ends such a job in Error; NoSandbox, CollectorFailed,
    NoCollector.
    """
    tests = {optional(test, "name"): test for test in entities(body, "tests")}
    if not tests or len(tests) > _MAX_TESTS:
        raise refusals.of_field(["tests"], f"Coverage needs 1 to {_MAX_TESTS} tests")
    for place, test in enumerate(tests.values()):
        refusals.require_rules(test.get("rules") or [], ("tests", place, "rules"), least=0)
    collector = cases.collector(optional(body, "collector_version"))
    try:
        return _measured(cases, collector, body, tests)
    except Refused as refused:
        if refused.code == UNKNOWN:
            raise
        # What ends a job of the service in Error.
        raise ServerError(422, refused.code, refused.message, []) from refused


def _measured(
    cases: Cases, collector: LocalCollector, body: Mapping[str, object], tests: Mapping[str, Entity]
) -> Entity:
    made = _mutants(collector, body, tests)
    mutants = entities(made, "mutants")
    yaml = optional(body, "yaml")
    asked = [_case(body, test, name, run, yaml) for name, test in tests.items() for run in _UNCHANGED]
    asked += [
        _case(body, tests[name], name, optional(one, "id"), optional(one, "yaml"))
        for one in mutants
        for name in _reaching(one, tests)
    ]
    ran = Ran.now().span()
    by_id = {result.case.id: result for result in cases.run(asked)}
    judged = []
    for name, test in tests.items():
        changed = [optional(one, "id") for one in mutants if name in _reaching(one, tests)]
        results = {run: by_id[f"{name}/{run}"] for run in (*_UNCHANGED, *changed)}
        judged.append({"name": name, **_judge(collector, test, results, ran)})
    question = {
        "mutants": [{field: one.get(field) for field in _OF_A_MUTANT} for one in mutants],
        "tests": judged,
        **{name: made.get(name) for name in _MADE},
    }
    return _result(collector.ask("mutants_score", question))


def _mutants(collector: LocalCollector, body: Mapping[str, object], tests: Mapping[str, Entity]) -> Entity:
    given = body.get("max_mutants")
    most = min(given if isinstance(given, int) else _MUTANTS, _MAX_MUTANTS)
    wanted = min(most, (_MAX_CASES - 2 * len(tests)) // len(tests))
    env: dict[str, object] = {}
    for test in tests.values():
        values = test.get("env")
        env |= values if isinstance(values, dict) else {}
    found: list[Entity] = []
    refused = 0
    made: Entity = {"places": 0, "left_out": 0, "untested": [], "next": 0}
    for _ in range(_QUESTIONS):
        if made.get("next") is None or len(found) >= wanted:
            break
        question = {
            "yaml": body.get("yaml"),
            "env": env,
            "pipelines": sorted({optional(test, "target_pipeline") for test in tests.values()}),
            "max": wanted - len(found),
            "after": made["next"],
        }
        made = collector.ask("mutants", question)
        found += entities(made, "mutants")
        refused += number(made, "refused")
    found.sort(key=lambda one: (number(one, "line"), number(one, "column"), optional(one, "id")))
    return {**made, "mutants": found, "refused": refused}


def _case(body: Mapping[str, object], test: Entity, name: str, run: str, yaml: str) -> Case:
    version = {"collector_version": body.get("collector_version")}
    plain = {field: value for field, value in test.items() if field != "rules"}
    request = {**plain, **version, "signal_type": signal_of(test), "yaml": yaml}
    return runs.case_of(request, f"{name}/{run}", may_end_early=True, judged=False)


def _reaching(mutant: Entity, tests: Mapping[str, Entity]) -> list[str]:
    pipelines = mutant.get("pipelines")
    reached = pipelines if isinstance(pipelines, list) else []
    return [name for name, test in tests.items() if test.get("target_pipeline") in reached]


def _judge(collector: LocalCollector, test: Entity, results: Mapping[str, Result], ran: Entity) -> Entity:
    """What a test made of the mutants, in as many questions as their outputs need."""
    whole: dict[str, object] = {}
    verdicts: list[object] = []
    for mutants in _parts(results):
        original = results["original"]
        question = {
            "signals": list(original.signals) or [signal_of(test)],
            "rules": runs.rules_of(test, signal_of(test)),
            "expected": test.get("expected"),
            "ignore": test.get("ignore"),
            **{run: _run(results[run], ran) for run in _UNCHANGED},
            "mutants": [{"id": run, **_run(results[run], ran)} for run in mutants],
        }
        answer = collector.ask("mutants_judge", question)
        found = answer.get("verdicts")
        verdicts += found if isinstance(found, list) else []
        whole = {**answer, "verdicts": verdicts}
        if answer.get("usable") is not True:
            break
    return {name: whole.get(name) for name in ("usable", "reason", "steady", "verdicts")}


def _parts(results: Mapping[str, Result]) -> Iterator[Sequence[str]]:
    """Mutants by their ids, with outputs of some size together. One part at least."""
    size, part = 0, list[str]()
    for run, result in results.items():
        if run in _UNCHANGED:
            continue
        if part and size + len(result.output) > _PART:
            yield part
            size, part = 0, []
        size += len(result.output)
        part.append(run)
    yield part


def _run(result: Result, ran: Entity) -> Entity:
    return {"status": result.status, "reason": result.reason, "output": result.output, "ran": ran}


def _result(answer: Entity) -> Entity:
    """With the fields of the API's."""
    tests = [{name: test.get(name) for name in _OF_A_TEST} for test in entities(answer, "tests")]
    mutants = [{name: one.get(name) for name in _JUDGED} for one in entities(answer, "mutants")]
    for mutant in mutants:
        rule = mutant["suggested_rule"]
        if isinstance(rule, dict):
            mutant["suggested_rule"] = {name: rule.get(name) for name in _SUGGESTED}
    score = answer.get("score")
    exact = {"score": float(score) if isinstance(score, int | float) else None}
    return {**{name: answer.get(name) for name in _RESULT}, **exact, "tests": tests, "mutants": mutants}

"""Cases, as the service's jobs have them: prepared, run side by side, and judged by a collector of this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headgate_cli.api import Entity, entities, optional
from headgate_cli.checks.local import LocalChecks
from headgate_cli.local_collector import CollectorFailed, LocalCollector, Refused
from headgate_cli.local_testing import sandbox, steps

_PART_CHARACTERS: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """A sample through one pipeline. `question` has the fields of the operation `prepare`, beside yaml and sample."""

    id: str
    yaml: str
    sample: str
    question: Mapping[str, object]
    version: str = ""
    rules: Sequence[Entity] = ()
    judged: bool = True
    # If not, the collector runs for the whole duration, as that of a single run.
    may_end_early: bool = True
    trace: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case, with the fields of the service's CaseResult."""

    case: Case
    status: str
    version: str
    reason: str = ""
    # The field of the request that is at fault, if it is refused.
    wrong: str = ""
    # Whether the service stores such a run, in Error, rather than refuse the request.
    stored: bool = False
    line: object = None
    signals: Sequence[str] = ()
    records_in: object = None
    records_out: Mapping[str, int] | None = None
    verdicts: Sequence[Entity] = ()
    output: str = ""
    stderr: str = ""
    log: str = ""
    outcome: Entity = field(default_factory=dict)
    # The steps with their records, if the case was traced.
    trace: Entity = field(default_factory=dict)


class Cases:
    """Runs cases on collectors of this machine."""

    def __init__(self, checks: LocalChecks) -> None:
        self._checks = checks

    def collector(self, version: str) -> LocalCollector:
        """That of a version, of the default one if it is empty."""
        return self._checks.collector(version)

    def run(self, cases: Sequence[Case]) -> list[Result]:
        """What came of each case, in their order.

        Raises ServerError for a question that the checker refuses, NoSandbox, CollectorFailed, NoCollector.
        """
        prepared = [self._prepare(case) for case in cases]
        tasks: list[dict[str, object]] = []
        inputs: dict[str, str] = {}
        programs: dict[str, Path] = {}
        for case, ready in zip(cases, prepared, strict=True):
            if isinstance(ready, Result):
                continue
            collector = self._checks.collector(case.version)
            programs[collector.version] = collector.binary
            sample = optional(ready, "input")
            ref = hashlib.sha256(sample.encode()).hexdigest()
            inputs[ref] = sample
            tasks.append(_task(case, ready, collector.version, ref))
        program = next(iter(programs.values()), None)
        left = sandbox.run(program, programs, tasks, inputs) if program else {}
        return [
            ready if isinstance(ready, Result) else self._judge(case, ready, left[case.id])
            for case, ready in zip(cases, prepared, strict=True)
        ]

    def _prepare(self, case: Case) -> Entity | Result:
        """What the collector is to run, or why it is refused."""
        collector = self._checks.collector(case.version)
        try:
            answer = collector.ask("prepare", {"yaml": case.yaml, "sample": case.sample, **case.question})
        except Refused as refused:
            if refused.code not in ("too_costly", "component_not_in_build"):
                raise
            stored = refused.code != "too_costly"
            return self._refused(case, collector, refused.message, "yaml", stored=stored)
        problem, prepared = answer.get("problem"), answer.get("prepared")
        if isinstance(problem, dict):
            return self._refused(case, collector, optional(problem, "message"), optional(problem, "field"), problem)
        if not isinstance(prepared, dict):
            return self._refused(case, collector, optional(answer, "refusal"), "yaml", stored=True)
        if case.rules:
            asked = {"signals": prepared["signals"], "rules": case.rules}
            refusals = entities(collector.ask("compile", asked), "refusals")
            if refusals:
                index = refusals[0].get("index")
                rule = case.rules[index if isinstance(index, int) else 0]
                reason = f"rule '{rule['name']}': {refusals[0].get('message')}"
                return self._refused(case, collector, reason, "rules", {"refusals": refusals})
        return prepared

    def _refused(
        self,
        case: Case,
        collector: LocalCollector,
        reason: str,
        wrong: str,
        more: Entity | None = None,
        *,
        stored: bool = False,
    ) -> Result:
        told = _tell(collector, {"executed": False, "reason": reason})
        return Result(
            case,
            "refused",
            collector.version,
            reason,
            wrong,
            stored=stored,
            line=(more or {}).get("line"),
            stderr=told,
            outcome=more or {},
        )

    def _judge(self, case: Case, ready: Entity, left: Entity) -> Result:
        collector = self._checks.collector(case.version)
        outcome = left["outcome"]
        assert isinstance(outcome, dict)
        output, log = optional(left, "output"), optional(left, "stderr")
        ran = outcome.get("ran") is True
        signals = [str(signal) for signal in _list(ready, "signals")]
        verdicts: list[Entity] = []
        records: dict[str, int] | None = None
        if ran and case.judged:
            verdicts, records = _evaluate(collector, signals, case.rules, output)
        said = {name: outcome.get(name) for name in ("executed", "ran", "reason", "cause", "proposal")}
        notes = [
            {"name": rule["name"], "note": verdict.get("note") or ""}
            for rule, verdict in zip(case.rules, verdicts, strict=False)
        ]
        told = {**said, "stderr": log, "records": records, "rules": notes}
        noted = _list(ready, "notes")
        trace: Entity = {}
        if case.trace:
            trace = steps.of(collector, case.yaml, left)
            noted = noted + steps.notes(trace)
        told |= {"notes": noted, "nothing_out": ready.get("nothing_out")}
        return Result(
            case,
            "ran" if ran else "error",
            collector.version,
            "" if ran else _why(outcome),
            signals=signals,
            records_in=ready.get("records"),
            records_out=records,
            verdicts=verdicts,
            output=output,
            stderr=_tell(collector, told),
            log=log,
            outcome=outcome,
            trace=trace,
        )


def _task(case: Case, ready: Entity, version: str, ref: str) -> dict[str, object]:
    question = case.question
    return {
        "id": case.id,
        "collector_version": version,
        "collector_yaml": ready["collector_yaml"],
        "input": ref,
        "sample_name": question.get("sample_name") or "",
        "feature_gates": question.get("feature_gates") or [],
        "duration_seconds": question["duration_seconds"],
        "idle_milliseconds": ready.get("idle_milliseconds") if case.may_end_early else 0,
        "env": question.get("env") or {},
        "trace": case.trace,
    }


def _evaluate(
    collector: LocalCollector, signals: Sequence[str], rules: Sequence[Entity], output: str
) -> tuple[list[Entity], dict[str, int]]:
    """The verdicts, and how many records of each signal there are. A large output is sent in parts."""
    records = dict.fromkeys(signals, 0)
    verdicts: list[Entity] = []
    tallies: object = None
    for part in _parts(output, _PART_CHARACTERS):
        asked = {"signals": list(signals), "rules": list(rules), "documents": part, "tallies": tallies}
        answer = collector.ask("evaluate", asked)
        tallies, verdicts = answer.get("tallies"), entities(answer, "verdicts")
        counted = answer.get("records")
        for signal, count in counted.items() if isinstance(counted, dict) else ():
            records[signal] = records.get(signal, 0) + count
    return verdicts, records


def _parts(text: str, size: int) -> Iterator[str]:
    """Whole lines, each part of up to `size` characters or one longer line. At least one part."""
    start = 0
    while len(text) - start > size:
        end = text.rfind("\n", start, start + size) + 1 or text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end
    yield text[start:]


def _tell(collector: LocalCollector, said: Mapping[str, object]) -> str:
    answer = collector.ask("tell", said).get("stderr")
    if not isinstance(answer, str):
        raise CollectorFailed("the collector answered something else than was asked")
    return answer


def _why(outcome: Entity) -> str:
    cause = optional(outcome, "cause")
    return f"{optional(outcome, 'reason')}: {cause}" if cause else optional(outcome, "reason")


def _list(entity: Entity, name: str) -> list[object]:
    value = entity.get(name)
    return value if isinstance(value, list) else []

"""Cases, and what came of each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

from headgate_engine.collector import Signal
from headgate_engine.rules.engine import ComponentError, RuleVerdict, RunNote, Sample
from headgate_engine.rules.model import Rule
from headgate_engine.wire.stand_ins import StandIns

# The state machine ends after eleven minutes (statemachines/test_run.asl.yaml), so then nothing is under way.
LONGEST: Final = timedelta(minutes=15)
MAX_CASES: Final = 200


MAX_RESULT_BYTES: Final = 5_500_000
"""The limit for `size_in_answer` of a result: a Lambda answers with 6 MB at most."""


def size_in_answer(document: str) -> int:
    """Bytes of a JSON document in a function's answer, which is JSON too: each quotation mark is escaped once more."""
    return len(json.dumps(document, ensure_ascii=False).encode())


class Unworkable(Exception):
    """A kind cannot make cases of its request, or a document of the results. The message says why, for a person."""


@dataclass(frozen=True, slots=True)
class Case:
    """A sample through one pipeline of a configuration: one run of many.

    `id` is the kind's own name for it, unique in the job and at most 200 characters. If `judged`, the rules are
    evaluated and the output's records counted. If nothing in it waits for time, one that `may_end_early` ends before
    `duration_seconds`, as soon as the sample is through; its output is the same. With `trace`, its steps are recorded.
    """

    id: str
    yaml: str
    target_pipeline: str
    signal_type: Signal
    sample: Sample
    collector_version: str
    duration_seconds: int = 5
    feature_gates: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    judged: bool = True
    stand_ins: StandIns = field(default_factory=StandIns)
    may_end_early: bool = True
    trace: bool = False


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a case.

    `ran`: the collector ran as it should, and `output` is complete. `refused`: it cannot be run as asked; `field` says
    which of `yaml`, `target_pipeline`, `signal_type`, `sample`, … is at fault, and `line` where in it, if it is known.
    `error`: the collector did not run as it should. `reason` says why, for a person, and is empty if it ran.
    """

    case: Case
    status: Literal["ran", "refused", "error"]
    reason: str = ""
    field: str = ""
    line: int | None = None
    # Those of the output that rules can test.
    signals: tuple[Signal, ...] = ()
    # How many records the sample has, and the output of each signal; None if they were not counted.
    records_in: int | None = None
    records_out: Mapping[Signal, int] | None = None
    # In the order of the case's rules; empty if it did not run.
    verdicts: tuple[RuleVerdict, ...] = ()
    # OTLP/JSON, one document a line, in the order of recording.
    output: str = ""
    # For a reader, with the notes of this service, as a run's; and as the collector wrote it.
    stderr: str = ""
    log: str = ""
    component_errors: tuple[ComponentError, ...] = ()
    notes: tuple[RunNote, ...] = ()
    # How long the collector ran.
    seconds: float = 0.0

"""Jobs, their cases, what came of each case, and which changes of a job are allowed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from headgate.foundation import errors
from headgate.foundation.collector import Signal
from headgate.foundation.principal import Principal
from headgate.rules.engine import Sample, StandIns, Verdict
from headgate.rules.model import Rule
from headgate.runs.execution import Execution

Kind = Literal["suite", "comparison", "coverage"]
Status = Literal["Queued", "Running", "Done", "Error"]

MAX_CASES: Final = 200
MAX_REQUEST_BYTES: Final = 16 << 20
# A function's answer may have 6 MB.
MAX_RESULT_BYTES: Final = 4 << 20


class JobNotFound(errors.NotFound):
    """It does not exist, has expired, is of another kind, or is about another member's draft."""

    code = "job_not_found"

    def __init__(self) -> None:
        super().__init__("No such job")


class JobTooLarge(errors.TooLarge):
    """The texts and samples of a job are over the limit together."""

    def __init__(self) -> None:
        super().__init__(f"The texts and samples of one job are at most {MAX_REQUEST_BYTES >> 20} MB together")


class Unworkable(Exception):
    """A kind cannot make cases of its request, or a document of the results. The message says why, for a person."""


@dataclass(frozen=True, slots=True)
class Case:
    """A sample through one pipeline of a configuration: one run of many.

    `id` is the kind's own name for it, unique in the job and at most 200 characters. If `judged`, the rules are
    evaluated and the output's records counted. If nothing in it waits for time, it ends before `duration_seconds`, as
    soon as the sample is through; its output is the same.
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


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case.

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
    verdicts: tuple[Verdict, ...] = ()
    # OTLP/JSON, one document a line, in the order of recording.
    output: str = ""
    # For a reader, with the notes of this service, as a run's; and as the collector wrote it.
    stderr: str = ""
    log: str = ""
    # How long the collector ran.
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Job(Execution):
    """A job. One that is `published` is about published versions only, so the whole organization may see it.

    The request of one that is `secret` has values of variables: it is gone for good before the job has ended.
    """

    id: str
    organization_id: str
    created_by: Principal
    published: bool
    kind: Kind
    status: Status
    configuration_id: str | None
    version_number: int | None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    secret: bool = False
    # How many cases it has, once they are known, and why it is in Error.
    cases: int | None = None
    reason: str = ""

    @property
    def is_final(self) -> bool:
        return self.status in ("Done", "Error")

    def start(self, cases: int, at: datetime) -> "Job":
        return replace(self, status="Running", cases=cases, started_at=at)

    def complete(self, at: datetime) -> "Job":
        """Its result is stored."""
        return replace(self, status="Done", finished_at=at)

    def fail(self, reason: str, at: datetime) -> "Job":
        """It has no result."""
        return replace(self, status="Error", reason=reason, finished_at=at)

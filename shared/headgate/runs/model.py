"""Test runs, their states, and which changes of them are allowed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.foundation.collector import Signal
from headgate.foundation.principal import Principal
from headgate.rules.engine import Format, Scalar, StandIns
from headgate.rules.model import Rule

Status = Literal["Queued", "Running", "Success", "Fail", "Error"]

RETENTION: Final = timedelta(days=30)
# The state machine ends after seven minutes (statemachines/test_run.asl.yaml), so then nothing is under way.
LONGEST: Final = timedelta(minutes=10)
MAX_SAMPLE_BYTES: Final = 1_048_576
NEVER_EXECUTED: Final = "The test was never executed: "


class RunNotFound(errors.NotFound):
    """It does not exist, has expired, or tests another member's draft."""

    code = "run_not_found"

    def __init__(self) -> None:
        super().__init__("No such test run")


class OutputNotReady(errors.NotFound):
    """The run has not finished."""

    code = "output_not_ready"

    def __init__(self) -> None:
        super().__init__("The test run has not finished; its output is there when it has")


class NoSavedRules(errors.Invalid):
    """`use_saved_rules` for a pipeline without saved rules."""

    code = "no_saved_rules"

    def __init__(self, n: int, pipeline: str) -> None:
        message = f"Version {n} has no saved rules for the pipeline '{pipeline}'"
        super().__init__(message, [errors.FieldError(("body", "use_saved_rules"), message)])


class Untrusted(Exception):
    """The test runner left files that no run can leave. The message says why, for a person."""


class SampleTooLarge(errors.TooLarge):
    """The sample is over 1 MB."""

    def __init__(self) -> None:
        super().__init__("The sample is over 1 MB (1,048,576 bytes)")


@dataclass(frozen=True, slots=True)
class RunRule:
    """A rule of a run, and whether it came through the API."""

    rule: Rule
    api_owned: bool


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The result of one rule; `message` says what was seen."""

    rule: Rule
    api_owned: bool
    passed: bool
    matched: int
    total: int
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """A test run. `signals` are those of its output that rules can test. A run with `published` tests a published
    version, so the whole organization may see it."""

    id: str
    organization_id: str
    created_by: Principal
    published: bool
    status: Status
    configuration_id: str | None
    version_number: int | None
    signal_type: Signal
    signals: tuple[Signal, ...]
    target_pipeline: str
    duration_seconds: int
    collector_version: str
    sample_is_otlp: bool
    # What the caller said of the sample; None for what it looks like, and for no name.
    sample_format: Format | None
    sample_name: str | None
    feature_gates: tuple[str, ...]
    # Whether what each component does is recorded.
    trace: bool
    rules: tuple[RunRule, ...]
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    stderr: str = ""
    results: tuple[RuleResult, ...] = ()
    # How many records the sample has of its signal, and the output of each signal; None until they are counted.
    records_in: int | None = None
    records_out: Mapping[Signal, int] | None = None
    # What the run leaves out and replaces; of its variables the names only.
    skip: tuple[str, ...] = ()
    attributes: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    env_names: tuple[str, ...] = ()
    # The pipelines whose output is recorded; all if there is none.
    output_pipelines: tuple[str, ...] = ()

    @property
    def is_final(self) -> bool:
        return self.status in ("Success", "Fail", "Error")

    @property
    def success(self) -> bool | None:
        return self.status == "Success" if self.is_final else None

    @property
    def expires_at(self) -> datetime:
        return self.created_at + RETENTION

    def visible_to(self, caller: Caller, at: datetime) -> bool:
        if self.organization_id != caller.organization_id or at >= self.expires_at:
            return False
        mine = (self.created_by.kind, self.created_by.id) == (caller.principal.kind, caller.principal.id)
        return mine or self.published or caller.is_admin

    def is_lost(self, at: datetime) -> bool:
        """Whether it has been Running for longer than any run can. A run that waits for its turn is not lost."""
        return self.status == "Running" and at > (self.started_at or self.created_at) + LONGEST

    def has_waited(self, at: datetime) -> bool:
        """Whether it has been Queued for so long that it may have been lost on its way into or out of the queue."""
        return self.status == "Queued" and at > self.created_at + timedelta(minutes=1)

    def stand_ins(self, env: Mapping[str, str]) -> StandIns:
        return StandIns(self.skip, self.attributes, env, self.output_pipelines)

    def start(self, records_in: int, at: datetime) -> "Run":
        return replace(self, status="Running", records_in=records_in, started_at=at)

    def complete(
        self, results: tuple[RuleResult, ...], records_out: Mapping[Signal, int], stderr: str, at: datetime
    ) -> "Run":
        """The collector ran for the whole duration: Success if every rule passed, also if there are none."""
        status: Status = "Success" if all(result.passed for result in results) else "Fail"
        return replace(self, status=status, results=results, records_out=records_out, stderr=stderr, finished_at=at)

    def fail(self, stderr: str, at: datetime) -> "Run":
        """The run could not start, or the collector did not run as it should."""
        return replace(self, status="Error", stderr=stderr, finished_at=at)

    def refuse(self, reason: str, at: datetime) -> "Run":
        return self.fail(NEVER_EXECUTED + reason, at)

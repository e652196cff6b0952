"""Test runs, their states, and what may become of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.foundation.collector import Signal
from headgate.foundation.principal import Principal
from headgate.rules.model import Rule

Status = Literal["Queued", "Running", "Success", "Fail", "Error"]

KEPT: Final = timedelta(days=30)
# The state machine gives itself seven minutes (statemachines/test_run.asl.yaml), so after these nothing is under way.
LONGEST: Final = timedelta(minutes=10)
MOST_SAMPLE_BYTES: Final = 1_048_576
NOTHING_CAME_OUT: Final = (
    "headgate: nothing came out of the pipeline; most often a filter or a sampling processor dropped all of the "
    "sample, a processor held it for longer than duration_seconds, or the receiver's operators took no line of it\n"
)
NEVER_EXECUTED: Final = "The test was never executed: "


class RunNotFound(errors.NotFound):
    """There is none, it has expired, or it is of another member's draft."""

    code = "run_not_found"

    def __init__(self) -> None:
        super().__init__("No such test run")


class OutputNotReady(errors.NotFound):
    """The run has not finished."""

    code = "output_not_ready"

    def __init__(self) -> None:
        super().__init__("The test run has not finished; its output is there when it has")


class NoSavedRules(errors.Invalid):
    """`use_saved_rules` for a pipeline without any."""

    code = "no_saved_rules"

    def __init__(self, n: int, pipeline: str) -> None:
        message = f"Version {n} has no saved rules for the pipeline '{pipeline}'"
        super().__init__(message, [errors.FieldError(("body", "use_saved_rules"), message)])


class Untrusted(Exception):
    """What the test runner left cannot be what a run leaves; says why, to a person."""


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
    """What came of one rule; `message` says what was seen."""

    rule: Rule
    api_owned: bool
    passed: bool
    matched: int
    total: int
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """A test run. `signals` are those in which its output can be judged; `published` whether it is of a published
    version, and so to be seen by the whole organization."""

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
    rules: tuple[RunRule, ...]
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    stderr: str = ""
    results: tuple[RuleResult, ...] = ()
    # How many records of its signal the sample holds, and how many of each signal came out; None while nobody knows.
    records_in: int | None = None
    records_out: Mapping[Signal, int] | None = None

    @property
    def is_final(self) -> bool:
        return self.status in ("Success", "Fail", "Error")

    @property
    def success(self) -> bool | None:
        return self.status == "Success" if self.is_final else None

    @property
    def expires_at(self) -> datetime:
        return self.created_at + KEPT

    def visible_to(self, caller: Caller, at: datetime) -> bool:
        if self.organization_id != caller.organization_id or at >= self.expires_at:
            return False
        mine = (self.created_by.kind, self.created_by.id) == (caller.principal.kind, caller.principal.id)
        return mine or self.published or caller.is_admin

    def is_lost(self, at: datetime) -> bool:
        """Whether it has been under way for longer than any run can be. One that waits for its turn is not."""
        return self.status == "Running" and at > (self.started_at or self.created_at) + LONGEST

    def has_waited(self, at: datetime) -> bool:
        """Whether it is time to see if it still waits, or was lost on its way into the queue or out of it."""
        return self.status == "Queued" and at > self.created_at + timedelta(minutes=1)

    def start(self, records_in: int, at: datetime) -> "Run":
        return replace(self, status="Running", records_in=records_in, started_at=at)

    def judge(
        self, results: tuple[RuleResult, ...], records_out: Mapping[Signal, int], stderr: str, at: datetime
    ) -> "Run":
        """The collector ran for the whole duration: Success when every rule passed, which none is fine for."""
        status: Status = "Success" if all(result.passed for result in results) else "Fail"
        said = stderr if any(records_out.values()) else NOTHING_CAME_OUT + stderr
        return replace(self, status=status, results=results, records_out=records_out, stderr=said, finished_at=at)

    def fail(self, stderr: str, at: datetime) -> "Run":
        """It could not start, or the collector did not run as it should."""
        return replace(self, status="Error", stderr=stderr, finished_at=at)

    def refuse(self, reason: str, at: datetime) -> "Run":
        return self.fail(NEVER_EXECUTED + reason, at)

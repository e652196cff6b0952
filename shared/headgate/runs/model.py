"""Test runs, their states, and which changes of them are allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, Self

from headgate.foundation import errors
from headgate.foundation.principal import Principal
from headgate.runs.execution import Changeable, Execution
from headgate_engine.collector import Signal
from headgate_engine.rules.engine import ComponentError, Format, RunNote
from headgate_engine.rules.model import Rule
from headgate_engine.testing.outcome import NEVER_EXECUTED
from headgate_engine.wire.stand_ins import RecordedStandIns

Status = Literal["Queued", "Running", "Success", "Fail", "Error"]


CASE: Final = "run"
"""The id of a run's only case."""

LONGEST_REASON: Final = 300
"""In characters, of the reason in a list."""


class RunNotFound(errors.NotFound):
    """The run does not exist, has expired, or tests another member's draft."""

    code = "run_not_found"
    detail = "No such test run"


class OutputNotReady(errors.NotFound):
    """The run has not finished."""

    code = "output_not_ready"
    detail = "The test run has not finished; its output is there when it has"


class NoSavedRules(errors.Invalid):
    """`use_saved_rules` for a pipeline without saved rules."""

    code = "no_saved_rules"
    at = ("body", "use_saved_rules")

    def __init__(self, n: int, pipeline: str) -> None:
        super().__init__(f"Version {n} has no saved rules for the pipeline '{pipeline}'")


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


class TestRun(Execution):
    """The fields that a run and its entry in a list share."""

    __slots__ = ()
    __test__ = False

    @property
    def success(self) -> bool | None:
        """None until it is final."""
        return self.status == "Success" if self.is_final else None


@dataclass(frozen=True, slots=True)
class Run(TestRun, Changeable, RecordedStandIns):
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
    component_errors: tuple[ComponentError, ...] = ()
    notes: tuple[RunNote, ...] = ()
    results: tuple[RuleResult, ...] = ()
    # How many records the sample has of its signal, and the output of each signal; None until they are counted.
    records_in: int | None = None
    records_out: Mapping[Signal, int] | None = None
    # Of its variables the names only.
    env_names: tuple[str, ...] = ()

    @property
    def secret(self) -> bool:
        return bool(self.env_names)

    @property
    def reason(self) -> str | None:
        """The reason in a list if it is not a Success: the first rule that did not pass, or the cause of an Error.

        None if it is one, or not final.
        """
        failed = next((result for result in self.results if not result.passed), None)
        match self.status:
            case "Fail" if failed:
                text = f"{failed.rule.name}: {failed.message}"
            case "Error":
                text = self.stderr
            case _:
                return None
        line = text.strip().partition("\n")[0]
        return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"

    @property
    def rules_passed(self) -> int:
        return sum(result.passed for result in self.results)

    def start(self, at: datetime) -> Self:
        return replace(self, status="Running", started_at=at)

    def complete(
        self, results: tuple[RuleResult, ...], records_out: Mapping[Signal, int], stderr: str, at: datetime
    ) -> "Run":
        """The collector ran for the whole duration: Success if every rule passed, also if there are none."""
        status: Status = "Success" if all(result.passed for result in results) else "Fail"
        return replace(self, status=status, results=results, records_out=records_out, stderr=stderr, finished_at=at)

    def says(self, component_errors: Sequence[ComponentError], notes: Sequence[RunNote]) -> Self:
        """The run with what its components complained of, and the notes on it."""
        return replace(self, component_errors=tuple(component_errors), notes=tuple(notes))

    def fail(self, reason: str, at: datetime) -> Self:
        """The run could not start, or the collector did not run as it should."""
        return replace(self, status="Error", stderr=reason, finished_at=at)

    def refuse(self, reason: str, at: datetime) -> Self:
        return self.fail(NEVER_EXECUTED + reason, at)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Filter of a list of runs; None matches all."""

    configuration_id: str | None = None
    pipeline: str | None = None
    status: Status | None = None


@dataclass(frozen=True, slots=True)
class ListedRun(TestRun):
    """A run in a list. `rules` and `rules_passed` are numbers; both and `reason` are None if they are not known.

    They are not known of runs of releases that stored none; `rules_passed` and `reason` not before a run is final.
    """

    id: str
    organization_id: str
    created_by: Principal
    published: bool
    status: Status
    reason: str | None
    configuration_id: str | None
    version_number: int | None
    signal_type: Signal
    target_pipeline: str
    duration_seconds: int
    collector_version: str
    trace: bool
    rules: int | None
    rules_passed: int | None
    records_in: int | None
    records_out: Mapping[Signal, int] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    def is_of_version_seen_by(self, principal: Principal) -> bool:
        """An Admin sees runs of other members' drafts, and not the drafts."""
        return self.published or self.created_by == principal

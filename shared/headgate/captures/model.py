"""A capture: what was asked of which host, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from headgate.deployments.versions import Assignment
from headgate.foundation import errors
from headgate.foundation.principal import Principal
from headgate.instances.orders.captured import Reason
from headgate_engine.collector import StableSignal

KEPT: Final = timedelta(days=30)
"""Days for which an ended capture and its sample are stored."""
MOST_RECORDS: Final = 100
LONGEST_SECONDS: Final = 600
BEGINS_WITHIN: Final = timedelta(minutes=6)
"""A host that has not begun by then does not begin any more: it was asleep, or its version was changing.

Hosts report every five minutes at least."""
TOLD_WITHIN: Final = timedelta(hours=1)
"""A host that was not heard for so long after its capture had to end has lost it."""
LONGEST_CONDITION: Final = 4_096
RELOADS: Final = 2
"""The collector restarts once to add the branch and once to remove it."""

Context = Literal["log", "span", "datapoint", "metric"]
CONTEXTS: Final[dict[StableSignal, tuple[Context, ...]]] = {
    "logs": ("log",),
    "traces": ("span",),
    "metrics": ("datapoint", "metric"),
}
"""The contexts of a condition by the signal; the first one is the default."""
Kind = Literal["credentials", "card_numbers", "mail_addresses", "random_strings"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Status = Literal["pending", "running", "completed", "failed", "expired"]
_FAILURES: Final[tuple[Reason, ...]] = ("failed", "collector_ended", "restarted", "bad_sample", "lost")
NEEDED: Final = (
    ("connector/forward",),
    ("processor/filter",),
    ("processor/batch",),
    ("exporter/otlp_http", "exporter/otlphttp"),
)
"""The components that a collector needs for a capture, each by the names that versions give it."""


class CaptureNotFound(errors.NotFound):
    code = "capture_not_found"
    detail = f"No such capture: captures are kept for {KEPT.days} days"


class SampleNotFound(errors.NotFound):
    code = "sample_not_found"

    def __init__(self, status: Status) -> None:
        waits = status in ("pending", "running")
        super().__init__("The capture has not ended yet" if waits else "This capture has no records")


class CapturesNotAllowed(errors.Conflict):
    """An Admin's session has not allowed captures for the group."""

    code = "captures_not_allowed"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Captures are off for the group {name}: an Admin allows them in a session, with `headgate capture allow`"
        )


class CaptureNotPossible(errors.Conflict):
    """The host cannot be captured from now, or not at all."""

    code = "capture_not_possible"


class CaptureOpen(errors.Conflict):
    """A capture has to have ended first."""

    code = "capture_open"


class CaptureEnded(errors.Conflict):
    """The capture has ended already."""

    code = "capture_ended"
    detail = "This capture has ended already"


@dataclass(frozen=True, slots=True)
class Redaction:
    """The redaction of an organization's samples: kinds that hosts know, patterns of RE2, and keys of attributes."""

    kinds: Sequence[Kind] = KINDS
    patterns: Sequence[str] = ()
    keys: Sequence[str] = ()


DEFAULT: Final = Redaction()


@dataclass(frozen=True, slots=True)
class CaptureTarget:
    """The target of a capture: records of a signal after a component of a pipeline for which a condition is true."""

    signal_type: StableSignal
    pipeline: str
    component: str
    context: Context
    condition: str
    max_records: int
    duration_seconds: int


@dataclass(frozen=True, slots=True)
class Capture:
    """A capture as it is stored. `reason` is why it ended, None until it has; `version` is what the host runs.

    `left_out` counts records that were too large, `redacted` the texts from which something was taken out. The sample
    is the object `sample_key`, None without records. `redaction` is what the host is told, and not kept after the end.
    """

    id: str
    fleet_id: str
    deployment_id: str
    instance_id: str
    host_name: str | None
    version: Assignment
    target: CaptureTarget
    created_at: datetime
    created_by: Principal
    redaction: Redaction = DEFAULT
    started_at: datetime | None = None
    ended_at: datetime | None = None
    ending_by: Principal | None = None
    reason: Reason | None = None
    error: str | None = None
    records: int = 0
    left_out: int = 0
    redacted: int = 0
    sample_key: str | None = None
    revision: int = field(default=1, compare=False)

    @property
    def begins_by(self) -> datetime:
        return self.created_at + BEGINS_WITHIN

    @property
    def ends_by(self) -> datetime:
        """The time at which the host ends the capture in any case: the branch takes nothing after it."""
        return (self.started_at or self.begins_by) + timedelta(seconds=self.target.duration_seconds)

    @property
    def expires_at(self) -> datetime:
        return (self.ended_at or self.ends_by) + KEPT

    def status(self, at: datetime) -> Status:
        if self.reason == "expired":
            return "expired"
        if self.reason is not None:
            return "failed" if self.reason in _FAILURES else "completed"
        if at > self.ends_by + TOLD_WITHIN:
            return "failed" if self.started_at else "expired"
        if self.started_at:
            return "running"
        return "pending" if at <= self.begins_by else "expired"

    @property
    def audited(self) -> Mapping[str, str]:
        """Details for the audit record of its start."""
        return {
            "instance_id": self.instance_id,
            "pipeline": self.target.pipeline,
            "component": self.target.component,
            "condition": self.target.condition[:1_000],
        }

    def is_open(self, at: datetime) -> bool:
        return self.status(at) in ("pending", "running")

"""Collector instances: what each last reported, what it is to run, and the state that follows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.model import Assignment, Deployment
from headgate.foundation import errors
from headgate.foundation.ids import encode_id, new_uuid
from headgate.instances.host import UNKNOWN, Host, HostReport
from headgate.settings import settings

InstanceState = Literal[
    "pending_pickup", "applying", "applied", "apply_failed", "idle", "stopped", "silent", "stale", "unknown"
]
Status = Literal["unset", "applying", "applied", "failed"]

INSTANCE_STATES: Final[tuple[InstanceState, ...]] = (
    "pending_pickup",
    "applying",
    "applied",
    "apply_failed",
    "idle",
    "stopped",
    "silent",
    "stale",
    "unknown",
)

SAVED_EVERY: Final = timedelta(minutes=3)
"""A heartbeat that says nothing new is written this often, so an instance may count as silent so much early."""
STALE_AFTER: Final = timedelta(minutes=15)
"""Specified: no heartbeat for more than this."""
FORGOTTEN_AFTER: Final = timedelta(days=30)
"""Hosts and pods come and go under new ids; one that is silent for so long is no longer listed."""
_MARK: Final = 10
_DAY: Final = 86_400
_OUTCOMES: Final = 8
_MESSAGE: Final = 2_000


def instance_id(uid: bytes) -> str:
    """The id of the agent with that 16-byte `instance_uid`: the same 128 bits, in the API's notation."""
    return encode_id("ins", int.from_bytes(uid, "big"))


def new_uid(at: datetime) -> bytes:
    """An `instance_uid` for an agent that has none of its own."""
    return new_uuid(at).to_bytes(16, "big")


class InstanceNotFound(errors.NotFound):
    """The fleet has no such instance, or it was silent for a month."""

    code = "instance_not_found"

    def __init__(self) -> None:
        super().__init__("No such instance")


@dataclass(frozen=True, slots=True)
class Desired:
    """What a group's collectors are to run. `revision` is that of the group when a person last assigned something."""

    assignment: Assignment | None
    revision: int

    @property
    def config_hash(self) -> str:
        return config_hash(self.assignment)

    @classmethod
    def of(cls, group: Deployment) -> Desired:
        return cls(group.assignment, group.assigned_revision)


def config_hash(assignment: Assignment | None) -> str:
    """SHA-256 of the assignment's name, in hex: a published version never changes. None is the empty config."""
    name = f"{assignment.configuration_id}\0{assignment.version_number}" if assignment else ""
    return hashlib.sha256(name.encode()).hexdigest()


NOTHING: Final = config_hash(None)
WITHOUT_PIPELINES: Final = "service::pipelines: service must have at least one pipeline"
"""The collector's own message: it refuses to start so without a supervisor."""
STOPPED: Final = "The supervisor was shut down"


@dataclass(frozen=True, slots=True)
class Description:
    """What the agent reports of its host; each text unchanged, cut to length."""

    host_name: str | None = None
    os: str | None = None
    arch: str | None = None
    collector_version: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    healthy: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a config ended on this instance. `revision` is that of the assignment under which it was offered."""

    config_hash: str
    assignment: Assignment | None
    revision: int
    status: Literal["offered", "applied", "failed"]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One message of an agent. A field that is None has not changed since the previous message."""

    uid: bytes
    sequence_num: int
    accepts_config: bool
    takes_interval: bool
    description: Description | None = None
    health: Health | None = None
    config: ReportedConfig | None = None
    full: bool = False
    wants_uid: bool = False
    leaves: bool = False
    host: HostReport | None = None


@dataclass(frozen=True, slots=True)
class ReportedConfig:
    """The config that the agent received last. `config_hash` is in hex, empty if it never received one."""

    config_hash: str
    status: Status
    message: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """An agent as it is stored. `state` follows from its last message and the assignment `state_revision`.

    `stopped`: its supervisor was shut down and said so.
    `conflicts` counts messages of a second process with the same uid; `told_seconds` is the heartbeat it was told.
    """

    id: str
    fleet_id: str
    deployment_id: str
    sequence_num: int
    first_seen_at: datetime
    last_seen_at: datetime
    full_state_at: datetime
    description: Description = Description()
    accepts_config: bool = False
    health: Health | None = None
    reported: ReportedConfig = ReportedConfig("", "unset")
    outcomes: Sequence[Outcome] = ()
    state: InstanceState = "pending_pickup"
    state_message: str | None = None
    state_revision: int = 0
    stopped: bool = False
    host: Host = UNKNOWN
    conflicts: int = 0
    told_seconds: int = 0
    revision: int = field(default=0, compare=False)

    @property
    def under_way(self) -> bool:
        """Whether a config is being applied: then each of its messages is stored, and none may be missed."""
        return self.accepts_config and self.state in ("pending_pickup", "applying") and not self.stopped

    def outcome_of(self, config_hash: str) -> Outcome | None:
        return next((outcome for outcome in self.outcomes if outcome.config_hash == config_hash), None)

    def running(self) -> Assignment | None:
        """What it runs according to its reports: what it applied last, and nothing once it was stopped."""
        applied = None if self.stopped else self.last_applied()
        return applied.assignment if applied else None

    def last_applied(self) -> Outcome | None:
        return next((outcome for outcome in self.outcomes if outcome.status == "applied"), None)

    def shown_state(self, desired: Desired | None, at: datetime, *, on_kubernetes: bool) -> InstanceState:
        """The state at that time, also if the group was assigned something else since the last message."""
        mark = mark_of(self.last_seen_at)
        if stale(mark, at):
            return "unknown" if on_kubernetes else "stale"
        current = desired is not None and desired.revision == self.state_revision
        return shown(self.state, mark, at, current=current)


def mark_of(at: datetime) -> int:
    """The time in units of ten seconds since 1970: instances are counted by it."""
    return int(at.timestamp()) // _MARK


def day_of(mark: int) -> int:
    return mark * _MARK // _DAY


def stale(mark: int, at: datetime) -> bool:
    """Whether an instance last heard at `mark` is Stale, or Unknown."""
    return at.timestamp() - mark * _MARK > STALE_AFTER.total_seconds()


def shown(state: InstanceState, mark: int, at: datetime, *, current: bool) -> InstanceState:
    """The state of an instance last heard at `mark` that is not stale.

    `current` says whether the state belongs to what is assigned now. A host that said that it stops is not silent.
    """
    if state == "stopped":
        return state
    quiet_after = SAVED_EVERY.total_seconds() + 2 * settings().fleet_heartbeat_seconds
    if at.timestamp() - mark * _MARK > quiet_after + _MARK:
        return "silent"
    return state if current else "pending_pickup"


def forgotten(day: int, at: datetime) -> bool:
    """Whether an instance last heard on that day (since 1970) is no longer listed and counted."""
    return at.timestamp() >= expires(day)


def expires(day: int) -> int:
    """When an instance last heard on that day is forgotten, in seconds since 1970."""
    return (day + 1) * _DAY + int(FORGOTTEN_AFTER.total_seconds())


def after_report(before: Instance, report: Report, desired: Desired) -> Instance:
    """The instance after a message: what it reported, how its configs ended, and its state."""
    reported = report.config or before.reported
    # A message that was sent before it said that it stops may arrive later.
    late = before.stopped and 0 < report.sequence_num <= before.sequence_num
    after = replace(
        before,
        sequence_num=report.sequence_num,
        accepts_config=report.accepts_config,
        description=report.description or before.description,
        health=report.health or before.health,
        reported=reported,
        outcomes=_outcomes(before, report.config, desired),
        stopped=report.leaves or late,
        host=report.host.after(before.host) if report.host else before.host,
    )
    return _with_state(after, desired)


def with_failure(instance: Instance, config: Desired, desired: Desired, message: str) -> Instance:
    """The instance with `config` counted as failed, whatever the agent reported."""
    outcome = Outcome(config.config_hash, config.assignment, desired.revision, "failed", message)
    return _with_state(_with_outcome(instance, outcome), desired)


def offer(instance: Instance, desired: Desired) -> Desired | None:
    """The config to send to the instance now; None if it has applied it, is applying it, or has failed to.

    A config that failed here is not offered again until a person assigns it again. Offered in its place is the last one
    that worked, or the empty one: otherwise the supervisor keeps restarting the failed one.
    """
    if not instance.accepts_config:
        return None
    reported = instance.reported
    if _failed(instance, desired):
        applied = instance.last_applied()
        back_to = Desired(applied.assignment if applied else None, desired.revision)
        known = instance.outcome_of(back_to.config_hash)
        if reported.config_hash == back_to.config_hash or (known is not None and known.status == "failed"):
            return None
        # If that one has failed as well, the supervisor keeps trying it; nothing better is left.
        return None if reported.status == "failed" and reported.config_hash != desired.config_hash else back_to
    if reported.config_hash == desired.config_hash and reported.status in ("applying", "applied"):
        return None
    return desired


def with_offer(instance: Instance, sent: Desired) -> Instance:
    """The instance with an outcome that says it was sent this config."""
    known = instance.outcome_of(sent.config_hash)
    if known is not None and known.status == "applied":
        # It worked before, so it stays "applied", in its place: the instance does not run it again yet.
        renewed = replace(known, revision=sent.revision)
        outcomes = tuple(renewed if outcome is known else outcome for outcome in instance.outcomes)
        return replace(instance, outcomes=outcomes)
    return _with_outcome(instance, Outcome(sent.config_hash, sent.assignment, sent.revision, "offered"))


def _failed(instance: Instance, desired: Desired) -> bool:
    outcome = instance.outcome_of(desired.config_hash)
    return outcome is not None and outcome.status == "failed" and outcome.revision == desired.revision


def _with_state(instance: Instance, desired: Desired) -> Instance:
    state, message = _state(instance, desired)
    return replace(instance, state=state, state_message=message, state_revision=desired.revision)


def _state(instance: Instance, desired: Desired) -> tuple[InstanceState, str | None]:
    """Applied only if the collector reports health with what is assigned: a supervisor alone may be wrong."""
    outcome = instance.outcome_of(desired.config_hash)
    if outcome is not None and outcome.status == "failed" and outcome.revision == desired.revision:
        return "apply_failed", outcome.message or None
    reported, health = instance.reported, instance.health
    if instance.stopped:
        return "stopped", STOPPED
    if desired.assignment is None:
        runs_nothing = reported.config_hash == NOTHING and reported.status == "applied"
        return ("idle" if runs_nothing else "pending_pickup"), None
    if reported.config_hash != desired.config_hash:
        return "pending_pickup", None
    if reported.status == "applied" and health is not None:
        if health.healthy:
            return "applied", None
        # Without an error its collector starts or is being stopped, and does not run what is assigned yet.
        return ("apply_failed", health.error) if health.error else ("pending_pickup", None)
    return ("applying" if reported.status == "applying" else "pending_pickup"), None


def _outcomes(before: Instance, report: ReportedConfig | None, desired: Desired) -> Sequence[Outcome]:
    """The outcomes with what the agent reports of a config that it was offered; the newest first."""
    if report is None or not report.config_hash or report.status not in ("applied", "failed"):
        return before.outcomes
    known = before.outcome_of(report.config_hash)
    if known is None:
        # Offered by another server, or before this instance was known here: not under the present assignment.
        assignment = desired.assignment if report.config_hash == desired.config_hash else None
        if assignment is None and report.config_hash != NOTHING:
            return before.outcomes
        known = Outcome(report.config_hash, assignment, 0, "offered")
    status: Literal["applied", "failed"] = "applied" if report.status == "applied" else "failed"
    message = report.message[:_MESSAGE] if status == "failed" else ""
    outcome = replace(known, status=status, message=message)
    # The config that was applied last comes before all others that were applied.
    unchanged = outcome == known and (status == "failed" or outcome == before.last_applied())
    return before.outcomes if unchanged else _with_outcome(before, outcome).outcomes


def _with_outcome(instance: Instance, outcome: Outcome) -> Instance:
    others = [other for other in instance.outcomes if other.config_hash != outcome.config_hash]
    return replace(instance, outcomes=(outcome, *others)[:_OUTCOMES])

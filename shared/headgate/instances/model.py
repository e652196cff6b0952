"""Collector instances: what each last said of itself, what it is to run, and the state that follows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.model import Assignment, Deployment
from headgate.fleets.model import InstanceState
from headgate.foundation.ids import encode_id

Status = Literal["unset", "applying", "applied", "failed"]

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
    """In hex. A published version never changes, so its name is as good as its text; None is the empty config."""
    name = f"{assignment.configuration_id}\0{assignment.version_number}" if assignment else ""
    return hashlib.sha256(name.encode()).hexdigest()


NOTHING: Final = config_hash(None)
WITHOUT_PIPELINES: Final = "service::pipelines: service must have at least one pipeline"
"""As the collector itself says it where no supervisor allows it."""
STOPPED: Final = "The supervisor was stopped in order"


@dataclass(frozen=True, slots=True)
class Description:
    """What the agent says of its host; each text as it came, cut to length."""

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
    """What became of a config on this instance; `revision` is that of the assignment under which it was offered."""

    config_hash: str
    assignment: Assignment | None
    revision: int
    status: Literal["offered", "applied", "failed"]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One message of an agent. What is None has not changed since the message before."""

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


@dataclass(frozen=True, slots=True)
class ReportedConfig:
    """The agent's word on the config that it received last; `config_hash` in hex, empty if it never received one."""

    config_hash: str
    status: Status
    message: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """An agent as it is kept. `state` is what followed from its last message, under the assignment `judged`.

    `idle` is one that runs nothing, as its group is assigned nothing; `stopped` one that took its leave in order.
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
    judged: int = 0
    idle: bool = False
    stopped: bool = False
    conflicts: int = 0
    told_seconds: int = 0
    revision: int = field(default=0, compare=False)

    @property
    def under_way(self) -> bool:
        """Whether it is about to say more, so that each of its messages is kept and none may be missed."""
        waits = self.state in ("pending_pickup", "applying") and not self.idle and not self.stopped
        return self.accepts_config and waits

    def outcome_of(self, config_hash: str) -> Outcome | None:
        return next((one for one in self.outcomes if one.config_hash == config_hash), None)

    def running(self) -> Assignment | None:
        """What it runs as far as it said: what it applied last, and nothing once it was stopped."""
        if self.stopped:
            return None
        applied = next((one for one in self.outcomes if one.status == "applied"), None)
        return applied.assignment if applied else None

    def shown_state(self, desired: Desired | None, at: datetime, *, on_kubernetes: bool) -> InstanceState:
        """The state as it is at that time, also when it has not spoken since the group was assigned something else."""
        if silent(mark_of(self.last_seen_at), at):
            return "unknown" if on_kubernetes else "stale"
        return self.state if desired and desired.revision == self.judged else "pending_pickup"


def mark_of(at: datetime) -> int:
    """The time in whole ten seconds since 1970, which is how finely instances are counted."""
    return int(at.timestamp()) // _MARK


def day_of(mark: int) -> int:
    return mark * _MARK // _DAY


def silent(mark: int, at: datetime) -> bool:
    """Whether an instance last heard at `mark` is Stale, or Unknown."""
    return at.timestamp() - mark * _MARK > STALE_AFTER.total_seconds()


def forgotten(day: int, at: datetime) -> bool:
    """Whether an instance last heard on that day since 1970 is listed and counted no more."""
    return at.timestamp() >= expires(day)


def expires(day: int) -> int:
    """When an instance last heard on that day is forgotten, in seconds since 1970."""
    return (day + 1) * _DAY + int(FORGOTTEN_AFTER.total_seconds())


def heard(before: Instance, report: Report, desired: Desired) -> Instance:
    """The instance after a message: what it said, what that means for the configs it was offered, and its state."""
    reported = report.config or before.reported
    # What was under way when it took its leave may come later.
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
    )
    return _judged(after, desired)


def refused(instance: Instance, config: Desired, desired: Desired, message: str) -> Instance:
    """The instance where `config` counts as failed, whatever became of it there."""
    outcome = Outcome(config.config_hash, config.assignment, desired.revision, "failed", message)
    return _judged(_with(instance, outcome), desired)


def offer(instance: Instance, desired: Desired) -> Desired | None:
    """What to send to the instance now; None when it has it, is at it, or has failed at it.

    A config that failed here is not offered again until a person assigns it again. What is offered in its place is the
    last one that worked, or the empty one: the supervisor keeps starting the failed one otherwise, and starts with it.
    """
    if not instance.accepts_config:
        return None
    reported = instance.reported
    if _failed(instance, desired):
        good = next((one.assignment for one in instance.outcomes if one.status == "applied"), None)
        back_to = Desired(good, desired.revision)
        known = instance.outcome_of(back_to.config_hash)
        if reported.config_hash == back_to.config_hash or (known is not None and known.status == "failed"):
            return None
        # The one to go back to has failed as well: the supervisor keeps trying it, which is all that can be done.
        return None if reported.status == "failed" and reported.config_hash != desired.config_hash else back_to
    if reported.config_hash == desired.config_hash and reported.status in ("applying", "applied"):
        return None
    return desired


def offered(instance: Instance, sent: Desired) -> Instance:
    """The instance with the note that it was sent this config."""
    known = instance.outcome_of(sent.config_hash)
    if known is not None and known.status == "applied":
        # It worked before; that it is offered again takes nothing away from it, nor does it run it again yet.
        noted = replace(known, revision=sent.revision)
        return replace(instance, outcomes=tuple(noted if one is known else one for one in instance.outcomes))
    return _with(instance, Outcome(sent.config_hash, sent.assignment, sent.revision, "offered"))


def _failed(instance: Instance, desired: Desired) -> bool:
    outcome = instance.outcome_of(desired.config_hash)
    return outcome is not None and outcome.status == "failed" and outcome.revision == desired.revision


def _judged(instance: Instance, desired: Desired) -> Instance:
    state, message = _state(instance, desired)
    reported = instance.reported
    idle = desired.assignment is None and reported.config_hash == NOTHING and reported.status == "applied"
    return replace(instance, state=state, state_message=message, judged=desired.revision, idle=idle)


def _state(instance: Instance, desired: Desired) -> tuple[InstanceState, str | None]:
    """Applied only where the collector was seen to run what is assigned; a supervisor may report it and be wrong."""
    outcome = instance.outcome_of(desired.config_hash)
    if outcome is not None and outcome.status == "failed" and outcome.revision == desired.revision:
        return "apply_failed", outcome.message or None
    reported, health = instance.reported, instance.health
    if instance.stopped:
        return "pending_pickup", STOPPED
    if desired.assignment is None or reported.config_hash != desired.config_hash:
        return "pending_pickup", None
    if reported.status == "applied" and health is not None:
        if health.healthy:
            return "applied", None
        # Without an error its collector starts, or is being stopped; either way it does not run what is assigned yet.
        return ("apply_failed", health.error) if health.error else ("pending_pickup", None)
    return ("applying" if reported.status == "applying" else "pending_pickup"), None


def _outcomes(before: Instance, said: ReportedConfig | None, desired: Desired) -> Sequence[Outcome]:
    """What the agent says of a config that it was offered, noted; the newest first."""
    if said is None or not said.config_hash or said.status not in ("applied", "failed"):
        return before.outcomes
    known = before.outcome_of(said.config_hash)
    if known is None:
        # From another server, or before its history here began; under no assignment of now.
        assignment = desired.assignment if said.config_hash == desired.config_hash else None
        if assignment is None and said.config_hash != NOTHING:
            return before.outcomes
        known = Outcome(said.config_hash, assignment, 0, "offered")
    status: Literal["applied", "failed"] = "applied" if said.status == "applied" else "failed"
    message = said.message[:_MESSAGE] if status == "failed" else ""
    outcome = replace(known, status=status, message=message)
    # What was applied last stands before all else that was applied.
    newest_applied = next((one for one in before.outcomes if one.status == "applied"), None)
    unchanged = outcome == known and (status == "failed" or outcome == newest_applied)
    return before.outcomes if unchanged else _with(before, outcome).outcomes


def _with(instance: Instance, outcome: Outcome) -> Instance:
    others = [one for one in instance.outcomes if one.config_hash != outcome.config_hash]
    return replace(instance, outcomes=(outcome, *others)[:_OUTCOMES])

"""Collector instances: what each last reported, what it is to run, and the state that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from headgate.deployments.versions import HealthyVersion
from headgate.foundation import errors
from headgate.foundation.ids import encode_id, new_uuid
from headgate.instances.counting.watch import Departure, Watch
from headgate.instances.desired.model import Desired, Outcome
from headgate.instances.orders.captured import OpenCapture
from headgate.instances.orders.model import Override, PendingOrder
from headgate.instances.reported.host import UNKNOWN, Host
from headgate.instances.reported.host_key import MOVE_ALLOWED_FOR, HostKey
from headgate.instances.reported.model import NEVER_CONFIGURED, UNDESCRIBED, Description, Health, ReportedConfig
from headgate.instances.state.intervals import is_quick
from headgate.instances.state.model import InstanceState, mark_of, shown, stale
from headgate.instances.timeline.model import NOTHING_NOTED, Noted

if TYPE_CHECKING:
    from headgate.deployments.model import Deployment
    from headgate.deployments.running import RunningRollout

_OUTCOMES: Final = 6


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
class Instance:
    """An agent as it is stored. `state` follows from its last message and the assignment `state_revision`.

    `applying_since`: when it began to apply what it reports to be applying. `stopped`: its supervisor was shut down and
    said so; `uninstalled`: a person did that for good.
    `conflicts` counts messages of a second process with the same uid; `told_seconds` is the heartbeat it was told.
    `healthy` are the versions that it ran healthily for a time, newest first; `well_since` is since when its
    collector is healthy with what it reports, None if it is not.
    `token_id` names the token that it last reported with, None if an earlier release recorded that message; `scope` is
    the fleet or group that this token opens, None likewise. `key` is that of its host, None if it does not sign.
    Until `move_until`, a host that cannot prove itself may take its place, as a person allowed.
    `watch` is what a rollout measures; as with counters, a change of it alone is not stored. `departures` are the
    newest rollouts that it left after its turn came.
    """

    id: str
    fleet_id: str
    deployment_id: str
    sequence_num: int
    first_seen_at: datetime
    last_seen_at: datetime
    full_state_at: datetime
    description: Description = UNDESCRIBED
    accepts_config: bool = False
    health: Health | None = None
    reported: ReportedConfig = NEVER_CONFIGURED
    outcomes: Sequence[Outcome] = ()
    state: InstanceState = "pending_pickup"
    state_message: str | None = None
    state_revision: int = 0
    applying_since: datetime | None = None
    stopped: bool = False
    uninstalled: bool = False
    host: Host = UNKNOWN
    noted: Noted = NOTHING_NOTED
    orders: Sequence[PendingOrder] = ()
    override: Override | None = None
    capture: OpenCapture | None = None
    conflicts: int = 0
    told_seconds: int = 0
    healthy: Sequence[HealthyVersion] = ()
    well_since: datetime | None = None
    token_id: str | None = None
    departures: Sequence[Departure] = ()
    scope: str | None = None
    key: HostKey | None = None
    move_until: datetime | None = None
    watch: Watch | None = field(default=None, compare=False)
    revision: int = field(default=0, compare=False)

    @property
    def called(self) -> str:
        """What people call the host, else what it calls itself, else its id."""
        return self.host.name or self.description.host_name or self.id

    @property
    def is_quick(self) -> bool:
        """Whether its host was told to report quickly."""
        return is_quick(self.told_seconds)

    @property
    def under_way(self) -> bool:
        """Whether a config is being applied: then each of its messages is stored, and none may be missed."""
        return self.accepts_config and self.state in ("pending_pickup", "applying") and not self.stopped

    def overridden(self, at: datetime) -> Override | None:
        """The override that holds at that time."""
        return self.override if self.override and at < self.override.until else None

    def desired(self, group: Deployment, at: datetime) -> Desired:
        """What it is to run in this group at that time: here it is decided, and nowhere else."""
        override, rollout = self.overridden(at), group.rollout
        if override:
            # Under the group's revision, by which the instance is counted.
            pinned = Desired(override.assignment, group.assigned_revision, before=group.assignment, at=override.at)
            return pinned.on(group.collector, group)
        if rollout and rollout.is_due(self.id, self.host.labels):
            due = Desired(rollout.to, rollout.revision, before=group.assignment, at=rollout.started_at)
            return due.on(rollout.collector or group.collector, group)
        return Desired(group.assignment, group.assigned_revision, at=group.assigned_at).on(group.collector, group)

    def departure_from(self, rollout: RunningRollout) -> Departure | None:
        """How it left the rollout since the last assignment or retry; None if it did not."""
        key = (rollout.id, rollout.revision)
        return next((one for one in self.departures if (one.rollout_id, one.revision) == key), None)

    def move_allowed(self, at: datetime) -> datetime | None:
        """Until when another host may take its place, as a person allowed; None if that is not allowed at that time."""
        # What an import brings may be of any time.
        allowed = self.move_until is not None and at < self.move_until <= at + MOVE_ALLOWED_FOR
        return self.move_until if allowed else None

    def outcome_of(self, config_hash: str) -> Outcome | None:
        return next((outcome for outcome in self.outcomes if outcome.config_hash == config_hash), None)

    def failure_of(self, desired: Desired) -> Outcome | None:
        """How that config failed here under its assignment; None if it did not."""
        outcome = self.outcome_of(desired.config_hash)
        failed = outcome is not None and outcome.status == "failed" and outcome.revision == desired.revision
        return outcome if failed else None

    def with_outcome(self, outcome: Outcome) -> Instance:
        """The instance with this outcome before all others, in the place of the one that it had of the same config."""
        others = [other for other in self.outcomes if other.config_hash != outcome.config_hash]
        # What was applied last stays, however many have failed since: the instance goes back to it.
        applied = next((other for other in others if other.status == "applied"), None)
        kept = others[: _OUTCOMES - 1]
        if applied is not None and applied not in kept:
            kept[-1] = applied
        return replace(self, outcomes=(outcome, *kept))

    def running(self) -> Outcome | None:
        """What it runs by its reports: what it applied last, if its host does not say that another text runs.

        None once it was stopped, and if its host runs a text that it was not offered.
        """
        applied = None if self.stopped else self.last_applied()
        text_hash = self.host.text_hash
        if applied is None or text_hash is None or applied.text_hash in (None, text_hash):
            return applied
        return next((outcome for outcome in self.outcomes if outcome.text_hash == text_hash), None)

    def runs_another_text(self, desired: Desired) -> bool:
        """Whether its host says that it runs another text than the one that was offered under that config."""
        outcome, text_hash = self.outcome_of(desired.config_hash), self.host.text_hash
        known = outcome is not None and outcome.text_hash is not None and text_hash is not None
        return known and outcome is not None and outcome.text_hash != text_hash

    def last_offered(self) -> Outcome | None:
        """What it was sent last; None if nothing was since times are recorded."""
        sent = ((outcome.offered_at, outcome) for outcome in self.outcomes if outcome.offered_at)
        return max(sent, key=lambda pair: pair[0], default=(None, None))[1]

    def last_applied(self) -> Outcome | None:
        return next((outcome for outcome in self.outcomes if outcome.status == "applied"), None)

    def shown_state(self, desired: Desired | None, at: datetime, *, on_kubernetes: bool) -> InstanceState:
        """The state at that time, also if the group was assigned something else since the last message."""
        mark = mark_of(self.last_seen_at)
        if stale(mark, at):
            return "unknown" if on_kubernetes else "stale"
        current = desired is not None and desired.revision == self.state_revision
        return shown(self.state, mark, at, current=current, quick=self.is_quick)

"""Collector instances: what each last reported, what it is to run, and the state that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from headgate.deployments.model import Deployment
from headgate.deployments.versions import VariablesRevision
from headgate.foundation import errors
from headgate.foundation.ids import encode_id, new_uuid
from headgate.instances.counting.watch import NOT_MEASURED, Measurements
from headgate.instances.desired.model import NOTHING_TRIED, ConfigOutcome, Desired, Trials
from headgate.instances.orders.model import NOTHING_ORDERED, Orders
from headgate.instances.reported.host_key import HostKey
from headgate.instances.reported.model import NEVER_CONFIGURED, NOTHING_REPORTED, Reported
from headgate.instances.state.intervals import QUICK_SECONDS
from headgate.instances.state.model import (
    NEVER_REFUSED,
    InstanceState,
    Refusals,
    day_of,
    forgotten,
    mark_of,
    shown,
    silent_from,
    stale,
)
from headgate.instances.timeline.model import NOTHING_NOTED, Noted


def instance_id(uid: bytes) -> str:
    """The id of the agent with that 16-byte `instance_uid`: the same 128 bits, in the API's notation."""
    return encode_id("ins", int.from_bytes(uid, "big"))


def new_uid(at: datetime) -> bytes:
    """An `instance_uid` for an agent that has none of its own."""
    return new_uuid(at).to_bytes(16, "big")


class InstanceNotFound(errors.NotFound):
    """The fleet has no such instance, or it was silent for a month."""

    code = "instance_not_found"
    detail = "No such instance"


@dataclass(frozen=True, slots=True)
class Contact:
    """The times at which an instance was heard, and the place of its newest message.

    `conflicts` counts messages of a second process with the same uid; `told_seconds` is the heartbeat it was told.
    """

    sequence_num: int
    first_seen_at: datetime
    last_seen_at: datetime
    full_state_at: datetime
    conflicts: int = 0
    told_seconds: int = 0

    @classmethod
    def first(cls, sequence_num: int, at: datetime) -> Contact:
        return cls(sequence_num, at, at, at)


@dataclass(frozen=True, slots=True)
class HostIdentity:
    """The identity of the host that reports as an instance.

    `token_id` names the token of its last message, `scope` is the fleet or group that this token opens. `key` is that
    of its host, None if it does not sign; `key_since` is when it was registered.
    """

    token_id: str | None = None
    scope: str | None = None
    key: HostKey | None = None
    key_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of an instance, which follows from its last message and the assignment `revision`."""

    state: InstanceState = "pending_pickup"
    message: str | None = None
    revision: int = 0


NEW: Final = Standing()
UNKNOWN_SENDER: Final = HostIdentity()


@dataclass(frozen=True, slots=True)
class Instance:
    """An agent as it is stored. A message replaces these parts, each by one function of `opamp.decision`.

    As with counters, a change of what a rollout measures alone is not stored. `sealed_for` names each group whose
    secrets its host was sent, with the host's key; the newest first.
    """

    id: str
    fleet_id: str
    deployment_id: str
    contact: Contact
    identity: HostIdentity = UNKNOWN_SENDER
    reported: Reported = NOTHING_REPORTED
    trials: Trials = NOTHING_TRIED
    standing: Standing = NEW
    orders: Orders = NOTHING_ORDERED
    measured: Measurements = NOT_MEASURED
    noted: Noted = NOTHING_NOTED
    sealed_for: Sequence[str] = ()
    revision: int = field(default=0, compare=False)

    @property
    def called(self) -> str:
        """The label of the host, else its own name, else its id."""
        return self.reported.name or self.id

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of its host, and those that people set, which win."""
        return {**self.reported.host.labels, **self.orders.labels}

    @property
    def is_quick(self) -> bool:
        """True if its host was told to report quickly. Zero is a host that takes no interval."""
        return 0 < self.contact.told_seconds <= QUICK_SECONDS

    def silent_from(self, refused: Refusals = NEVER_REFUSED) -> datetime:
        """The time from which it is silent, unless it stopped; `refused` is when messages of its fleet were."""
        return silent_from(self.contact.last_seen_at, refused, quick=self.is_quick)

    def is_stale(self, at: datetime) -> bool:
        """True if nothing was heard of it for a quarter of an hour, also if it said that it stops."""
        return stale(mark_of(self.contact.last_seen_at), at)

    def is_forgotten(self, at: datetime) -> bool:
        """True if nothing was heard of it for a month: it is no longer listed."""
        return forgotten(day_of(mark_of(self.contact.last_seen_at)), at)

    @property
    def under_way(self) -> bool:
        """True if a config is being applied: then each of its messages is stored, and none may be missed."""
        applies = self.reported.accepts_config and self.standing.state in ("pending_pickup", "applying")
        return applies and not self.reported.stopped

    def stays_observed(self, group: Deployment) -> bool:
        """True for a collector that takes no configuration, in a group that was observed and is managed now."""
        return group.adopted and not self.reported.accepts_remote_config

    def goes_on(self, group: Deployment) -> bool:
        """True if it runs its own configuration until the group's first version; our supervisor has none of its own."""
        return group.leaves_alone and not self.reported.host.is_ours

    def desired(self, group: Deployment, at: datetime) -> Desired:
        """The version that it is to run in this group at that time. Nothing else decides this."""
        if self.stays_observed(group):
            return Desired(None, group.assigned_revision, at=group.assigned_at)
        override, rollout = self.orders.overridden(at), group.rollout
        # A group that was observed again, and managed since, has its first version by a rollout.
        if override and not (group.observed or group.leaves_alone):
            # Under the group's revision, by which the instance is counted.
            pinned = Desired(override.assignment, group.assigned_revision, before=group.assignment, at=override.at)
            return pinned.on(group)
        if rollout and rollout.is_due(self.id, self.labels):
            due = Desired(rollout.to, rollout.revision, before=group.assignment, at=rollout.started_at)
            return due.on(group, rollout)
        return Desired(group.assignment, group.assigned_revision, at=group.assigned_at).on(group)

    def running(self) -> ConfigOutcome | None:
        """The version that it runs by its reports: the last applied one, unless its host reports another text.

        None once it was stopped, and if its host runs a text that it was not offered.
        """
        applied = None if self.reported.stopped else self.trials.last_applied()
        text_hash = self.reported.host.text_hash
        if applied is None or text_hash is None or applied.text_hash in (None, text_hash):
            return applied
        return next((outcome for outcome in self.trials.outcomes if outcome.text_hash == text_hash), None)

    @property
    def variables_revision(self) -> int | None:
        """The revision of variables that its process has by its host's reports; None for those of its install.

        None also if the host does not say, or names none that it was offered.
        """
        digest = self.reported.host.variables
        return next((each.revision for each in self.offered_variables if each.digest == digest), None)

    @property
    def offered_variables(self) -> Sequence[VariablesRevision]:
        """The revisions of variables that it was offered, as far as that is known; the newest first."""
        offered = [outcome.variables for outcome in self.trials.outcomes]
        offered += [version.variables for version in self.trials.healthy]
        return [pinned for pinned in dict.fromkeys(offered) if pinned]

    def runs_another_text(self, offered: ConfigOutcome) -> bool:
        """True if its host reports another text than the one that was offered under that config."""
        text_hash = self.reported.host.text_hash
        return None not in (offered.text_hash, text_hash) and offered.text_hash != text_hash

    def in_group(self, deployment_id: str) -> Instance:
        """The instance as one of that group."""
        if deployment_id == self.deployment_id:
            return self
        # A revision belongs to one group; nothing has been offered under the new group's yet.
        return replace(self, deployment_id=deployment_id, trials=self.trials.of_another_group())

    def without_failure(self, desired: Desired) -> Instance:
        """The instance as if that config had never failed on it, so that it is offered again."""
        trials, reported = self.trials.without_failure(desired), self.reported
        if reported.config.config_hash == desired.config_hash:
            reported = replace(reported, config=NEVER_CONFIGURED)
        return replace(self, trials=trials, reported=reported)

    def shown_state(
        self, desired: Desired | None, at: datetime, refused: Refusals = NEVER_REFUSED, *, on_kubernetes: bool
    ) -> InstanceState:
        """The state at that time, also if the group was assigned something else since the last message."""
        if self.is_stale(at):
            return "unknown" if on_kubernetes else "stale"
        # A host that takes no configuration, and is to take none, runs its own whatever its group was assigned.
        stays = desired is not None and desired.assignment is None and not self.reported.accepts_config
        current = stays or (desired is not None and desired.revision == self.standing.revision)
        mark = mark_of(self.contact.last_seen_at)
        return shown(self.standing.state, mark, at, refused, current=current, quick=self.is_quick)

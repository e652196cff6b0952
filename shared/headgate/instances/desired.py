"""What an instance is to run, what it is offered for that, and how what it was offered ended."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from headgate.instances.obstacles import obstacle

if TYPE_CHECKING:
    from datetime import datetime

    from headgate.deployments.model import Assignment, Deployment
    from headgate.deployments.programs import Program
    from headgate.instances.model import Instance


@dataclass(frozen=True, slots=True)
class Desired:
    """What an instance is to run. `revision` is that of the group when a person last assigned something.

    `before` is what it ran until a rollout reached it, to go back to. `at` is since when, None if that is not known.
    `collector` is the program that is to run it, None for the one that was installed on the host; `collector_before` is
    the one to go back to.
    """

    assignment: Assignment | None
    revision: int
    before: Assignment | None = None
    at: datetime | None = None
    collector: Program | None = None
    collector_before: Program | None = None

    @property
    def config_hash(self) -> str:
        return config_hash(self.assignment, self.collector)

    @classmethod
    def of(cls, group: Deployment, instance: Instance, at: datetime) -> Desired:
        """What this instance of the group is to run at that time: here it is decided, and nowhere else."""
        override = instance.overridden(at)
        if override:
            # Under the group's revision, by which the instance is counted.
            return cls(override.assignment, group.assigned_revision, at=override.at).on(group.collector, group)
        rollout = group.rollout
        if rollout and rollout.is_due(instance.id, instance.host.labels):
            due = cls(rollout.to, rollout.revision, before=group.assignment, at=rollout.started_at)
            return due.on(rollout.collector or group.collector, group)
        return cls(group.assignment, group.assigned_revision, at=group.assigned_at).on(group.collector, group)

    def on(self, collector: Program | None, group: Deployment) -> Desired:
        """The same with that collector, if there is something to run."""
        return replace(self, collector=collector if self.assignment else None, collector_before=group.collector)


def config_hash(assignment: Assignment | None, collector: Program | None = None) -> str:
    """SHA-256 of the names of assignment and collector, in hex: a published version never changes.

    None is the empty config, or the collector that was installed.
    """
    name = f"{assignment.configuration_id}\0{assignment.version_number}" if assignment else ""
    name += f"\0{collector.digest}" if assignment and collector else ""
    return hashlib.sha256(name.encode()).hexdigest()


NOTHING: Final = config_hash(None)
_MOST_RETURNS: Final = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a config ended on this instance. `revision` is that of the assignment under which it was offered.

    `text_hash` is the SHA-256 in hex of its text, None if that was not read since; `at` is when it was applied or
    failed, None for times before they were recorded. `returns` is how often it was offered to come back to it since it
    was last applied, 0 if it is not coming back. `collector` is the version of the program that was sent with it, None
    for the installed one.
    """

    config_hash: str
    assignment: Assignment | None
    revision: int
    status: Literal["offered", "applied", "failed"]
    message: str = ""
    text_hash: str | None = None
    offered_at: datetime | None = None
    at: datetime | None = None
    returns: int = 0
    collector: str | None = None

    @classmethod
    def of(
        cls,
        config: Desired,
        status: Literal["offered", "applied", "failed"],
        message: str = "",
        text_hash: str | None = None,
        *,
        revision: int | None = None,
        offered_at: datetime | None = None,
        at: datetime | None = None,
    ) -> Outcome:
        """How a config ended, under its own assignment if no other `revision` is given."""
        return cls(
            config_hash=config.config_hash,
            assignment=config.assignment,
            revision=config.revision if revision is None else revision,
            status=status,
            message=message,
            text_hash=text_hash,
            offered_at=offered_at,
            at=at,
            collector=config.collector.version if config.collector else None,
        )

    @property
    def may_return(self) -> bool:
        """Whether it is offered again if its collector was killed while the instance came back to it."""
        return self.status == "applied" and 0 < self.returns < _MOST_RETURNS

    @property
    def returned_in_vain(self) -> bool:
        return self.returns >= _MOST_RETURNS


def offer(instance: Instance, desired: Desired) -> Desired | None:
    """The config to send to the instance now; None if it has applied it, is applying it, or has failed to.

    A config that failed here is not offered again until a person assigns it again. Offered in its place is the one
    before, or the last one that worked, or the empty one: otherwise the supervisor keeps restarting the failed one.
    One that worked here and only was killed on the way back gives way to none that is still older.
    """
    if not instance.accepts_config or obstacle(instance, desired.collector):
        return None
    reported = instance.reported
    failure = instance.failure_of(desired)
    if failure is not None:
        if failure.returned_in_vain:
            return None
        back_to = _working(instance, desired)
        known = instance.outcome_of(back_to.config_hash)
        if known is not None and known.status == "failed":
            return None
        if reported.config_hash == back_to.config_hash:
            return back_to if reported.status == "failed" and known is not None and known.may_return else None
        # If that one has failed as well, the supervisor keeps trying it; nothing better is left.
        return None if reported.status == "failed" and reported.config_hash != desired.config_hash else back_to
    if reported.config_hash == desired.config_hash and reported.status in ("applying", "applied"):
        return None
    return desired


def _working(instance: Instance, desired: Desired) -> Desired:
    """What to run instead of a config that failed. A version whose rollout was taken back does not count as working."""
    back_to = Desired(None, desired.revision)
    if desired.before is not None:
        before = replace(back_to, assignment=desired.before, collector=desired.collector_before)
        outcome = instance.outcome_of(before.config_hash)
        if outcome is None or outcome.status != "failed":
            return before
    known = (desired.collector, desired.collector_before)
    programs: dict[str | None, Program | None] = {program.version: program for program in known if program}
    programs[None] = None
    for outcome in instance.outcomes:
        if outcome.status == "applied" and outcome.revision <= desired.revision and outcome.collector in programs:
            return replace(back_to, assignment=outcome.assignment, collector=programs[outcome.collector])
    return back_to


def with_offer(instance: Instance, sent: Desired, text_hash: str, at: datetime) -> Instance:
    """The instance with an outcome that says it was sent this config."""
    known = instance.outcome_of(sent.config_hash)
    if known is not None and known is instance.last_offered() and known.revision == sent.revision:
        # Sent once more, because the host has not said yet that it has it.
        at = known.offered_at or at
    if known is not None and known.status == "applied":
        # It worked before, so it stays "applied", in its place: the instance does not run it again yet.
        # Counted by the offers: a supervisor that fails twice with the same words says so once.
        returns = known.returns + 1 if instance.reported.config_hash == sent.config_hash else 1
        renewed = replace(known, revision=sent.revision, text_hash=text_hash, offered_at=at, returns=returns)
        outcomes = tuple(renewed if outcome is known else outcome for outcome in instance.outcomes)
        return replace(instance, outcomes=outcomes)
    outcome = Outcome.of(sent, "offered", "", text_hash, offered_at=at)
    return instance.with_outcome(outcome)

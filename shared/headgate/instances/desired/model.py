"""The desired version of an instance, and the results of its offers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.model import Deployment
from headgate.deployments.programs import Program
from headgate.deployments.running import RunningRollout
from headgate.deployments.versions import Assignment, HealthyVersion, Ran, VariablesRevision


@dataclass(frozen=True, slots=True)
class Desired:
    """The desired version of an instance. `revision` is that of the group's last assignment by a person.

    `before` is what its group runs, if that is something else: to go back to. `at` is since when, None if that is not
    known. `collector` is the program that is to run it, None for the one that was installed on the host, and
    `variables` are those in its environment, None for the installed ones; `collector_before` and `variables_before` are
    those to go back to. `healthy` are what hosts of the group ran healthily, newest first. `taken_back` are versions,
    with collectors and variables, that the group took back; `cleared_revision` is when it was cleared.
    `adopted` is True if its collectors ran something before the group was managed.
    """

    assignment: Assignment | None
    revision: int
    before: Assignment | None = None
    at: datetime | None = None
    collector: Program | None = None
    collector_before: Program | None = None
    healthy: Sequence[HealthyVersion] = ()
    taken_back: Sequence[Ran] = ()
    cleared_revision: int = 0
    variables: VariablesRevision | None = None
    variables_before: VariablesRevision | None = None
    adopted: bool = False
    config_hash: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "config_hash", config_hash(self.assignment, self.collector, self.variables))

    def on(self, group: Deployment, rollout: RunningRollout | None = None) -> Desired:
        """The same as hosts of the group run it, with what the group can go back to.

        With the collector and the variables of its rollout, for one whose turn has come.
        """
        collector, variables = group.collector, group.variables
        if rollout:
            collector, variables = rollout.collector or collector, rollout.variables or variables
        return replace(
            self,
            # Only if there is something to run.
            collector=collector if self.assignment else None,
            collector_before=group.collector,
            variables=variables if self.assignment else None,
            variables_before=group.variables,
            healthy=group.known_healthy,
            taken_back=tuple(version.identity for version in group.taken_back),
            cleared_revision=group.cleared_revision,
            adopted=group.adopted,
        )

    def forgets(self, version: HealthyVersion | ConfigOutcome) -> bool:
        """True if the group took the version back, or was cleared since it ran, or it ran with another's variables.

        Revision 0 is of another group.
        """
        cleared = 0 < version.revision < self.cleared_revision
        of_another = version.revision == 0 and version.variables is not None
        return cleared or of_another or version.identity in self.taken_back


def config_hash(
    assignment: Assignment | None, collector: Program | None = None, variables: VariablesRevision | None = None
) -> str:
    """SHA-256 of the names of assignment, collector and variables, in hex: a published version never changes.

    None is the empty config, or the collector or variables that were installed.
    """
    name = f"{assignment.configuration_id}\0{assignment.version_number}" if assignment else ""
    name += f"\0{collector.digest}" if assignment and collector else ""
    name += f"\0variables {variables.digest}" if assignment and variables else ""
    return hashlib.sha256(name.encode()).hexdigest()


NOTHING: Final = config_hash(None)
_MOST_OFFERS: Final = 3
_MOST_OUTCOMES: Final = 6
_PATIENCE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ConfigOutcome:
    """The result of a config on this instance. `revision` is that of the assignment under which it was offered.

    `text_hash` is the SHA-256 in hex of its text, None if that was not read since; `at` is when it was applied or
    failed, None for times before they were recorded. `returns` is how often it was offered to come back to it since it
    was last applied, 0 if it is not coming back. `collector` is the version of the program that was sent with it, None
    for the installed one, and `variables` likewise. `unclear_since` is when the host first said that it failed for a
    reason that does not count against it, None once it was applied.
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
    unclear_since: datetime | None = None
    variables: VariablesRevision | None = None

    @property
    def identity(self) -> Ran | None:
        """The version with what it ran with, None if it ran nothing."""
        return (self.assignment, self.collector, self.variables) if self.assignment else None

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
    ) -> ConfigOutcome:
        """Add the result of a config, under its own assignment if no other `revision` is given."""
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
            variables=config.variables,
        )

    def is_failure_of(self, desired: Desired) -> bool:
        """True if it is the failure of that config under its assignment."""
        return self.status == "failed" and self.revision == desired.revision

    @property
    def may_return(self) -> bool:
        """True if it is offered again when its collector was killed while the instance came back to it."""
        return self.status == "applied" and 0 < self.returns < _MOST_OFFERS

    @property
    def returned_in_vain(self) -> bool:
        return self.returns >= _MOST_OFFERS

    def is_open(self, at: datetime, *, healthy: bool) -> bool:
        """True if a failure for an unclear reason does not count yet: its collector is healthy, or may still be."""
        return not self.returned_in_vain and (healthy or at - (self.unclear_since or at) < _PATIENCE)


@dataclass(frozen=True, slots=True)
class Trials:
    """The results of an instance's offers, the newest first, and the versions that it has proved good.

    `healthy` are the versions that it ran healthily for a time, newest first; `well_since` is since when its collector
    is healthy with what it reports, None if it is not.
    """

    outcomes: Sequence[ConfigOutcome] = ()
    healthy: Sequence[HealthyVersion] = ()
    well_since: datetime | None = None

    def outcome_of(self, config_hash: str) -> ConfigOutcome | None:
        return next((outcome for outcome in self.outcomes if outcome.config_hash == config_hash), None)

    def failure_of(self, desired: Desired) -> ConfigOutcome | None:
        """The failure of that config under its assignment; None if it did not fail."""
        outcome = self.outcome_of(desired.config_hash)
        return outcome if outcome is not None and outcome.is_failure_of(desired) else None

    def last_offered(self) -> ConfigOutcome | None:
        """The last offer; None if there was none since times are recorded."""
        sent = ((outcome.offered_at, outcome) for outcome in self.outcomes if outcome.offered_at)
        return max(sent, key=lambda pair: pair[0], default=(None, None))[1]

    def last_applied(self) -> ConfigOutcome | None:
        return next((outcome for outcome in self.outcomes if outcome.status == "applied"), None)

    def with_outcome(self, outcome: ConfigOutcome) -> Trials:
        """With this outcome before all others, in the place of the one of the same config."""
        others = [each for each in self.outcomes if each.config_hash != outcome.config_hash]
        # What was applied last stays, however many have failed since: the instance goes back to it.
        applied = next((each for each in others if each.status == "applied"), None)
        first = others[: _MOST_OUTCOMES - 1]
        if applied is not None and applied not in first:
            first[-1] = applied
        return replace(self, outcomes=(outcome, *first))

    def with_changed(self, outcome: ConfigOutcome) -> Trials:
        """With this outcome of a config whose outcome is known, in its place."""
        changed = (outcome if each.config_hash == outcome.config_hash else each for each in self.outcomes)
        return replace(self, outcomes=tuple(changed))

    def without_failure(self, desired: Desired) -> Trials:
        """Forget that config's failure, so that it is offered again."""
        failure = self.outcome_of(desired.config_hash)
        if failure is None or failure.status != "failed":
            return self
        return replace(self, outcomes=tuple(outcome for outcome in self.outcomes if outcome is not failure))

    def of_another_group(self) -> Trials:
        """With the revision of no assignment, since that belongs to one group."""
        outcomes = tuple(replace(outcome, revision=0) for outcome in self.outcomes)
        return replace(self, outcomes=outcomes, healthy=tuple(replace(each, revision=0) for each in self.healthy))


NOTHING_TRIED: Final = Trials()

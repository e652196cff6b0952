"""Deployment groups, the rules of what may be assigned to them, and the labels that select their hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from headgate.deployments.programs import Program
from headgate.deployments.running import NOBODY, RunningRollout
from headgate.deployments.versions import Assignment, HealthyVersion, VariablesRevision
from headgate.fleets.model import Fleet
from headgate.foundation import errors
from headgate.foundation.ids import new_id

Role = Literal["node", "cluster", "gateway"]
_MOST_HEALTHY: Final = 5


class DeploymentNotFound(errors.NotFound):
    """The fleet has no such group."""

    code = "deployment_not_found"
    detail = "No such deployment"


class NameTaken(errors.Conflict):
    """Names are unique in a fleet."""

    code = "deployment_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"A deployment named '{name}' already exists in this fleet")


class FieldRefused(errors.Invalid):
    """A field does not fit the fleet or the group."""

    code = "deployment_invalid"

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message, at=("body", name))


class NotPublished(errors.Invalid):
    """A version that may still change, or that others may not see, is not rolled out."""

    code = "version_not_published"

    def __init__(self, message: str, name: str = "version_number") -> None:
        super().__init__(message, at=("body", name))


class NothingAssigned(errors.Conflict):
    """The group has no version that could be checked."""

    code = "nothing_assigned"
    detail = "No version is assigned to this deployment group: assign one first"


class FirstByRollout(errors.Conflict):
    """The first version of collectors that ran something before they were managed is not assigned at once."""

    code = "first_by_rollout"
    detail = (
        "This group's collectors go on with what they had before it was managed: bring the first version by a rollout, "
        "whose gates halt it"
    )


@dataclass(frozen=True, slots=True)
class VolumeMount:
    host_path: str
    mount_path: str


@dataclass(frozen=True, slots=True)
class Deployment:
    """A group of a fleet's collectors that run the same version.

    `revision` counts its changes; `assigned_revision` is that of the last change of its assignment, `assigned_at` its
    time, None if an earlier release made it. Hosts with the labels of its `selector` belong to it. `token_generation`
    is that of its own token, 0 if it has none; `previous_token_ends_at` is when the one before it ends, or with
    `previous_while_used` at the latest: once no host uses it. With a `rollout` a part of them is to run another version
    already. `collector` and `variables` are what a rollout moved its hosts to, None for what was installed on each.
    `captures_allowed` is what an Admin has allowed. `proven_revision` is the last assignment whose version a host of
    the group ran healthily for a time; `healthy` are the versions before it that were, newest first, without those that
    were taken back. `taken_back` are those whose rollouts did not complete, newest first, until they are assigned or
    rolled out again. `cleared_revision` is that of the last change that assigned nothing, 0 if there was none.
    The collectors of an `observed` group get no configuration. The effective configuration that those of an `unread`
    group report is not stored. A group that was observed before is `adopted`: its collectors go on with what they have
    until something is rolled out, and those that take no remote configuration stay observed.
    """

    id: str
    fleet_id: str
    name: str
    is_default: bool
    role: Role | None
    replicas: int | None
    namespace: str | None
    assignment: Assignment | None
    created_at: datetime
    updated_at: datetime
    volume_mounts: Sequence[VolumeMount] = field(default=())
    revision: int = 1
    assigned_revision: int = 1
    assigned_at: datetime | None = None
    selector: Mapping[str, str] = field(default_factory=dict)
    token_generation: int = 0
    token_expires_at: datetime | None = None
    rollout: RunningRollout | None = None
    collector: Program | None = None
    captures_allowed: bool = False
    proven_revision: int | None = None
    healthy: Sequence[HealthyVersion] = ()
    taken_back: Sequence[HealthyVersion] = ()
    cleared_revision: int = 0
    # What created it, by its own words.
    managed_by: str | None = None
    previous_token_ends_at: datetime | None = None
    observed: bool = False
    unread: bool = False
    previous_while_used: bool = False
    variables: VariablesRevision | None = None
    adopted: bool = False

    @property
    def leaves_alone(self) -> bool:
        """True if collectors to which nothing is rolled out go on with what they had before the group was managed."""
        return self.adopted and self.assignment is None and not self.cleared_revision

    @property
    def reads_configurations(self) -> bool:
        """True if the effective configurations of its observed collectors are stored, without secrets."""
        return (self.observed or self.adopted) and not self.unread

    def token_of(self, fleet: Fleet) -> tuple[str, int]:
        """The owner of the token that its hosts sign in with, the group or the fleet, and the generation."""
        return (self.id, self.token_generation) if self.token_generation else (fleet.id, fleet.token_generation)

    def token_expired(self, fleet: Fleet, at: datetime) -> bool:
        """True if the token that its hosts sign in with has expired."""
        expires_at = self.token_expires_at if self.token_generation else fleet.token_expires_at
        return expires_at is not None and expires_at <= at

    @property
    def known_healthy(self) -> Sequence[HealthyVersion]:
        """Versions that its hosts can go back to, newest first: the assigned one too, if a host ran it healthily."""
        if self.assignment is None or self.proven_revision != self.assigned_revision:
            return self.healthy
        return (self._version(self.assignment, self.assigned_revision), *self.healthy)

    def _version(self, assignment: Assignment, revision: int = 0) -> HealthyVersion:
        """The version with what the group's hosts run it with."""
        collector = self.collector.version if self.collector else None
        return HealthyVersion(assignment, collector, revision, self.variables)

    def _is_known(self, assignment: Assignment) -> bool:
        return self._version(assignment).identity in (version.identity for version in self.known_healthy)

    def healthy_before(
        self, assignment: Assignment | None, variables: VariablesRevision | None = None
    ) -> Sequence[HealthyVersion]:
        """`healthy` once that is assigned, with those variables if they are others than now.

        Going back to one of them forgets those after it, clearing all.
        """
        if assignment is None:
            return ()
        known, assigned = self.known_healthy, (assignment, variables or self.variables)
        places = [place for place, version in enumerate(known) if (version.assignment, version.variables) == assigned]
        return tuple(known[places[-1] + 1 :] if places else known)[:_MOST_HEALTHY]

    def assigned(self, assignment: Assignment | None, at: datetime) -> "Deployment":
        """The group after the next change of it, which assigns that at once, in the place of its rollout."""
        revision = self.revision + 1
        after = replace(
            self.without_rollout(),
            assignment=assignment,
            revision=revision,
            assigned_revision=revision,
            assigned_at=at,
            # What was healthy stays known: the next assignment may come before a host reports on this one.
            proven_revision=revision if assignment and self._is_known(assignment) else self.proven_revision,
            healthy=self.healthy_before(assignment),
        )
        if assignment is None:
            # Where nothing was ever assigned there is nothing to end: its collectors go on with what they had before.
            return replace(after, taken_back=(), cleared_revision=0 if self.leaves_alone else revision)
        return replace(after, taken_back=_without(after.taken_back, assignment, after.variables))

    def with_rollout(self, rollout: RunningRollout) -> "Deployment":
        """The group with that rollout, in the place of another one."""
        before = self.without_rollout()
        taken_back = _without(before.taken_back, rollout.to, rollout.variables or before.variables)
        return replace(before, rollout=rollout, taken_back=taken_back)

    def without_rollout(self) -> "Deployment":
        """The group without its rollout, which did not complete: hosts do not go back to its version.

        If nothing is assigned, and the rollout was not taken back either, they have nothing else to go back to.
        """
        rollout, after = self.rollout, replace(self, rollout=None)
        if rollout is None or (self.assignment is None and rollout.cut > NOBODY):
            return after
        program, variables = rollout.collector or self.collector, rollout.variables or self.variables
        if (rollout.to, variables) == (self.assignment, self.variables):
            return after
        version = HealthyVersion(rollout.to, program.version if program else None, rollout.revision, variables)
        return replace(after, taken_back=(version, *_without(self.taken_back, rollout.to, variables))[:_MOST_HEALTHY])

    @property
    def current_revisions(self) -> frozenset[int]:
        """The assignments that its instances are to run now: its own, and that of its rollout."""
        return frozenset({self.assigned_revision} | ({self.rollout.revision} if self.rollout else set()))

    @classmethod
    def default(cls, fleet_id: str, at: datetime, *, observed: bool = False) -> "Deployment":
        """The group that a server fleet or an observed fleet begins with."""
        return cls(
            *(new_id("dep", at), fleet_id, "Default", True, None, None, None, None, at, at),
            assigned_at=at,
            observed=observed,
        )


def _without(
    versions: Sequence[HealthyVersion], assignment: Assignment, variables: VariablesRevision | None
) -> Sequence[HealthyVersion]:
    return tuple(version for version in versions if (version.assignment, version.variables) != (assignment, variables))


@dataclass(frozen=True, slots=True)
class Selectors:
    """The labels of each group of a fleet that has any; `revision` counts changes."""

    by_group: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    revision: int = 0

    def group_of(self, labels: Mapping[str, str]) -> str | None:
        """The id of the group that a host with these labels belongs to, None if none selects it.

        The one with the most labels; among those with equally many the one that was created first.
        """
        fitting = [group for group, required in self.by_group.items() if required.items() <= labels.items()]
        return min(fitting, key=lambda group: (-len(self.by_group[group]), group), default=None)

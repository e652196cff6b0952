"""Creating and changing deployment groups: which version a group is to run, and what the collector says of it.

Any writer may do both. Only published versions are assigned.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from headgate.checker import Asker
from headgate.configurations import delivery
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, Version
from headgate.deployments import history, references, store, variables
from headgate.deployments.environment import Environment
from headgate.deployments.events import EventKind, GroupEvent, Versions
from headgate.deployments.model import Deployment, FieldRefused, FirstByRollout, NotPublished, Role
from headgate.deployments.service import get, of_fleet
from headgate.deployments.versions import Assignment, NamedVersion
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet, FleetNotFound, FleetObserved
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.errors import NotFound
from headgate.foundation.ids import new_id
from headgate.storage.retry import retry
from headgate.storage.table import Write
from headgate_engine.checker.errors import UnknownGate
from headgate_engine.policies.model import PolicyChoices
from headgate_engine.validation import checking
from headgate_engine.validation.checking import Parts
from headgate_engine.validation.model import CheckRequest, CollectorVersionNotInstalled, Finding, NotChecked, TooCostly

# It is stored already, so the answer must come before API Gateway gives up, whatever the collector does.
_SECONDS: Final = 16.0


@dataclass(frozen=True, slots=True)
class CheckedAssignment:
    """The verdict on a version that was just assigned; `not_checked` says why the collector could not be asked.

    `start` is what starting its components has shown, `not_started` says why they were not started.
    """

    errors: Sequence[Finding] = ()
    warnings: Sequence[Finding] = ()
    not_checked: str | None = None
    start: Sequence[Finding] = ()
    not_started: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentChange:
    """A group after the change, and the version that was assigned to it.

    `audited` is for the audit record: the assignment before, the new one, and why.
    """

    group: Deployment
    check: CheckedAssignment
    audited: Mapping[str, str]
    version: Version | None = None


def create(
    caller: Caller,
    fleet_id: str,
    *,
    name: str,
    configuration_id: str,
    version_number: int,
    role: Role | None,
    replicas: int | None,
    namespace: str | None,
    message: str | None = None,
    managed_by: str | None = None,
) -> AssignmentChange:
    """Create a group that runs a published version; `message` says why. One transaction with the event of it.

    Raises FleetNotFound, FieldRefused, NotPublished, NameTaken, ConfigurationNotFound, VersionNotFound,
    ConfigurationArchived, FleetObserved.
    """
    fleet = fleets.get(caller, fleet_id)
    fleet.require_managed()
    _require_fitting(fleet, {"role": role, "replicas": replicas, "namespace": namespace})
    if fleet.on_kubernetes and role is None:
        raise FieldRefused("role", "A group of a Kubernetes fleet needs a role: node, cluster or gateway")
    at = clock.now()
    created = Deployment(
        id=new_id("dep", at),
        fleet_id=fleet_id,
        name=name,
        is_default=False,
        role=role,
        replicas=replicas,
        namespace=namespace,
        assignment=Assignment(configuration_id, version_number),
        created_at=at,
        updated_at=at,
        assigned_at=at,
        managed_by=managed_by,
    )
    added = fleets.group_added(caller.organization_id, fleet_id)

    def once() -> AssignmentTarget:
        target = _published(caller, configuration_id, version_number)
        event = GroupEvent.of(
            "created", caller.principal, None, created, versions=(None, target.named), message=message
        )
        store.create(created, added, target.assigned(), history.recorded(event))
        return target

    try:
        target = retry(once)
    except FleetNotFound:
        fleets.get(caller, fleet_id).require_managed()
        raise
    return AssignmentChange(created, checked(caller, target.version), _audited((None, target.named), message))


def change(
    caller: Caller,
    fleet_id: str,
    deployment_id: str,
    changes: Mapping[str, str | int | None],
    message: str | None = None,
    beside: Callable[[Deployment, Deployment, Versions], Sequence[Write]] = lambda *_: (),
) -> AssignmentChange:
    """Change the given ones of `name`, `managed_by`, `configuration_id`, `version_number`, `replicas`, `namespace`, and
    whether the configurations of observed collectors are read.

    One transaction with the event of an assignment, and what `beside` makes of the group before and after it and the
    versions; `message` says why it was made. None clears `configuration_id`
    (with it the version), `replicas` and `namespace`. Raises FleetNotFound, DeploymentNotFound, FieldRefused,
    NotPublished, NameTaken, ConfigurationNotFound, VersionNotFound, ConfigurationArchived, FirstByRollout.
    """
    fleet = fleets.get(caller, fleet_id)
    _require_fitting(fleet, {name: changes.get(name) for name in ("replicas", "namespace")})
    # Also if the version is the one that is assigned already: that makes the hosts where it failed try it again.
    assigns = bool({"configuration_id", "version_number"} & changes.keys())
    clears = changes.get("configuration_id", "") is None
    if message is not None and not assigns:
        raise FieldRefused(
            "message", "A message says why a version is assigned; give configuration_id or version_number"
        )

    def once() -> tuple[Deployment, Version | None, Mapping[str, str]]:
        before = of_fleet(fleet_id, deployment_id)
        target = _of_changes(caller, before, changes)
        name, replicas, namespace, managed_by = (
            changes.get(field, getattr(before, field)) for field in ("name", "replicas", "namespace", "managed_by")
        )
        assignment = None if clears else before.assignment
        if target:
            assignment = target.assignment
        if target and before.leaves_alone:
            raise FirstByRollout
        if "reads_configurations" in changes and not (before.observed or before.adopted):
            raise FieldRefused(
                "reads_configurations", "Only configurations of observed collectors are read; leave it out"
            )
        at = clock.now()
        after = before.assigned(assignment, at) if assigns else replace(before, revision=before.revision + 1)
        after = replace(
            after,
            name=str(name),
            replicas=replicas if isinstance(replicas, int) else None,
            namespace=namespace if isinstance(namespace, str) else None,
            managed_by=managed_by if isinstance(managed_by, str) else None,
            unread=not changes["reads_configurations"] if "reads_configurations" in changes else before.unread,
            updated_at=at,
        )
        if not assigns:
            store.replace(before, after)
            return after, None, {}
        # Read before the change is stored: a read that failed afterwards would hide that it was.
        versions = _before(caller, before.assignment, target), target.named if target else None
        kind: EventKind = "assigned" if target else "cleared"
        event = GroupEvent.of(kind, caller.principal, before, after, versions=versions, message=message)
        assigned = [target.assigned()] if target else []
        store.replace(before, after, history.recorded(event), *assigned, *beside(before, after, versions))
        return after, target.version if target else None, _audited(versions, message)

    after, version, audited = retry(once)
    return AssignmentChange(after, checked(caller, version, after), audited, version)


def check(
    caller: Caller, fleet_id: str, deployment_id: str, configuration_id: str | None, version_number: int
) -> tuple[Deployment, Version, CheckedAssignment]:
    """Check a version before it is assigned to the group. Raises what `target` does."""
    group = get(caller, fleet_id, deployment_id)
    version = target(caller, group, configuration_id, version_number).version
    return group, version, checked(caller, version, group)


@dataclass(frozen=True, slots=True)
class AssignmentTarget:
    """A published version that is to be assigned."""

    configuration: Configuration
    version: Version

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.configuration.id, self.version.n)

    @property
    def named(self) -> NamedVersion:
        return NamedVersion(self.assignment, self.configuration.name)

    def assigned(self) -> Write:
        """For the transaction that assigns it, which loses its race if the configuration is archived meanwhile."""
        return configurations.assigned(self.configuration)


def _require_fitting(fleet: Fleet, fields: Mapping[str, object]) -> None:
    for name, value in fields.items():
        if value is not None and not fleet.on_kubernetes:
            raise FieldRefused(name, f"A server fleet's groups have no {name}; leave it out")


def target(caller: Caller, before: Deployment, configuration_id: str | None, version_number: int) -> AssignmentTarget:
    """A published version for the group, of the configuration that it runs if none is named.

    Raises FleetObserved, FieldRefused, NotPublished, ConfigurationNotFound, VersionNotFound, ConfigurationArchived.
    """
    if before.observed:
        raise FleetObserved
    if configuration_id is None:
        if before.assignment is None:
            raise FieldRefused("version_number", "No configuration is assigned; give configuration_id, too")
        configuration_id = before.assignment.configuration_id
    return _published(caller, configuration_id, version_number)


def undelivered(caller: Caller, before: Deployment, target: AssignmentTarget) -> list[str]:
    """The signals that the group's version delivers and the target throws away; one read of a text.

    None if the group runs nothing, or something that is not there any more.
    """
    if before.assignment is None:
        return []
    try:
        _, version = configurations.snapshot(
            caller, before.assignment.configuration_id, before.assignment.version_number
        )
    except NotFound:
        return []
    return delivery.undelivered(version.yaml or "", target.version.yaml or "")


def _of_changes(caller: Caller, before: Deployment, changes: Mapping[str, str | int | None]) -> AssignmentTarget | None:
    """The version that the changes assign; None if they clear the assignment or leave it as it is."""
    n = changes.get("version_number")
    if "configuration_id" in changes:
        configuration_id = changes["configuration_id"]
        if configuration_id is None:
            if n is not None:
                raise FieldRefused(
                    "version_number", "A version needs a configuration; leave it out to clear the assignment"
                )
            return None
        configuration_id = str(configuration_id)
        if n is None:
            n = configurations.newest_published(caller, configuration_id)
            if n is None:
                raise NotPublished("This configuration has no published version; publish one first", "configuration_id")
    elif n is None:
        return None
    else:
        configuration_id = None
    return target(caller, before, configuration_id, int(n))


def _published(caller: Caller, configuration_id: str, n: int) -> AssignmentTarget:
    target = AssignmentTarget(*configurations.snapshot(caller, configuration_id, n))
    target.configuration.require_not_archived()
    if target.version.status != "published":
        raise NotPublished(f"Version {n} is not published; only published versions can be assigned")
    return target


def _before(caller: Caller, before: Assignment | None, target: AssignmentTarget | None) -> NamedVersion | None:
    """The previous assignment; one read if it was another configuration."""
    if before and target and target.configuration.id == before.configuration_id:
        return NamedVersion(before, target.configuration.name)
    return history.named(caller, before)


def _audited(versions: Versions, message: str | None) -> Mapping[str, str]:
    """Details for the audit record."""
    audited = {"message": message} if message else {}
    for prefix, version in zip(("before_", ""), versions, strict=True):
        if version is None:
            continue
        audited[f"{prefix}configuration_id"] = version.assignment.configuration_id
        audited[f"{prefix}version_number"] = str(version.assignment.version_number)
        if version.configuration_name:
            audited[f"{prefix}configuration_name"] = version.configuration_name
    return audited


def checked(caller: Caller, version: Version | None, group: Deployment | None = None) -> CheckedAssignment:
    """Tells what is wrong with the version before a host does; it is assigned all the same.

    The variables that are stored with the group count, with a stand-in for each secret, and for what the host resolves;
    a group has its own token then.
    """
    if version is None:
        return CheckedAssignment()
    pinned = group.rollout.variables if group and group.rollout else None
    environment = variables.of_group(group, pinned) if group and group.token_generation else Environment()
    text = version.yaml or ""
    on_host = references.findings(environment, text)
    request = CheckRequest(text, version.collector_version, environment.for_check, version.feature_gates)
    ends = time.monotonic() + _SECONDS
    try:
        result = checking.check(request, Parts(start=True), PolicyChoices(), asker=Asker.of(caller), ends=ends)
    except (NotChecked, TooCostly, CollectorVersionNotInstalled, UnknownGate) as error:
        return CheckedAssignment(warnings=on_host, not_checked=error.detail)
    start = result.start
    return CheckedAssignment(
        result.verdict.errors,
        (*result.verdict.warnings, *on_host),
        start=start.result.findings if start and start.result else (),
        not_started=start.problem.detail if start and start.problem else None,
    )

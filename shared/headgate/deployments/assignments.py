"""Creating and changing deployment groups: which version a group is to run, and what the collector says of it.

Any writer may do both. Only published versions are assigned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.checker import Asker
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, ConfigurationNotFound, Version
from headgate.deployments import store
from headgate.deployments.model import Assignment, Deployment, FieldRefused, NotPublished, Role
from headgate.deployments.service import of_fleet
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.storage.retry import retry
from headgate.validation import service as validation
from headgate.validation.model import CollectorVersionNotInstalled, Finding, NotChecked, TooCostly


@dataclass(frozen=True, slots=True)
class Check:
    """What the collector says of a version that was just assigned; `not_checked` says why it could not be asked."""

    errors: Sequence[Finding] = ()
    warnings: Sequence[Finding] = ()
    not_checked: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A group after the change. `audited` is what the audit record holds: the assignment before, and the new one."""

    group: Deployment
    check: Check
    audited: Mapping[str, str]


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
) -> Changed:
    """Create a group that runs a published version.

    Raises FleetNotFound, FieldRefused, NotPublished, NameTaken, ConfigurationNotFound, VersionNotFound.
    """
    fleet = fleets.get(caller, fleet_id)
    _require_fitting(fleet, {"role": role, "replicas": replicas, "namespace": namespace})
    if fleet.on_kubernetes and role is None:
        raise FieldRefused("role", "A group of a Kubernetes fleet needs a role: node, cluster or gateway")
    target = _published(caller, configuration_id, version_number)
    at = clock.now()
    created = Deployment(
        id=new_id("dep", at),
        fleet_id=fleet_id,
        name=name,
        is_default=False,
        role=role,
        replicas=replicas,
        namespace=namespace,
        assignment=target.assignment,
        created_at=at,
        updated_at=at,
    )
    retry(lambda: store.create(created))
    return Changed(created, _check(caller, target.version), _audited(caller, None, target))


def change(caller: Caller, fleet_id: str, deployment_id: str, changes: Mapping[str, str | int | None]) -> Changed:
    """Change the given ones of `name`, `configuration_id`, `version_number`, `replicas` and `namespace`.

    None clears `configuration_id` (with it the version), `replicas` and `namespace`. Raises FleetNotFound,
    DeploymentNotFound, FieldRefused, NotPublished, NameTaken, ConfigurationNotFound, VersionNotFound.
    """
    fleet = fleets.get(caller, fleet_id)
    _require_fitting(fleet, {name: changes.get(name) for name in ("replicas", "namespace")})
    # Also if the version is the one that is assigned already: that makes the hosts where it failed try it again.
    assigns = bool({"configuration_id", "version_number"} & changes.keys())
    clears = changes.get("configuration_id", "") is None

    def once() -> tuple[Deployment, Version | None, Mapping[str, str]]:
        before = of_fleet(fleet_id, deployment_id)
        target = _target(caller, before, changes)
        name, replicas, namespace = (
            changes.get(field, getattr(before, field)) for field in ("name", "replicas", "namespace")
        )
        assignment = None if clears else before.assignment
        if target:
            assignment = target.assignment
        after = replace(
            before,
            name=str(name),
            replicas=replicas if isinstance(replicas, int) else None,
            namespace=namespace if isinstance(namespace, str) else None,
            assignment=assignment,
            updated_at=clock.now(),
            revision=before.revision + 1,
            assigned_revision=before.revision + 1 if assigns else before.assigned_revision,
        )
        # Read before the change is stored: a read that failed afterwards would hide that it was.
        audited = _audited(caller, before.assignment, target) if assigns else {}
        store.replace(before, after)
        return after, target.version if target else None, audited

    after, version, audited = retry(once)
    return Changed(after, _check(caller, version), audited)


@dataclass(frozen=True, slots=True)
class _Target:
    """A published version that is to be assigned."""

    configuration: Configuration
    version: Version

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.configuration.id, self.version.n)


def _require_fitting(fleet: Fleet, fields: Mapping[str, object]) -> None:
    for name, value in fields.items():
        if value is not None and not fleet.on_kubernetes:
            raise FieldRefused(name, f"A server fleet's groups have no {name}; leave it out")


def _target(caller: Caller, before: Deployment, changes: Mapping[str, str | int | None]) -> _Target | None:
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
    elif before.assignment is None:
        raise FieldRefused("version_number", "No configuration is assigned; give configuration_id, too")
    else:
        configuration_id = before.assignment.configuration_id
    return _published(caller, configuration_id, int(n))


def _published(caller: Caller, configuration_id: str, n: int) -> _Target:
    target = _Target(*configurations.snapshot(caller, configuration_id, n))
    if target.version.status != "published":
        raise NotPublished(f"Version {n} is not published; only published versions can be assigned")
    return target


def _audited(caller: Caller, before: Assignment | None, target: _Target | None) -> Mapping[str, str]:
    """What the audit record holds; one read if another configuration was assigned before."""
    audited: dict[str, str] = {}
    if before:
        audited |= {
            "before_configuration_id": before.configuration_id,
            "before_version_number": str(before.version_number),
        }
        same = target is not None and target.configuration.id == before.configuration_id
        name = target.configuration.name if target and same else _name(caller, before.configuration_id)
        audited |= {"before_configuration_name": name} if name else {}
    if target:
        audited |= {"configuration_id": target.configuration.id, "configuration_name": target.configuration.name}
        audited |= {"version_number": str(target.version.n)}
    return audited


def _name(caller: Caller, configuration_id: str) -> str | None:
    try:
        return configurations.summary(caller, configuration_id).name
    except ConfigurationNotFound:
        return None


def _check(caller: Caller, version: Version | None) -> Check:
    """Tells what is wrong with the version before a host does; it is assigned all the same."""
    if version is None:
        return Check()
    try:
        result = validation.validate(version.yaml or "", version.collector_version, asker=Asker.of(caller))
    except (NotChecked, TooCostly, CollectorVersionNotInstalled) as error:
        return Check(not_checked=error.detail)
    return Check(result.errors, result.warnings)

"""What can be done with a fleet's deployment groups: any member sees them, any writer changes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.checker import Asker
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, ConfigurationNotFound, Version
from headgate.deployments import store
from headgate.deployments.model import (
    Assignment,
    Deployment,
    DeploymentNotFound,
    FieldRefused,
    NotPublished,
    Role,
)
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id, new_id
from headgate.storage.page import Slice
from headgate.storage.retry import retry
from headgate.validation import service as validation
from headgate.validation.model import CollectorVersionNotInstalled, Finding, NotChecked, TooCostly


@dataclass(frozen=True, slots=True)
class Check:
    """What the collector says of a version that was just assigned; `not_checked` when it could not be asked."""

    errors: Sequence[Finding] = ()
    warnings: Sequence[Finding] = ()
    not_checked: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A group as it is now, and what the organization's record tells of it: what was assigned before, and now."""

    group: Deployment
    check: Check
    told: Mapping[str, str]


def deployments(caller: Caller, fleet_id: str, limit: int, after: str | None) -> Slice[Deployment]:
    """By name; three reads. Raises FleetNotFound."""
    fleets.get(caller, fleet_id)
    found = store.deployments(fleet_id, limit + 1, after)
    return Slice(found[:limit], found[limit - 1].name if len(found) > limit else None)


def get(caller: Caller, fleet_id: str, deployment_id: str) -> Deployment:
    """Two reads. Raises FleetNotFound, DeploymentNotFound."""
    fleets.get(caller, fleet_id)
    return of_fleet(fleet_id, deployment_id)


def of_fleet(fleet_id: str, deployment_id: str) -> Deployment:
    """One read, of a fleet that the caller is known to see. Raises DeploymentNotFound."""
    found = store.deployment(fleet_id, deployment_id) if is_id("dep", deployment_id) else None
    if found is None:
        raise DeploymentNotFound
    return found


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
    """Make a group that runs a published version.

    Raises FleetNotFound, FieldRefused, NotPublished, NameTaken, ConfigurationNotFound, VersionNotFound.
    """
    fleet = fleets.get(caller, fleet_id)
    _require_fitting(fleet, {"role": role, "replicas": replicas, "namespace": namespace})
    if fleet.on_kubernetes and role is None:
        raise FieldRefused("role", "A group of a Kubernetes fleet needs a role")
    named = _published(caller, configuration_id, version_number)
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
    )
    retry(lambda: store.create(created))
    return Changed(created, _check(caller, named.version), _told(caller, None, named))


def change(caller: Caller, fleet_id: str, deployment_id: str, changes: Mapping[str, str | int | None]) -> Changed:
    """Change the given ones of `name`, `configuration_id`, `version_number`, `replicas` and `namespace`.

    None clears `configuration_id` (with it the version), `replicas` and `namespace`. Raises FleetNotFound,
    DeploymentNotFound, FieldRefused, NotPublished, NameTaken, ConfigurationNotFound, VersionNotFound.
    """
    fleet = fleets.get(caller, fleet_id)
    _require_fitting(fleet, {name: changes.get(name) for name in ("replicas", "namespace")})
    # Also when it is what was assigned already: by that a person has it tried again where it failed.
    assigns = bool({"configuration_id", "version_number"} & changes.keys())

    def once() -> tuple[Deployment, Version | None, Mapping[str, str]]:
        before = of_fleet(fleet_id, deployment_id)
        assignment, named = _assignment(caller, before, changes)
        name, replicas, namespace = (
            changes.get(field, getattr(before, field)) for field in ("name", "replicas", "namespace")
        )
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
        # Before the change: whoever reads it afterwards may fail, and nobody replaces anything but `before` by it.
        told = _told(caller, before.assignment, named) if assigns else {}
        store.replace(before, after)
        return after, named.version if named else None, told

    after, version, told = retry(once)
    return Changed(after, _check(caller, version), told)


def _require_fitting(fleet: Fleet, given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None and not fleet.on_kubernetes:
            raise FieldRefused(name, f"A server fleet's groups have no {name}")


def _assignment(
    caller: Caller, before: Deployment, changes: Mapping[str, str | int | None]
) -> tuple[Assignment | None, "_Named | None"]:
    """What a group is to run after the changes, and the version itself if it was named now."""
    n = changes.get("version_number")
    if "configuration_id" in changes:
        configuration_id = changes["configuration_id"]
        if configuration_id is None:
            if n is not None:
                raise FieldRefused("version_number", "There is no version without a configuration")
            return None, None
        configuration_id = str(configuration_id)
        if n is None:
            n = configurations.newest_published(caller, configuration_id)
            if n is None:
                raise NotPublished("This configuration has no published version", "configuration_id")
    elif n is None:
        return before.assignment, None
    elif before.assignment is None:
        raise FieldRefused("version_number", "No configuration is assigned that this could be a version of")
    else:
        configuration_id = before.assignment.configuration_id
    named = _published(caller, configuration_id, int(n))
    return Assignment(configuration_id, named.version.n), named


@dataclass(frozen=True, slots=True)
class _Named:
    """A published version that somebody assigns."""

    configuration: Configuration
    version: Version


def _published(caller: Caller, configuration_id: str, n: int) -> _Named:
    named = _Named(*configurations.snapshot(caller, configuration_id, n))
    if named.version.status != "published":
        raise NotPublished(f"Version {n} is not published; only published versions can be assigned")
    return named


def _told(caller: Caller, before: Assignment | None, now: _Named | None) -> Mapping[str, str]:
    """What the record of an assignment holds; one read where another configuration was assigned before."""
    told: dict[str, str] = {}
    if before:
        told |= {
            "before_configuration_id": before.configuration_id,
            "before_version_number": str(before.version_number),
        }
        same = now is not None and now.configuration.id == before.configuration_id
        name = now.configuration.name if now and same else _name(caller, before.configuration_id)
        told |= {"before_configuration_name": name} if name else {}
    if now:
        told |= {"configuration_id": now.configuration.id, "configuration_name": now.configuration.name}
        told |= {"version_number": str(now.version.n)}
    return told


def _name(caller: Caller, configuration_id: str) -> str | None:
    try:
        return configurations.summary(caller, configuration_id).name
    except ConfigurationNotFound:
        return None


def _check(caller: Caller, version: Version | None) -> Check:
    """Tell what is wrong with the version before a host does; it is assigned all the same."""
    if version is None:
        return Check()
    try:
        result = validation.validate(version.yaml or "", version.collector_version, asker=Asker.of(caller))
    except (NotChecked, TooCostly, CollectorVersionNotInstalled) as error:
        return Check(not_checked=error.detail)
    return Check(result.errors, result.warnings)

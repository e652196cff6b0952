"""A fleet's deployment groups: any member sees them, any writer creates a fleet with its Default group.

What a group runs is in `headgate.deployments.assignments`, its volume mounts in `headgate.deployments.mounts`: the
functions that only read groups do not load what checks a configuration.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from headgate.deployments import store
from headgate.deployments.model import Deployment, DeploymentNotFound
from headgate.fleets import service as fleets
from headgate.fleets.model import ExpiresIn, Fleet, FleetType
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id
from headgate.storage.page import Slice


def create_fleet(caller: Caller, label: str, fleet_type: FleetType, expires_in: ExpiresIn) -> Fleet:
    """Create a fleet with its token, a server fleet with its Default group; one transaction.

    Raises FleetsNotConfigured, LabelTaken, FleetLimitReached.
    """
    fleet = fleets.new_fleet(caller, label, fleet_type, expires_in)
    if fleet.on_kubernetes:
        return fleets.create(fleet)
    default = Deployment.default(fleet.id, fleet.created_at)
    return fleets.create(replace(fleet, default_deployment_id=default.id), *store.writes_of_new(default))


def deployments(caller: Caller, fleet_id: str, limit: int, after: str | None) -> Slice[Deployment]:
    """By name; three reads. Raises FleetNotFound."""
    fleets.get(caller, fleet_id)
    return store.deployments(fleet_id, limit, after)


def get(caller: Caller, fleet_id: str, deployment_id: str) -> Deployment:
    """Two reads. Raises FleetNotFound, DeploymentNotFound."""
    fleets.get(caller, fleet_id)
    return of_fleet(fleet_id, deployment_id)


def of_fleet(fleet_id: str, deployment_id: str) -> Deployment:
    """One read, of a fleet that the caller is known to see. Raises DeploymentNotFound."""
    group = store.deployment(fleet_id, deployment_id) if is_id("dep", deployment_id) else None
    if group is None:
        raise DeploymentNotFound
    return group


def ids(fleet_id: str, limit: int) -> Sequence[str]:
    """The ids of up to `limit` groups of a fleet that the caller is known to see; one query."""
    return store.ids(fleet_id, limit).entries


def groups(ids: Iterable[tuple[str, str]]) -> dict[str, Deployment]:
    """Groups by id, each named by its fleet's id and its own; one batch read for each hundred."""
    return {group.id: group for group in store.groups(ids)}

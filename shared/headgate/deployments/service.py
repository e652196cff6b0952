"""A fleet's deployment groups: any member sees them, any writer creates a fleet with its Default group.

What a group runs is in `headgate.deployments.assignments`, its volume mounts in `headgate.deployments.mounts`: the
functions that only read groups do not load what checks a configuration.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from headgate.deployments import history_store, selector_store, store, variable_store
from headgate.deployments.events import GroupEvent
from headgate.deployments.model import Deployment, DeploymentNotFound
from headgate.fleets import service as fleets
from headgate.fleets.model import ExpiresIn, Fleet, FleetMode, FleetType
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id
from headgate.foundation.page import Slice
from headgate.storage.table import Write

# For other concepts, which use no store.
each, changed, unchanged, prove = store.each, store.changed, store.unchanged, store.prove
selectors_deleted = selector_store.deleting


def create_fleet(
    caller: Caller,
    label: str,
    fleet_type: FleetType,
    expires_in: ExpiresIn,
    managed_by: str | None = None,
    mode: FleetMode = "managed",
) -> Fleet:
    """Create a fleet with its token, a server or an observed fleet with its Default group; one transaction.

    Raises FleetsNotConfigured, LabelTaken, FleetLimitReached.
    """
    fleet = fleets.new_fleet(caller, label, fleet_type, expires_in, managed_by, mode)
    if fleet.on_kubernetes and not fleet.observed:
        return fleets.create(fleet)
    default = Deployment.default(fleet.id, fleet.created_at, observed=fleet.observed)
    event = history_store.put(GroupEvent.of("created", caller.principal, None, default))
    return fleets.create(replace(fleet, default_deployment_id=default.id), *store.writes_of_new(default), event)


def deployments(
    caller: Caller, fleet_id: str, limit: int, after: str | None, name: str | None = None
) -> Slice[Deployment]:
    """By name, or the one of that name; three reads. Raises FleetNotFound."""
    fleets.get(caller, fleet_id)
    if name is not None:
        group = store.named(fleet_id, name)
        return Slice([group] if group else [], None)
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


def deleting(caller: Caller, group: Deployment) -> list[Write]:
    """The writes that delete a group, with the event of it. Its history stays."""
    ended = replace(group, assignment=None, updated_at=clock.now(), revision=group.revision + 1)
    event = history_store.put(GroupEvent.of("deleted", caller.principal, group, ended))
    # Those of its own tokens that may be valid: the present one, and the one before.
    generations = range(max(1, group.token_generation - 1), group.token_generation + 1)
    tokens = [fleets.token_ends(group.id, n, None) for n in generations]
    selected = [selector_store.without(group.fleet_id, group.id)] if group.selector else []
    return [*store.deleting(group), *variable_store.deleting(group), *tokens, *selected, event]


def groups(ids: Iterable[tuple[str, str]]) -> dict[str, Deployment]:
    """Groups by id, each named by its fleet's id and its own; one batch read for each hundred."""
    return {group.id: group for group in store.groups(ids)}

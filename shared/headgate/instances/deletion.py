"""Deleting instances, deployment groups and fleets: any writer, once none of their collectors reports any longer.

A deletion is one transaction, whose conditions fail if a new collector joins the fleet between the count and the
deletion. docs/fleets-explained.md says what is left, and why.
"""

from __future__ import annotations

from typing import Final

from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.instances import store
from headgate.instances.counting import admission
from headgate.instances.counting.census import CensusEntry, shard_of
from headgate.instances.model import Instance, InstanceNotFound
from headgate.instances.reported import components, effective
from headgate.instances.state.model import STALE_AFTER
from headgate.storage.retry import retried, retry
from headgate.storage.table import transact

_MINUTES: Final = int(STALE_AFTER.total_seconds()) // 60


class StillReports(errors.Conflict):
    """A collector that reports would go on with what it runs, and nobody would see it."""

    code = "still_reports"


class GroupNotDeletable(errors.Conflict):
    """Something else depends on the group."""

    code = "deployment_in_use"


class FleetNotEmpty(errors.Conflict):
    """The fleet has groups that were made by people."""

    code = "fleet_not_empty"


@retried
def delete_instance(caller: Caller, fleet_id: str, instance_id: str) -> Instance:
    """Delete an instance that was stopped or is stale; one transaction. It is known again as soon as it reports.

    Raises FleetNotFound, InstanceNotFound, StillReports.
    """
    fleets.get(caller, fleet_id)
    at = clock.now()
    instance = store.instance(fleet_id, instance_id)
    if instance is None or instance.is_forgotten(at):
        raise InstanceNotFound
    if not (instance.reported.stopped or instance.is_stale(at)):
        raise StillReports(
            "This collector reports: uninstall it, or stop its supervisor, and delete it then; one that is gone "
            f"can be deleted {_MINUTES} minutes after its last message"
        )
    counted = store.shard(fleet_id, shard_of(instance.id))
    store.delete(instance, counted, counted.moved(CensusEntry.of(instance), None, at))
    return instance


@retried
def delete_group(caller: Caller, fleet_id: str, deployment_id: str) -> Deployment:
    """Delete a group none of whose collectors reports; one transaction. Those that are stale or stopped go with it.

    Raises FleetNotFound, DeploymentNotFound, StillReports, GroupNotDeletable for a Default group and during a rollout.
    """
    fleet = fleets.get(caller, fleet_id)
    group = deployments.of_fleet(fleet_id, deployment_id)
    if group.id == fleet.default_deployment_id:
        raise GroupNotDeletable("This is the fleet's Default group, which ends with the fleet alone")
    _require_no_rollout(group)
    joined = admission.nobody_joined(fleet_id)
    _require_quiet(fleet, "group", group.id)
    transact([*deployments.deleting(caller, group), joined])
    return group


def delete_fleet(caller: Caller, fleet_id: str) -> Fleet:
    """Delete a fleet with its tokens, its Default group, its counters and its lists of components; one transaction.

    The texts of observed collectors go after it; what a fault leaves of them expires.

    Raises FleetNotFound, FleetNotEmpty if it has other groups, StillReports, GroupNotDeletable during a rollout.
    """

    def once() -> Fleet:
        fleet = fleets.get(caller, fleet_id)
        groups = [deployments.of_fleet(fleet_id, each) for each in deployments.ids(fleet_id, 2)]
        if any(group.id != fleet.default_deployment_id for group in groups):
            raise FleetNotEmpty("This fleet has deployment groups: delete them first")
        for group in groups:
            _require_no_rollout(group)
        room = admission.removal(fleet_id)
        _require_quiet(fleet, "fleet")
        ended = [write for group in groups for write in deployments.deleting(caller, group)]
        beside = [deployments.selectors_deleted(fleet_id), components.removal(fleet_id)]
        transact([*fleets.deleting(fleet), *ended, room, *store.shards_deleted(fleet_id), *beside])
        return fleet

    deleted = retry(once)
    effective.delete_all(fleet_id)
    return deleted


def _require_no_rollout(group: Deployment) -> None:
    """A rollout without its group would stay open for ever."""
    if group.rollout is not None:
        raise GroupNotDeletable(
            f"A rollout of the group {group.name} is under way: abort it, or wait until it has ended"
        )


def _require_quiet(fleet: Fleet, what: str, *deployment_ids: str) -> None:
    """One query. Raises StillReports if collectors of the groups, or of the whole fleet if none is named, report."""
    reporting = store.census(fleet.id).reporting(clock.now())
    n = sum(reporting.get(group, 0) for group in deployment_ids or reporting)
    if n:
        collectors = "1 collector of this {} reports" if n == 1 else f"{n:,} collectors of this {{}} report"
        raise StillReports(
            f"{collectors.format(what)}: uninstall them, or move them to another group, and delete it then; those that "
            f"are gone count until {_MINUTES} minutes after their last message"
        )

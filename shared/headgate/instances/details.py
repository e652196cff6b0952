"""One collector instance for people: what is known of it, with names. The fleet service does not load this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headgate.configurations import service as configurations
from headgate.deployments.versions import Assignment
from headgate.fleets import service as fleets
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances import service
from headgate.instances.orders.model import Override, PendingOrder
from headgate.instances.reported import health_tree
from headgate.instances.reported.health_tree import HealthTree
from headgate.instances.service import SeenInstance
from headgate.instances.state.truth import Truth


@dataclass(frozen=True, slots=True)
class KnownInstance:
    """All that is known of an instance; `names` are those of the configurations in `truth`, by id."""

    seen: SeenInstance
    truth: Truth
    names: Mapping[str, str]
    override: Override | None
    orders: Sequence[PendingOrder]
    health_tree: HealthTree | None = None


def instance(caller: Caller, fleet_id: str, instance_id: str) -> KnownInstance:
    """Three reads, one of the configurations' names, and one if the parts of its collector are known.

    Raises FleetNotFound, InstanceNotFound.
    """
    at = clock.now()
    seen = service.seen(fleets.get(caller, fleet_id), instance_id, at)
    truth = Truth.of(seen.instance, seen.desired)
    moments = (truth.desired, truth.offered, truth.attempted, truth.running)
    override = seen.instance.orders.overridden(at)
    return KnownInstance(
        seen=seen,
        truth=truth,
        names=names(caller, (moment.assignment for moment in moments if moment)),
        override=override,
        # Those for components are the service's own.
        orders=[order for order in seen.instance.orders.pending if order.do != "components" and order.waits(at)],
        health_tree=health_tree.tree(fleet_id, instance_id) if seen.instance.reported.health_tree else None,
    )


def names(caller: Caller, assignments: Iterable[Assignment | None]) -> Mapping[str, str]:
    """The names of configurations by id, without those that are gone; one batch read for each hundred."""
    ids = {assignment.configuration_id for assignment in assignments if assignment}
    return configurations.names(caller.organization_id, ids)

"""Changes of a fleet's mode, by any writer: Headgate configures its collectors, or only observes them.

Nothing is sent by the change itself. docs/observed-fleets.md says what is kept.
"""

from __future__ import annotations

from dataclasses import replace

from headgate.audit import service as audit
from headgate.deployments import service
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet, FleetMode
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.storage.retry import retried
from headgate.storage.table import transact


class ModeNotChangeable(errors.Conflict):
    """Something of the fleet stands against the other mode; the message says what, and the way out."""

    code = "mode_not_changeable"


def obstacle(fleet: Fleet, groups: list[Deployment], mode: FleetMode) -> str | None:
    """Return the reason why the fleet cannot change to that mode; None if it can."""
    if fleet.on_kubernetes:
        return (
            "Headgate manages collectors of Kubernetes by its chart: create a managed Kubernetes fleet, and install "
            "the chart beside what runs"
        )
    if mode == "observed" and any(group.id != fleet.default_deployment_id for group in groups):
        return "An observed fleet has its Default group alone: delete the others first"
    if mode == "observed" and any(group.assignment or group.rollout for group in groups):
        return (
            "Collectors of this fleet run what Headgate assigned, or a rollout is under way: end the rollout, clear "
            "the assignment, or create an observed fleet and let them report there"
        )
    return None


@retried
def change(caller: Caller, fleet_id: str, mode: FleetMode) -> Fleet:
    """Change the mode of a fleet and its Default group; one transaction with the record of it.

    The same mode again changes nothing. Raises FleetNotFound, ModeNotChangeable.
    """
    before = fleets.get(caller, fleet_id)
    if before.mode == mode:
        return before
    groups = [service.of_fleet(fleet_id, group_id) for group_id in service.ids(fleet_id, 2)]
    reason = obstacle(before, groups, mode)
    if reason:
        raise ModeNotChangeable(reason)
    after, observed = replace(before, mode=mode), mode == "observed"
    writes = [fleets.changed(before, after)]
    for group in groups:
        changed = replace(
            group,
            observed=observed,
            adopted=not observed,
            cleared_revision=0,
            revision=group.revision + 1,
            updated_at=clock.now(),
        )
        writes.append(service.changed(group, changed))
    transact([*writes, audit.entry(caller, "fleet.mode_changed", f"fleets/{fleet_id}/mode", mode=mode)])
    return after

"""Assigning a version at once: recorded as a rollout without steps, which takes the place of one that is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headgate.deployments import assignments
from headgate.foundation.ids import new_id
from headgate.rollouts import store
from headgate.rollouts.model import Rollout
from headgate.rollouts.service import superseding

if TYPE_CHECKING:
    from headgate.deployments.assignments import AssignmentChange
    from headgate.deployments.events import Versions
    from headgate.deployments.model import Deployment
    from headgate.foundation.caller import Caller
    from headgate.storage.table import Write


def change(
    caller: Caller,
    fleet_id: str,
    deployment_id: str,
    changes: Mapping[str, str | int | None],
    message: str | None = None,
) -> AssignmentChange:
    """Change a group, as `assignments.change` does. It also stores the rollout, if a version is assigned."""

    def rollout(before: Deployment, after: Deployment, versions: Versions) -> Sequence[Write]:
        at = after.updated_at
        recorded = Rollout(
            id=new_id("rol", at),
            organization_id=caller.organization_id,
            fleet_id=fleet_id,
            deployment_id=deployment_id,
            to=versions[1],
            before=versions[0],
            strategy=None,
            gates=None,
            message=message,
            status="completed",
            created_by=caller.principal,
            created_at=at,
            updated_at=at,
            finished_at=at,
        )
        return [store.recorded(recorded), *superseding(before, "An assignment", at)]

    return assignments.change(caller, fleet_id, deployment_id, changes, message, beside=rollout)

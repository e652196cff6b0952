"""The reach of an assignment at once: the share of the group's collectors that run it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from headgate.deployments.model import Deployment
from headgate.deployments.versions import Assignment
from headgate.instances.state.model import InstanceState
from headgate.rollouts.model import Rollout

ReachState = Literal["assigned", "applied", "failed", "completed", "superseded"]


@dataclass(frozen=True, slots=True)
class Reach:
    """`completed` means that the group has no collectors, `superseded` that something else was assigned since."""

    state: ReachState
    total: int
    applied: int
    failed: int


def reach(rollout: Rollout, group: Deployment, instances: Mapping[InstanceState, int]) -> Reach | None:
    """Count the group's collectors that an assignment at once has reached; None for a rollout in steps."""
    if rollout.strategy is not None:
        return None
    return of_assignment(rollout.created_at, rollout.to.assignment if rollout.to else None, group, instances)


def of_assignment(
    made_at: datetime, assignment: Assignment | None, group: Deployment, instances: Mapping[InstanceState, int]
) -> Reach:
    """Count the group's collectors that an assignment of that time has reached."""
    # By its time, as the same version may have been assigned before; a group's times are stored in whole milliseconds.
    at = group.assigned_at
    is_current = at is not None and timedelta(0) <= made_at - at < timedelta(milliseconds=1)
    if not is_current or assignment is None or assignment != group.assignment:
        return Reach("superseded", 0, 0, 0)
    # A collector that takes no configuration from Headgate is not on its way to one.
    total = sum(n for state, n in instances.items() if state not in ("running", "unhealthy"))
    applied, failed = instances.get("applied", 0), instances.get("apply_failed", 0)
    state: ReachState = "failed" if failed else "assigned"
    if applied == total:
        state = "applied" if total else "completed"
    return Reach(state, total, applied, failed)

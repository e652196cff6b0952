"""A group's timeline: who assigned what, when and why, for 90 days. Any member reads it, also of a deleted group.

docs/fleets-explained.md says what an event holds, and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headgate.configurations import service as configurations
from headgate.configurations.model import ConfigurationNotFound
from headgate.deployments import history_store as store
from headgate.deployments import service as deployments
from headgate.deployments.events import KEPT, GroupEvent
from headgate.deployments.model import DeploymentNotFound
from headgate.deployments.versions import Assignment, NamedVersion
from headgate.fleets import service as fleets
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.page import Slice

recorded = store.put
"""The event for the transaction of the change that it tells of."""


class NotKnown(errors.NotFound):
    """The time is before what was recorded. Saying what is assigned now would be a guess."""

    code = "not_known"
    detail = "What was assigned then was not recorded; ask for a later time"


class TimeRefused(errors.Invalid):
    """The time is not one that the history covers."""

    code = "time_not_covered"
    at = ("query", "at")


@dataclass(frozen=True, slots=True)
class AssignedThen:
    """The assignment of a group at a time, None for none, and the event that made it, if it is not too old."""

    at: datetime
    assigned: NamedVersion | None
    since: datetime
    event: GroupEvent | None


def require_covered(at: datetime, now: datetime) -> None:
    """Raises TimeRefused for a time that the history does not cover, also that of an instance."""
    if at > now:
        raise TimeRefused("This time lies in the future")
    if at <= now - KEPT:
        raise TimeRefused(f"History is kept for {KEPT.days} days; ask for a later time")


def events(caller: Caller, fleet_id: str, deployment_id: str, limit: int, after: str | None) -> Slice[GroupEvent]:
    """Newest first; two reads, or three if there are none. Raises FleetNotFound, DeploymentNotFound."""
    fleets.get(caller, fleet_id)
    page = store.newest(fleet_id, deployment_id, limit, after)
    oldest = clock.now() - KEPT
    recent = [event for event in page.entries if event.at > oldest]
    if not recent and after is None:
        deployments.of_fleet(fleet_id, deployment_id)
    return Slice(recent, page.position if len(recent) == len(page.entries) else None)


def assigned_at(caller: Caller, fleet_id: str, deployment_id: str, at: datetime) -> AssignedThen:
    """Returns the assignment at that time; four reads at most, and one for a name.

    Raises FleetNotFound, DeploymentNotFound, TimeRefused, NotKnown.
    """
    fleets.get(caller, fleet_id)
    now = clock.now()
    require_covered(at, now)
    until = store.last_until(fleet_id, deployment_id, at)
    if until is not None:
        if until.kind == "deleted":
            raise DeploymentNotFound
        return AssignedThen(at, until.assigned, until.at, until if until.at > now - KEPT else None)
    following = store.first_after(fleet_id, deployment_id, at)
    if following is not None:
        if following.kind == "created":
            raise DeploymentNotFound
        return _not_before(at, following.before_since, following.before)
    group = deployments.of_fleet(fleet_id, deployment_id)
    return _not_before(at, group.assigned_at, named(caller, group.assignment))


def named(caller: Caller, assignment: Assignment | None) -> NamedVersion | None:
    """The assignment with its configuration's name; one read if there is one."""
    if assignment is None:
        return None
    try:
        name = configurations.summary(caller, assignment.configuration_id).name
    except ConfigurationNotFound:
        return NamedVersion(assignment, None)
    return NamedVersion(assignment, name)


def _not_before(at: datetime, since: datetime | None, version: NamedVersion | None) -> AssignedThen:
    if since is None or at < since:
        raise NotKnown
    return AssignedThen(at, version, since, None)

"""Which versions an instance has proved good: it ran them healthily for a time, and they passed on what they took."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from headgate.deployments.versions import HealthyVersion
from headgate.instances.desired.model import NOTHING
from headgate.settings import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headgate.deployments.model import Deployment
    from headgate.instances.desired.model import Desired, Outcome
    from headgate.instances.model import Instance
    from headgate.instances.reported.model import Report

_MOST: Final = 4


def healthy_for() -> timedelta:
    """How long a version runs healthily until it has proved good: two heartbeats."""
    return timedelta(seconds=2 * settings().fleet_heartbeat_seconds)


def proved(before: Instance, after: Instance, report: Report, desired: Desired, at: datetime) -> Instance:
    """The instance with the versions that it has proved good by this message, without those that were taken back."""
    if desired.assignment is None and after.reported.config_hash == NOTHING and after.reported.status == "applied":
        # The group was cleared: nothing from before is gone back to.
        outcomes = tuple(outcome for outcome in after.outcomes if outcome.config_hash == NOTHING)
        return replace(after, healthy=(), well_since=None, outcomes=outcomes)
    kept = _not_taken_back(after.healthy, desired)
    running = _runs_well(after)
    if running is None or running.assignment is None:
        return replace(after, healthy=kept, well_since=None)
    steady = before.well_since is not None and before.reported == after.reported and not _ended(before, after)
    well_since = before.well_since if steady and before.well_since else at
    after = replace(after, healthy=kept, well_since=well_since)
    if at - well_since < healthy_for() or not _passes_on(report):
        return after
    # The revision is that of the first time: it may have run meanwhile in the place of one that failed.
    version = next(
        (one for one in kept if (one.assignment, one.collector) == (running.assignment, running.collector)),
        HealthyVersion(running.assignment, running.collector, running.revision),
    )
    return replace(after, healthy=(version, *(other for other in kept if other != version))[:_MOST])


def proves(after: Instance, group: Deployment, desired: Desired) -> bool:
    """Whether the instance is the first of its group to prove the version that is assigned to the group."""
    if group.proven_revision == group.assigned_revision or desired.revision != group.assigned_revision:
        return False
    newest = after.healthy[0] if after.healthy else None
    collector = desired.collector.version if desired.collector else None
    proven = newest is not None and (newest.assignment, newest.collector) == (desired.assignment, collector)
    return proven and after.state == "applied" and desired.assignment == group.assignment


def _not_taken_back(versions: Sequence[HealthyVersion], desired: Desired) -> Sequence[HealthyVersion]:
    """Without what the group took back, what ran before it was cleared, and what ran after the desired version."""
    kept = tuple(
        version for version in versions if version.revision <= desired.revision and not desired.forgets(version)
    )
    places = [place for place, version in enumerate(kept) if version.assignment == desired.assignment]
    return kept[places[0] :] if places else kept


def _runs_well(instance: Instance) -> Outcome | None:
    """What it runs, if its collector is healthy with it."""
    reported, running = instance.reported, instance.running()
    well = instance.health is not None and instance.health.healthy and reported.status == "applied"
    return running if well and running is not None and running.config_hash == reported.config_hash else None


def _ended(before: Instance, after: Instance) -> bool:
    return (after.host.exits or 0) > (before.host.exits or 0)


def _passes_on(report: Report) -> bool:
    """Whether most of what the collector counts was sent; true if it counted nothing, or serves no metrics."""
    counters = report.host.counters if report.host else None
    return counters is None or counters.sent > counters.failed or not (counters.accepted or counters.failed)

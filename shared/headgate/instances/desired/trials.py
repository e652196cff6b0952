"""News of an offer in a message: its result, and whether the instance has proved it good.

A version is proved good by running healthily for a time, while it passes on most of what it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.model import Deployment
from headgate.deployments.versions import HealthyVersion
from headgate.foundation.settings import settings
from headgate.instances.desired.model import NOTHING, ConfigOutcome, Desired, Trials
from headgate.instances.model import Instance
from headgate.instances.reported.model import AgentReport, Cause, Health, ReportedConfig

NEVER_HEALTHY: Final = "Its collector did not become healthy within a minute"
_MESSAGE: Final = 2_000
_MOST_HEALTHY: Final = 4


def healthy_for() -> timedelta:
    """Healthy time until a version counts as good: two heartbeats."""
    return timedelta(seconds=2 * settings().fleet_heartbeat_seconds)


def ended(
    trials: Trials, before: ReportedConfig, report: AgentReport, health: Health | None, desired: Desired, at: datetime
) -> Trials:
    """The trials after a message. `before` is what was reported until then, `health` what is known of it by now."""
    config = report.config or _judged_again(trials, before)
    if config is None or not config.config_hash or config.status not in ("applied", "failed"):
        return trials
    known = trials.outcome_of(config.config_hash)
    if known is None:
        # Offered by another server, or before this instance was known here: not under the present assignment.
        if config.config_hash not in (desired.config_hash, NOTHING):
            return trials
        offered = desired if config.config_hash == desired.config_hash else Desired(None, 0)
        known = ConfigOutcome.of(offered, "offered", revision=0)
    healthy = health is not None and health.healthy
    status: Literal["applied", "failed"] = "applied" if config.status == "applied" else "failed"
    if status == "applied" and known.assignment is not None and known.status != "applied" and not healthy:
        # Its supervisor calls a config applied without trying if it is offered what it has already.
        if config.config_hash == desired.config_hash and known.revision != desired.revision:
            # A person has assigned it again.
            again = replace(known, status="offered", revision=desired.revision, returns=1, unclear_since=at)
            return trials.with_changed(again)
        if known.status == "failed":
            return trials
        status = "failed"
    if status == "failed":
        still_open = _open(known, "unclear" if config.status == "applied" else report.cause, at, healthy=healthy)
        if still_open is not None:
            return trials.with_changed(still_open)
    text = "" if status == "applied" else config.message or (health.error if health else "") or NEVER_HEALTHY
    # No older version is sent in its place then, and it does not count again.
    killed = known.status == "applied" and known.returned_in_vain and report.cause in (None, "killed", "host")
    stays = status == "failed" and (killed or known.status == "failed")
    returns = known.returns if stays else 0
    outcome = replace(known, status=status, message=text[:_MESSAGE], returns=returns, unclear_since=None)
    # The config that was applied last comes before all others that were applied.
    counted = replace(known, returns=outcome.returns)
    if outcome == counted and (status == "failed" or known == trials.last_applied()):
        # It keeps its place and its time.
        return trials.with_changed(outcome)
    return trials.with_outcome(replace(outcome, at=at))


def proved(before: Instance, after: Instance, report: AgentReport, desired: Desired, at: datetime) -> Trials:
    """The trials with the versions that it has proved good by this message, without those that were taken back."""
    trials, config = after.trials, after.reported.config
    if desired.assignment is None and config.config_hash == NOTHING and config.status == "applied":
        # The group was cleared: nothing from before is gone back to.
        return Trials(tuple(outcome for outcome in trials.outcomes if outcome.config_hash == NOTHING))
    healthy = _not_taken_back(trials.healthy, desired)
    running = _runs_well(after)
    if running is None or running.assignment is None:
        return replace(trials, healthy=healthy, well_since=None)
    was_well = before.trials.well_since
    ended = (after.reported.host.exits or 0) > (before.reported.host.exits or 0)
    steady = was_well is not None and before.reported.config == config and not ended
    well_since = was_well if steady and was_well else at
    if at - well_since < healthy_for() or not _passes_on(report):
        return replace(trials, healthy=healthy, well_since=well_since)
    # The revision is that of the first time: it may have run meanwhile in the place of one that failed.
    version = next(
        (each for each in healthy if each.identity == running.identity),
        HealthyVersion(running.assignment, running.collector, running.revision, running.variables),
    )
    healthy = (version, *(each for each in healthy if each != version))[:_MOST_HEALTHY]
    return replace(trials, healthy=healthy, well_since=well_since)


def proves(after: Instance, group: Deployment, desired: Desired) -> bool:
    """True if the instance is the first of its group to prove the version that is assigned to the group."""
    if group.proven_revision == group.assigned_revision or desired.revision != group.assigned_revision:
        return False
    newest = after.trials.healthy[0] if after.trials.healthy else None
    collector = desired.collector.version if desired.collector else None
    proven = newest is not None and newest.identity == (desired.assignment, collector, desired.variables)
    return proven and after.standing.state == "applied" and desired.assignment == group.assignment


def _open(known: ConfigOutcome, cause: Cause | None, at: datetime, *, healthy: bool) -> ConfigOutcome | None:
    """The outcome of a config that failed for a reason which does not count against it yet; None if it has failed.

    One whose collector was killed is offered again if it was applied before, one that the host could not try always.
    """
    if known.status == "failed":
        return None
    if cause == "unclear" or (cause is None and known.unclear_since is not None):
        return replace(known, unclear_since=known.unclear_since or at) if known.is_open(at, healthy=healthy) else None
    again = known.may_return if cause == "killed" else cause == "host" and not known.returned_in_vain
    return known if again else None


def _judged_again(trials: Trials, reported: ReportedConfig) -> ReportedConfig | None:
    """The earlier report, if it is unsettled and the message has no other news of it.

    An OpAMP client does not send a status that is equal to the one before.
    """
    known = trials.outcome_of(reported.config_hash)
    if known is None or known.status == "failed":
        return None
    in_vain = known.returned_in_vain and reported.status == "failed"
    return reported if in_vain or known.unclear_since is not None else None


def _not_taken_back(versions: Sequence[HealthyVersion], desired: Desired) -> Sequence[HealthyVersion]:
    """Without what the group took back, what ran before it was cleared, and what ran after the desired version."""
    remaining = tuple(
        version for version in versions if version.revision <= desired.revision and not desired.forgets(version)
    )
    places = [place for place, version in enumerate(remaining) if version.assignment == desired.assignment]
    return remaining[places[0] :] if places else remaining


def _runs_well(instance: Instance) -> ConfigOutcome | None:
    """The running version, if its collector is healthy with it."""
    config, running = instance.reported.config, instance.running()
    well = instance.reported.is_healthy and config.status == "applied"
    return running if well and running is not None and running.config_hash == config.config_hash else None


def _passes_on(report: AgentReport) -> bool:
    """True if most of what the collector counts was sent, if it counted nothing, or if it serves no metrics."""
    counters = report.host.counters if report.host else None
    return counters is None or counters.sent > counters.failed or not (counters.accepted or counters.failed)

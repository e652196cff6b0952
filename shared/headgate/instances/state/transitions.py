"""What a message of an agent makes of an instance: how its configs ended, and its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from headgate.instances.desired import proving
from headgate.instances.desired.model import NOTHING, Desired, Outcome
from headgate.instances.desired.obstacles import obstacle, runs_collector
from headgate.instances.model import Instance
from headgate.instances.reported.host import UNKNOWN
from headgate.instances.reported.model import Cause, Description, Health, Report, ReportedConfig
from headgate.instances.state.model import InstanceState

WITHOUT_PIPELINES: Final = "service::pipelines: service must have at least one pipeline"
"""The collector's own message: it refuses to start so without a supervisor."""
STOPPED: Final = "The supervisor was shut down"
UNINSTALLED: Final = "The supervisor was uninstalled"
ANOTHER_TEXT: Final = (
    "The host reports that it applied this version, but runs another text. `retry` offers it again; if that does not "
    "help, install the host again"
)
NEVER_HEALTHY: Final = "Its collector did not become healthy within a minute"
_MESSAGE: Final = 2_000
_STATE_MESSAGE: Final = 300


def after_report(before: Instance, report: Report, desired: Desired, at: datetime) -> Instance:
    """The instance after a message: what it reported, how its configs ended, and its state."""
    reported = report.config or before.reported
    # A message that was sent before it said that it stops may arrive later.
    late = before.stopped and 0 < report.sequence_num <= before.sequence_num
    # A supervisor that reports its host does so in every full message: this one was replaced by one that does not.
    silent_host = UNKNOWN if report.full else before.host
    after = replace(
        before,
        sequence_num=report.sequence_num,
        accepts_config=report.accepts_config,
        description=_description(before, report),
        health=_health(before, report),
        reported=reported,
        applying_since=_applying_since(before, reported, at),
        outcomes=_outcomes(before, report, desired, at),
        stopped=report.leaves or late,
        uninstalled=(late and before.uninstalled) or _is_uninstalled(report),
        host=report.host.after(before.host) if report.host else silent_host,
    )
    return judged(proving.proved(before, after, report, desired, at), desired)


def _health(before: Instance, report: Report) -> Health | None:
    """What it says of its collector. What it said before says nothing of one that is late to become healthy."""
    return report.health or (None if report.cause == "unclear" else before.health)


def _is_uninstalled(report: Report) -> bool:
    return report.leaves and report.host is not None and report.host.uninstalled


def _description(before: Instance, report: Report) -> Description:
    """What it says of itself; of its collector, what its host saw of the process that runs."""
    said, seen = report.description or before.description, report.host.collector_version if report.host else None
    return replace(said, collector_version=seen) if seen else said


def _applying_since(before: Instance, reported: ReportedConfig, at: datetime) -> datetime | None:
    if reported.status != "applying":
        return None
    return before.applying_since if reported == before.reported else at


def with_failure(instance: Instance, config: Desired, desired: Desired, message: str, at: datetime) -> Instance:
    """The instance with `config` counted as failed, whatever the agent reported."""
    outcome = Outcome.of(config, "failed", message, revision=desired.revision, at=at)
    return judged(instance.with_outcome(outcome), desired)


def to_check(instance: Instance, desired: Desired) -> bool:
    """Whether it reports what is assigned as applied, and the text of that was not looked at yet."""
    reported, outcome = instance.reported, instance.outcome_of(desired.config_hash)
    if reported.config_hash != desired.config_hash or reported.status != "applied" or instance.failure_of(desired):
        return False
    return outcome is None or outcome.text_hash is None or outcome.status == "failed"


def with_text(instance: Instance, desired: Desired, text_hash: str, at: datetime) -> Instance:
    """The instance with the hash of the text that it reports as applied."""
    known = instance.outcome_of(desired.config_hash)
    if known is None:
        applied = Outcome.of(desired, "applied", "", text_hash, at=at)
        return judged(instance.with_outcome(applied), desired)
    hashed = replace(known, text_hash=text_hash)
    outcomes = tuple(hashed if outcome is known else outcome for outcome in instance.outcomes)
    return judged(replace(instance, outcomes=outcomes), desired)


def judged(instance: Instance, desired: Desired) -> Instance:
    """The instance with the state that follows from what it reported and what it is to run."""
    state, message = _state(instance, desired)
    return replace(instance, state=state, state_message=message and _brief(message), state_revision=desired.revision)


def _brief(message: str) -> str:
    """The beginning, which is the cause; the outcome of the config has all of it."""
    return message if len(message) <= _STATE_MESSAGE else message[: _STATE_MESSAGE - 1].rstrip() + "…"


def _state(instance: Instance, desired: Desired) -> tuple[InstanceState, str | None]:
    """Applied only if the collector reports health with what is assigned: a supervisor alone may be wrong."""
    if instance.uninstalled:
        return "stopped", UNINSTALLED
    failure = instance.failure_of(desired)
    if failure is not None:
        return "apply_failed", failure.message or None
    reported, health = instance.reported, instance.health
    if instance.stopped:
        return "stopped", STOPPED
    if reported.config_hash != desired.config_hash:
        return "pending_pickup", obstacle(instance, desired.collector)
    outcome = instance.outcome_of(desired.config_hash)
    if reported.status == "failed" and outcome is not None and outcome.unclear_since is not None:
        # Its collector may be slow.
        return "applying", reported.message or None
    if reported.status == "applied" and instance.runs_another_text(desired):
        return "apply_failed", ANOTHER_TEXT
    if desired.assignment is None:
        return ("idle" if reported.status == "applied" else "pending_pickup"), None
    if reported.status == "applied" and desired.collector and not runs_collector(instance, desired.collector):
        version, seen = desired.collector.version, instance.description.collector_version
        return "applying", f"The host has not been seen to run collector {version}; it runs {seen or 'none'}"
    if reported.status == "applied" and health is not None:
        if health.healthy:
            return "applied", None
        # Without an error its collector starts or is being stopped, and does not run what is assigned yet.
        return ("apply_failed", health.error) if health.error else ("pending_pickup", None)
    return ("applying" if reported.status == "applying" else "pending_pickup"), None


def _outcomes(before: Instance, message: Report, desired: Desired, at: datetime) -> Sequence[Outcome]:
    """The outcomes with what the agent reports of a config that it was offered; the newest first."""
    report = message.config or _judged_again(before)
    if report is None or not report.config_hash or report.status not in ("applied", "failed"):
        return before.outcomes
    known = before.outcome_of(report.config_hash)
    if known is None:
        # Offered by another server, or before this instance was known here: not under the present assignment.
        if report.config_hash not in (desired.config_hash, NOTHING):
            return before.outcomes
        config = desired if report.config_hash == desired.config_hash else Desired(None, 0)
        known = Outcome.of(config, "offered", revision=0)
    health = _health(before, message)
    status: Literal["applied", "failed"] = "applied" if report.status == "applied" else "failed"
    if status == "applied" and _is_unproven(known, health):
        if report.config_hash == desired.config_hash and known.revision != desired.revision:
            # A person has assigned it again.
            again = replace(known, status="offered", revision=desired.revision, returns=1, unclear_since=at)
            return tuple(again if other is known else other for other in before.outcomes)
        if known.status == "failed":
            return before.outcomes
        status = "failed"
    if status == "failed":
        still_open = _open(known, "unclear" if report.status == "applied" else message.cause, health, at)
        if still_open is not None:
            return tuple(still_open if other is known else other for other in before.outcomes)
    text = "" if status == "applied" else report.message or (health.error if health else "") or NEVER_HEALTHY
    # No older version is sent in its place then, and it does not count again.
    killed = known.status == "applied" and known.returned_in_vain and message.cause in (None, "killed", "host")
    stays = status == "failed" and (killed or known.status == "failed")
    returns = known.returns if stays else 0
    outcome = replace(known, status=status, message=text[:_MESSAGE], returns=returns, unclear_since=None)
    # The config that was applied last comes before all others that were applied.
    counted = replace(known, returns=outcome.returns)
    if outcome == counted and (status == "failed" or known == before.last_applied()):
        # It keeps its place and its time.
        return tuple(outcome if other is known else other for other in before.outcomes)
    return before.with_outcome(replace(outcome, at=at)).outcomes


def _is_unproven(known: Outcome, health: Health | None) -> bool:
    """Whether its supervisor calls a config applied that was not healthy here yet.

    It does so without trying if it is offered what it has already.
    """
    healthy = health is not None and health.healthy
    return known.assignment is not None and known.status != "applied" and not healthy


def _open(known: Outcome, cause: Cause | None, health: Health | None, at: datetime) -> Outcome | None:
    """The outcome of a config that failed for a reason which does not count against it yet; None if it has failed.

    One whose collector was killed is offered again if it was applied before, one that the host could not try always.
    """
    if known.status == "failed":
        return None
    if cause == "unclear" or (cause is None and known.unclear_since is not None):
        healthy = health is not None and health.healthy
        return replace(known, unclear_since=known.unclear_since or at) if known.is_open(at, healthy=healthy) else None
    again = known.may_return if cause == "killed" else cause == "host" and not known.returned_in_vain
    return known if again else None


def _judged_again(instance: Instance) -> ReportedConfig | None:
    """What it reported before, if that is not settled and it has no other news of it.

    Its client does not send a status that is equal to the one before.
    """
    known = instance.outcome_of(instance.reported.config_hash)
    if known is None or known.status == "failed":
        return None
    in_vain = known.returned_in_vain and instance.reported.status == "failed"
    return instance.reported if in_vain or known.unclear_since is not None else None

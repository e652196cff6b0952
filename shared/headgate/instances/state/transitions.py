"""Apply an agent's message to its instance: the report, the results of configs, and the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from headgate.instances.desired import trials
from headgate.instances.desired.model import ConfigOutcome, Desired
from headgate.instances.desired.offers import obstacle
from headgate.instances.model import Instance, Standing
from headgate.instances.orders.model import PendingOrder
from headgate.instances.reported.host import HostReport
from headgate.instances.reported.model import AgentReport, ReportedConfig
from headgate.instances.state.model import InstanceState

WITHOUT_PIPELINES: Final = "service::pipelines: service must have at least one pipeline"
"""The collector's own message: it refuses to start so without a supervisor."""
STOPPED: Final = "The supervisor was shut down"
UNINSTALLED: Final = "The supervisor was uninstalled"
ANOTHER_TEXT: Final = (
    "The host reports that it applied this version, but runs another text. `retry` offers it again; if that does not "
    "help, install the host again"
)
TAKES_NO_CONFIGURATION: Final = (
    "This collector does not accept remote configuration: install Headgate's supervisor on its host, or move it to an "
    "observed fleet"
)
_UNHEALTHY: Final = "The collector reports that it is not healthy, without a reason: it may be starting or stopping"
_STATE_MESSAGE: Final = 300


def with_orders(
    before: Instance, said: HostReport | None, desired: Desired, at: datetime
) -> tuple[Instance, Sequence[PendingOrder]]:
    """The instance after the orders that a message says are done, before what else it says; and what was done now.

    At the first message after an order to retry, the service forgets that the version failed.
    """
    pending = before.orders.pending
    if not pending:
        return before, ()
    if any(order.do == "retry" and order.seen_at is None and order.waits(at) for order in pending):
        before = before.without_failure(desired)
    orders, done = before.orders.after(said, before.reported.host.can, at)
    return replace(before, orders=orders), done


def after_report(
    before: Instance, report: AgentReport, desired: Desired, at: datetime, *, sends: bool = True
) -> Instance:
    """The instance after a message: what it reported, how its configs ended, and its state.

    `sends` is whether its group sends it configurations.
    """
    # A message that was sent before it said that it stops may arrive later.
    late = before.reported.stopped and 0 < report.sequence_num <= before.contact.sequence_num
    if report.config and _is_of_before(before, report, report.config):
        report = replace(report, config=replace(report.config, status="unset"))
    reported = before.reported.after(report, at, late=late, sends=sends)
    ended = trials.ended(before.trials, before.reported.config, report, reported.health, desired, at)
    contact = replace(before.contact, sequence_num=report.sequence_num)
    after = replace(before, contact=contact, reported=reported, trials=ended)
    return judged(replace(after, trials=trials.proved(before, after, report, desired, at)), desired)


def _is_of_before(before: Instance, report: AgentReport, config: ReportedConfig) -> bool:
    """True if a process that has just started repeats what the one before said of a config that it does not run.

    A kill, a power cut or a full disk leaves that. The config is offered again.
    """
    if not 0 == report.sequence_num < before.contact.sequence_num:
        return False
    offered, runs = before.trials.outcome_of(config.config_hash), report.host.text_hash if report.host else None
    differs = offered is not None and None not in (offered.text_hash, runs) and offered.text_hash != runs
    return config.status == "applying" or (config.status == "applied" and differs)


def with_failure(instance: Instance, config: Desired, desired: Desired, message: str, at: datetime) -> Instance:
    """The instance with `config` counted as failed, whatever the agent reported."""
    outcome = ConfigOutcome.of(config, "failed", message, revision=desired.revision, at=at)
    return judged(replace(instance, trials=instance.trials.with_outcome(outcome)), desired)


def to_check(instance: Instance, desired: Desired) -> bool:
    """True if it reports the assigned version as applied, and its text was not looked at yet."""
    config = instance.reported.config
    if config.config_hash != desired.config_hash or config.status != "applied":
        return False
    outcome = instance.trials.outcome_of(desired.config_hash)
    if outcome is None:
        return True
    return not outcome.is_failure_of(desired) and (outcome.text_hash is None or outcome.status == "failed")


def with_text(instance: Instance, desired: Desired, text_hash: str, at: datetime) -> Instance:
    """The instance with the hash of the text that it reports as applied."""
    known = instance.trials.outcome_of(desired.config_hash)
    if known is None:
        changed = instance.trials.with_outcome(ConfigOutcome.of(desired, "applied", "", text_hash, at=at))
    else:
        changed = instance.trials.with_changed(replace(known, text_hash=text_hash))
    return judged(replace(instance, trials=changed), desired)


def judged(instance: Instance, desired: Desired) -> Instance:
    """The instance with the state that follows from what it reported and what it is to run."""
    state, message = _state(instance, desired)
    return replace(instance, standing=Standing(state, message and _brief(message), desired.revision))


def _brief(message: str) -> str:
    """The beginning, which is the cause; the outcome of the config has all of it."""
    return message if len(message) <= _STATE_MESSAGE else message[: _STATE_MESSAGE - 1].rstrip() + "…"


def _state(instance: Instance, desired: Desired) -> tuple[InstanceState, str | None]:
    """Applied only if the collector reports health with what is assigned: a supervisor alone may be wrong."""
    outcome, reported = instance.trials.outcome_of(desired.config_hash), instance.reported
    if reported.uninstalled:
        return "stopped", UNINSTALLED
    if outcome is not None and outcome.is_failure_of(desired):
        return "apply_failed", outcome.message or None
    config, health = reported.config, reported.health
    if reported.stopped:
        return "stopped", STOPPED
    if not reported.accepts_config:
        if desired.assignment is not None:
            return "pending_pickup", TAKES_NO_CONFIGURATION
        if health is None or health.healthy:
            return "running", None
        return "unhealthy", health.error or _UNHEALTHY
    if config.config_hash != desired.config_hash:
        return "pending_pickup", obstacle(instance, desired)
    if config.status == "failed" and outcome is not None and outcome.unclear_since is not None:
        # Its collector may be slow.
        return "applying", config.message or None
    if config.status == "applied" and outcome is not None and instance.runs_another_text(outcome):
        return "apply_failed", ANOTHER_TEXT
    if desired.assignment is None:
        return ("idle" if config.status == "applied" else "pending_pickup"), None
    if config.status == "applied" and desired.collector and not reported.runs_collector(desired.collector):
        version, seen = desired.collector.version, reported.description.collector_version
        return "applying", f"The host has not been seen to run collector {version}; it runs {seen or 'none'}"
    if config.status == "applied" and not reported.runs_variables(desired.variables):
        which = f"revision {desired.variables.revision}" if desired.variables else "its install"
        return "applying", f"The host has not been seen to run with the variables of {which}"
    if config.status == "applied" and health is not None:
        if health.healthy:
            return "applied", None
        # Without an error its collector starts or is being stopped, and does not run what is assigned yet.
        return ("apply_failed", health.error) if health.error else ("pending_pickup", None)
    return ("applying" if config.status == "applying" else "pending_pickup"), None

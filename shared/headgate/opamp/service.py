"""The fleet service: one message of an agent in, one answer out. All state is in the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from headgate.configurations import published
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.foundation import clock, errors
from headgate.foundation.ids import is_id
from headgate.instances import model
from headgate.instances import service as instances
from headgate.instances.model import Desired, Instance, Report
from headgate.observability.log import logger
from headgate.opamp import messages
from headgate.opamp.messages import Offer, Reply
from headgate.settings import settings
from headgate.storage.retry import retry

FULL_STATE_EVERY: Final = timedelta(hours=1)
"""A message that was lost while nothing was under way is made up for within this time."""
_CONFLICTS: Final = 3
# A fleet that started together spreads its full reports over ten minutes.
_SPREAD_SECONDS: Final = 600


class NotOfThisFleet(errors.Forbidden):
    """The token is valid, and the group is not one of its fleet. The message does not say why."""

    code = "not_of_this_fleet"

    def __init__(self) -> None:
        super().__init__("The token does not give access to this deployment")


def exchange(credential: str, deployment_id: str, body: bytes) -> bytes:
    """Answer an agent's message: one batch read, and if there is something to store, another read and a transaction.

    Raises NotAuthenticated, NotOfThisFleet, NotOpamp, Contention.
    """
    sender = _Sender.of(credential, deployment_id)
    try:
        report = messages.decode(body)
    except messages.NotOpamp:
        sender.authenticate()
        raise
    return retry(lambda: _answer(sender, report)).encode()


@dataclass(frozen=True, slots=True)
class _Sender:
    """The sender that a message claims. `fleet_id` is where its token was last found; that alone grants nothing."""

    token_hash: str
    fleet_id: str
    deployment_id: str

    @classmethod
    def of(cls, credential: str, deployment_id: str) -> _Sender:
        token_hash = tokens.hash_of_credential(credential)
        if not is_id("dep", deployment_id):
            raise NotOfThisFleet
        return cls(token_hash, _fleet_of(token_hash), deployment_id)

    def authenticate(self) -> None:
        """One read. Raises NotAuthenticated."""
        tokens.require_valid(fleets.token(self.token_hash), self.fleet_id, clock.now())


@lru_cache(maxsize=1_000)
def _fleet_of(token_hash: str) -> str:
    """The fleet of a token. Cached, because it never changes; whether the token is valid is read with each message."""
    return tokens.require_found(fleets.token(token_hash)).fleet_id


def _answer(sender: _Sender, report: Report) -> Reply:
    """Raises LostRace if another message of the same instance, or of its counters, was first."""
    at = clock.now()
    stored = instances.sender(sender.token_hash, sender.fleet_id, sender.deployment_id, model.instance_id(report.uid))
    tokens.require_valid(stored.token, sender.fleet_id, at)
    if stored.group is None:
        raise NotOfThisFleet
    if report.wants_uid:
        return Reply(report.uid, new_uid=model.new_uid(at))
    before, desired = stored.instance, Desired.of(stored.group)
    check = _sequence_check(before, report, at)
    if before is not None and check.conflicts >= _CONFLICTS:
        instances.save(before, replace(before, conflicts=0))
        logger.warning("instance_uid_in_use_twice", instance_id=before.id, fleet_id=before.fleet_id)
        return Reply(report.uid, new_uid=model.new_uid(at))
    known = _instance_before(before, sender, report, at)
    after = _without_pipelines_failed(model.after_report(known, report, desired), report, desired)
    sent = None
    # An agent that is asked for its full state gets no offer yet: its next message says what it has.
    if not check.request_full_state and not report.leaves:
        after, sent = _offer(after, desired)
    interval = settings().fleet_heartbeat_seconds
    send_interval = report.takes_interval and (
        report.sequence_num == 0 or check.request_full_state or known.told_seconds != interval
    )
    after = replace(
        after,
        last_seen_at=max(at, known.last_seen_at),
        full_state_at=at if report.full or check.request_full_state else known.full_state_at,
        conflicts=check.conflicts,
        told_seconds=interval if send_interval else known.told_seconds,
    )
    # Read before anything is written, so that a fault here leaves nothing half done.
    offer = None if sent is None else Offer(sent.config_hash, _text(sent))
    if before is None or _worth_saving(before, after):
        instances.save(before, after)
        _log(before, after)
    return Reply(report.uid, offer, interval if send_interval else None, report_full_state=check.request_full_state)


def _without_pipelines_failed(instance: Instance, report: Report, desired: Desired) -> Instance:
    """The instance, with a config that it reports as applied counted as failed if the config has no pipelines.

    A supervisor runs a collector without pipelines, and says that it applied them.
    """
    config = report.config
    if config is None or config.status != "applied" or config.config_hash != desired.config_hash:
        return instance
    if not _runs_nothing(desired):
        return instance
    return model.with_failure(instance, desired, desired, model.WITHOUT_PIPELINES)


def _offer(instance: Instance, desired: Desired) -> tuple[Instance, Desired | None]:
    """What to send, and the instance that knows of it. A config without pipelines has failed without being sent."""
    sent = model.offer(instance, desired)
    while sent is not None and _runs_nothing(sent):
        instance = model.with_failure(instance, sent, desired, model.WITHOUT_PIPELINES)
        sent = model.offer(instance, desired)
    return instance if sent is None else model.with_offer(instance, sent), sent


def _runs_nothing(config: Desired) -> bool:
    assignment = config.assignment
    return assignment is not None and _has_no_pipelines(assignment.configuration_id, assignment.version_number)


@lru_cache(maxsize=1_000)
def _has_no_pipelines(configuration_id: str, n: int) -> bool:
    # Imported here: the parser would slow every cold start, and most messages do not need it.
    from headgate.opamp.pipelines import runs_nothing

    return runs_nothing(_version_text(configuration_id, n))


def _text(config: Desired) -> str | None:
    """The YAML to run; None if nothing is assigned."""
    assignment = config.assignment
    return None if assignment is None else _version_text(assignment.configuration_id, assignment.version_number)


@lru_cache(maxsize=16)
def _version_text(configuration_id: str, n: int) -> str:
    """Cached: a published version never changes, and a rollout sends it to many."""
    text = published.text(configuration_id, n)
    if text is None:
        raise errors.Unavailable("The assigned version could not be read; try again shortly")
    return text


@dataclass(frozen=True, slots=True)
class _SequenceCheck:
    """The place of a message among the instance's: whether to ask for the full state, and its conflicts so far.

    A sequence number that goes back without a restart is an old message, or a second process with the same uid. Only a
    second process keeps sending them.
    """

    request_full_state: bool
    conflicts: int


def _sequence_check(before: Instance | None, report: Report, at: datetime) -> _SequenceCheck:
    if before is None:
        return _SequenceCheck(request_full_state=not report.full, conflicts=0)
    number = report.sequence_num
    back = 0 < number < before.sequence_num
    # Heartbeats that say nothing new are not written while nothing is under way, so a gap is normal then.
    missed = before.under_way and number > before.sequence_num + 1
    due = at - before.full_state_at > FULL_STATE_EVERY + timedelta(seconds=report.uid[-2] * _SPREAD_SECONDS / 256)
    conflicts = before.conflicts + 1 if back else 0 if due else before.conflicts
    incomplete = back or missed or due or number == 0
    return _SequenceCheck(request_full_state=not report.full and incomplete, conflicts=conflicts)


def _instance_before(before: Instance | None, sender: _Sender, report: Report, at: datetime) -> Instance:
    if before is None:
        return Instance(
            id=model.instance_id(report.uid),
            fleet_id=sender.fleet_id,
            deployment_id=sender.deployment_id,
            sequence_num=report.sequence_num,
            first_seen_at=at,
            last_seen_at=at,
            full_state_at=at,
        )
    if before.deployment_id == sender.deployment_id:
        return before
    # A revision belongs to one group; nothing has been offered under the new group's yet.
    outcomes = tuple(replace(outcome, revision=0) for outcome in before.outcomes)
    return replace(before, deployment_id=sender.deployment_id, outcomes=outcomes)


def _worth_saving(before: Instance, after: Instance) -> bool:
    """All messages except a heartbeat that says nothing new, soon after a saved one, while nothing is under way."""
    news = replace(after, sequence_num=before.sequence_num, last_seen_at=before.last_seen_at) != before
    due = after.last_seen_at - before.last_seen_at >= model.SAVED_EVERY
    return news or due or before.under_way or after.under_way or after.sequence_num < before.sequence_num


def _log(before: Instance | None, after: Instance) -> None:
    if before is None or before.state != after.state or before.deployment_id != after.deployment_id:
        # Without the state's message, which may quote the configuration.
        logger.info(
            "instance_state",
            instance_id=after.id,
            fleet_id=after.fleet_id,
            deployment_id=after.deployment_id,
            state=after.state,
        )

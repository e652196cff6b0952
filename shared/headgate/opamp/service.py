"""The fleet service: one message of an agent in, one answer out. No state but the table's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from headgate.configurations import store as configurations
from headgate.deployments.model import Assignment
from headgate.fleets import tokens
from headgate.foundation import clock, errors
from headgate.foundation.ids import is_id, new_uuid
from headgate.identity.hashing import hash_of
from headgate.identity.model import NotAuthenticated
from headgate.instances import model, store
from headgate.instances.model import Desired, Instance, Report
from headgate.observability.log import logger
from headgate.opamp import messages
from headgate.opamp.messages import Offer, Reply
from headgate.settings import settings
from headgate.storage.retry import retry

HEARTBEAT_KEPT_EVERY: Final = timedelta(minutes=3)
"""A heartbeat that says nothing new is written this often, so Stale may come so much before its 15 minutes."""
FULL_STATE_EVERY: Final = timedelta(hours=1)
"""Heals, within this time, what a message said that was lost while nothing was under way."""
_CONFLICTS: Final = 3
# `ft_` and 32 random bytes in unpadded base64url.
_TOKEN_LENGTH: Final = 46
# Asked for again after an hour at the latest; a fleet that started together spreads over ten minutes.
_SPREAD_SECONDS: Final = 600


class NotOfThisFleet(errors.Forbidden):
    """The token is good, and the group is none of its fleet's. What is wrong with it is not told."""

    code = "not_of_this_fleet"

    def __init__(self) -> None:
        super().__init__("The token does not give access to this deployment")


def exchange(credential: str, deployment_id: str, body: bytes) -> bytes:
    """Answer an agent's message: one batch read, and when there is something to keep another read and a transaction.

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
    """Whom a message says it is from; `fleet_id` is where its token was last found, and nothing is granted by that."""

    value_hash: str
    fleet_id: str
    deployment_id: str

    @classmethod
    def of(cls, credential: str, deployment_id: str) -> _Sender:
        if not credential.isascii() or len(credential) != _TOKEN_LENGTH or not credential.startswith(tokens.PREFIX):
            raise NotAuthenticated
        value_hash = hash_of(credential)
        if not is_id("dep", deployment_id):
            raise NotOfThisFleet
        return cls(value_hash, _fleet_of(value_hash), deployment_id)

    def authenticate(self) -> None:
        """One read."""
        self.require_valid(store.token(self.value_hash))

    def require_valid(self, token: store.FleetToken | None) -> None:
        """Raises NotAuthenticated unless the token is there, as it was, and has not expired."""
        if token is None or token.fleet_id != self.fleet_id:
            raise NotAuthenticated
        if token.expires_at is not None and clock.parse(token.expires_at) <= clock.now():
            raise NotAuthenticated


@lru_cache(maxsize=1_000)
def _fleet_of(value_hash: str) -> str:
    """The fleet of a token: it never changes, so the next message needs one read fewer; whether it is valid may."""
    token = store.token(value_hash)
    if token is None:
        raise NotAuthenticated
    return token.fleet_id


def _answer(sender: _Sender, report: Report) -> Reply:
    """Raises LostRace when another message of the same instance, or of its counters, was first."""
    at = clock.now()
    known = store.known(sender.value_hash, sender.fleet_id, sender.deployment_id, model.instance_id(report.uid))
    sender.require_valid(known.token)
    if known.group is None:
        raise NotOfThisFleet
    if report.wants_uid:
        return Reply(report.uid, new_uid=_new_uid(at))
    before, desired = known.instance, Desired.of(known.group)
    order = _order(before, report, at)
    if before is not None and order.conflicts >= _CONFLICTS:
        store.keep(before, replace(before, conflicts=0))
        logger.warning("instance_uid_in_use_twice", instance_id=before.id, fleet_id=before.fleet_id)
        return Reply(report.uid, new_uid=_new_uid(at))
    base = _base(before, sender, report, at)
    after = _believed(model.heard(base, report, desired), report, desired)
    sent = None
    # Not to one that is asked for everything: what it has, and what became of it, comes with its next message.
    if not order.asks and not report.leaves:
        after, sent = _offer(after, desired)
    interval = settings().fleet_heartbeat_seconds
    tells = report.takes_interval and (report.sequence_num == 0 or order.asks or base.told_seconds != interval)
    after = replace(
        after,
        last_seen_at=max(at, base.last_seen_at),
        full_state_at=at if report.full or order.asks else base.full_state_at,
        conflicts=order.conflicts,
        told_seconds=interval if tells else base.told_seconds,
    )
    # Before anything is written, so that a fault here leaves nothing half done.
    config = None if sent is None else Offer(sent.config_hash, _text(sent.assignment) if sent.assignment else None)
    if before is None or _worth_keeping(before, after):
        store.keep(before, after)
        _log(before, after)
    return Reply(report.uid, config, interval if tells else None, report_full_state=order.asks)


def _believed(instance: Instance, report: Report, desired: Desired) -> Instance:
    """The instance, where what it says to have applied has pipelines; a supervisor may run a collector without any."""
    said = report.config
    if said is None or said.status != "applied" or said.config_hash != desired.config_hash:
        return instance
    return model.refused(instance, desired, desired, model.WITHOUT_PIPELINES) if _runs_nothing(desired) else instance


def _offer(instance: Instance, desired: Desired) -> tuple[Instance, Desired | None]:
    """What to send, with the instance that notes it. What has no pipelines has failed without being sent."""
    sent = model.offer(instance, desired)
    while sent is not None and _runs_nothing(sent):
        instance = model.refused(instance, sent, desired, model.WITHOUT_PIPELINES)
        sent = model.offer(instance, desired)
    return instance if sent is None else model.offered(instance, sent), sent


def _runs_nothing(config: Desired) -> bool:
    return config.assignment is not None and _without_pipelines(config.assignment)


@lru_cache(maxsize=1_000)
def _without_pipelines(assignment: Assignment) -> bool:
    # Only now: a parser is no small part of a cold start, and most messages need none.
    from headgate.opamp.pipelines import runs_nothing

    return runs_nothing(_text(assignment))


@dataclass(frozen=True, slots=True)
class _Order:
    """Where a message stands among the instance's: whether to ask for all that was missed, and its conflicts so far.

    A number that goes back without a restart is an old message, or a second process with the same uid; only the second
    keeps coming back.
    """

    asks: bool
    conflicts: int


def _order(before: Instance | None, report: Report, at: datetime) -> _Order:
    if before is None:
        return _Order(asks=not report.full, conflicts=0)
    number = report.sequence_num
    back = 0 < number < before.sequence_num
    # Heartbeats that say nothing are not written while nothing is under way, so then a gap is as it should be.
    missed = before.under_way and number > before.sequence_num + 1
    due = at - before.full_state_at > FULL_STATE_EVERY + timedelta(seconds=report.uid[-2] * _SPREAD_SECONDS / 256)
    conflicts = before.conflicts + 1 if back else 0 if due else before.conflicts
    return _Order(asks=not report.full and (back or missed or due or number == 0), conflicts=conflicts)


def _base(before: Instance | None, sender: _Sender, report: Report, at: datetime) -> Instance:
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
    # Revisions are those of one group; under the new one nothing has been offered yet.
    outcomes = tuple(replace(outcome, revision=0) for outcome in before.outcomes)
    return replace(before, deployment_id=sender.deployment_id, outcomes=outcomes)


def _worth_keeping(before: Instance, after: Instance) -> bool:
    """All but a heartbeat that says nothing new, soon after one that was kept, while nothing is under way."""
    said = replace(after, sequence_num=before.sequence_num, last_seen_at=before.last_seen_at) != before
    due = after.last_seen_at - before.last_seen_at >= HEARTBEAT_KEPT_EVERY
    return said or due or before.under_way or after.under_way or after.sequence_num < before.sequence_num


@lru_cache(maxsize=16)
def _text(assignment: Assignment) -> str:
    """A published version's YAML, as it was stored: it never changes, and a rollout sends it to many."""
    yaml = configurations.text(assignment.configuration_id, assignment.version_number)
    if yaml is None:
        raise errors.Unavailable("The assigned version could not be read")
    return yaml


def _new_uid(at: datetime) -> bytes:
    return new_uuid(at).to_bytes(16, "big")


def _log(before: Instance | None, after: Instance) -> None:
    if before is None or before.state != after.state or before.deployment_id != after.deployment_id:
        # Not the message: it may quote the configuration.
        logger.info(
            "instance_state",
            instance_id=after.id,
            fleet_id=after.fleet_id,
            deployment_id=after.deployment_id,
            state=after.state,
        )

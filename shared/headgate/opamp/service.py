"""The fleet service: one message of an agent in, one answer out. All state is in the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from headgate.captures import hosts as captures
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.foundation import clock, errors
from headgate.foundation.ids import is_id
from headgate.instances import model
from headgate.instances import service as instances
from headgate.instances.counting.measuring import departures, is_measured, watched
from headgate.instances.counting.watch import Watch
from headgate.instances.desired import proving
from headgate.instances.desired.model import Desired
from headgate.instances.model import Instance
from headgate.instances.orders import pending
from headgate.instances.orders.model import PendingOrder
from headgate.instances.reported import components
from headgate.instances.reported.host import UNKNOWN
from headgate.instances.reported.host_key import HostKey, SignatureInvalid
from headgate.instances.reported.model import Report
from headgate.instances.state import transitions
from headgate.instances.state.model import SAVED_EVERY
from headgate.instances.timeline import events as timeline
from headgate.instances.timeline import notices
from headgate.observability.log import logger
from headgate.opamp import intervals, messages, pace, placement, senders, signatures, texts, to_fetch
from headgate.opamp.messages import Offer, Reply
from headgate.storage import table
from headgate.storage.retry import retry
from headgate.storage.table import Write

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


def warm() -> None:
    """Get ready for the first message."""
    table.warm()


def exchange(credential: str, deployment_id: str, body: bytes, signature: str = "") -> Reply:
    """Answer an agent's message: one batch read, and if there is something to store, another read and a transaction.

    Raises NotAuthenticated, NotOfThisFleet, NotOpamp, TooManyMessages, SignatureInvalid, SignatureMissing,
    MessageRepeated, Contention.
    """
    sender = _Sender.of(credential, deployment_id)
    try:
        report = messages.decode(body)
        sender = replace(sender, key=signatures.verified(signature, sender.token_hash, deployment_id, body))
    except (messages.NotOpamp, SignatureInvalid):
        sender.authenticate()
        raise
    pace.require_turn_of_instance(sender.token_hash, report.uid, sender.key.public if sender.key else b"")
    return retry(lambda: _answer(sender, report))


@dataclass(frozen=True, slots=True)
class _Sender:
    """The sender that a message claims. `fleet_id` is where its token was last found; that alone grants nothing.

    `key` is that of the message's verified signature, None if it has no signature.
    """

    token_hash: str
    fleet_id: str
    deployment_id: str
    key: HostKey | None = None

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
    instance_id = model.instance_id(report.uid)
    hinted = placement.hint(instance_id)
    stored = instances.sender(sender.token_hash, sender.fleet_id, sender.deployment_id, instance_id, hinted)
    token = tokens.require_valid(stored.token, sender.fleet_id, at)
    if token.deployment_id not in (None, sender.deployment_id):
        raise NotOfThisFleet
    known_host = stored.instance.host if stored.instance else UNKNOWN
    labels = (report.host.after(known_host) if report.host else known_host).labels
    group = placement.group_of(token, stored.group, stored.hinted, instance_id, labels, at)
    if group is None:
        raise NotOfThisFleet
    sender = replace(sender, deployment_id=group.id)
    if report.wants_uid:
        return Reply(report.uid, new_uid=model.new_uid(at))
    before = stored.instance
    moves = False
    if before is not None:
        accepted = senders.accepted(before, token, tokens.id_of(sender.token_hash), sender.key, at)
        if accepted is None:
            return Reply(report.uid, new_uid=model.new_uid(at))
        moves = accepted
    check = _sequence_check(before, report, at, proved=sender.key is not None or moves)
    if before is not None and check.conflicts >= _CONFLICTS:
        instances.save(before, replace(before, conflicts=0))
        logger.warning("instance_uid_in_use_twice", instance_id=before.id, fleet_id=before.fleet_id)
        return Reply(report.uid, new_uid=model.new_uid(at))
    known = _instance_before(before, sender, report, at)
    desired = known.desired(group, at)
    ordered, done = pending.received(known, report.host, desired, at)
    after = texts.checked(transitions.after_report(ordered, report, desired, at), desired, at)
    sent = None
    # An agent that is asked for its full state gets no offer yet: its next message says what it has.
    if not check.request_full_state and not report.leaves:
        after, sent = texts.with_next_offer(after, desired, at)
    watch = _watch(known, after, report, group, desired, at)
    interval = intervals.to_tell(after, watch, at)
    send_interval = report.takes_interval and (
        report.sequence_num == 0 or check.request_full_state or known.told_seconds != interval
    )
    after = replace(
        after,
        last_seen_at=max(at, known.last_seen_at),
        full_state_at=at if report.full or check.request_full_state else known.full_state_at,
        conflicts=check.conflicts,
        told_seconds=interval if send_interval else known.told_seconds,
        token_id=tokens.id_of(sender.token_hash),
        scope=token.scope,
        key=sender.key,
        move_until=None if moves else known.move_until,
        watch=watch,
        departures=departures(before, after, group.rollout, watch, at),
    )
    after, lists = _components(known, after, report, at)
    # Read before anything is written, so that a fault here leaves nothing half done.
    offer = None if sent is None else Offer(sent.config_hash, texts.text_of(sent))
    heard = captures.heard(after, report.capture, at)
    after = heard.instance
    happened = [*timeline.of_message(before, known, after, desired, at, done), *heard.events]
    noted, written = timeline.bounded(after.noted, happened, after, at)
    after = replace(after, noted=noted)
    if before is None or after.watch or _worth_saving(before, after):
        told = notices.of_message(token.organization_id, before, after, written, at)
        instances.save(before, after, written, *told, *lists, *heard.writes)
        _log(before, after)
    senders.answered(after.id, sender.key)
    if proving.proves(after, group, desired):
        deployments.prove(group)
    return Reply(
        report.uid,
        offer,
        interval if send_interval else None,
        report_full_state=check.request_full_state,
        orders=() if report.leaves else to_fetch.orders(after, group, token, at),
        collector=to_fetch.collector(after, sent, group, token, at) if sent else None,
        capture=None if report.leaves else captures.to_tell(after, group, at),
        has_news=before is None or _is_news(before, after) or offer is not None,
    )


def _components(before: Instance, after: Instance, report: Report, at: datetime) -> tuple[Instance, list[Write]]:
    """Asks for the list of components if the host has others than before and nobody told of them yet, and stores it.

    One read for a host that starts, or has others.
    """
    host, now = report.host, after.host.components
    if host is None or now is None:
        return after, []
    if host.component_list is not None and any(order.do == "components" for order in after.orders):
        return after, components.with_list(after.fleet_id, now, host.component_list)
    # Another collector may have come with a version that was offered since the host was asked.
    since = offered.offered_at if (offered := after.last_offered()) else None
    asked = any(
        order.do == "components" and (since is None or order.waits(at) or order.at >= since) for order in after.orders
    )
    if asked or "components" not in after.host.can or (now == before.host.components and report.sequence_num):
        return after, []
    if components.is_known(after.fleet_id, now):
        return after, []
    return replace(after, orders=tuple(pending.with_order(after.orders, PendingOrder.new("components", at)))), []


def _watch(
    before: Instance, after: Instance, report: Report, group: Deployment, desired: Desired, at: datetime
) -> Watch | None:
    """What the group's rollout measures on this instance; None if there is none, or it is not in its turn."""
    rollout = group.rollout
    if rollout is None or not is_measured(before, after, rollout):
        return None
    return watched(before, after, report.host, rollout, desired, at)


@dataclass(frozen=True, slots=True)
class _SequenceCheck:
    """The place of a message among the instance's: whether to ask for the full state, and its conflicts so far.

    A sequence number that goes back without a restart is an old message, or a second process with the same uid. Only a
    second process keeps sending them.
    """

    request_full_state: bool
    conflicts: int


def _sequence_check(before: Instance | None, report: Report, at: datetime, *, proved: bool) -> _SequenceCheck:
    """`proved` is whether the message is known to be the instance's: then there is no second process."""
    if before is None:
        return _SequenceCheck(request_full_state=not report.full, conflicts=0)
    number = report.sequence_num
    back = 0 < number < before.sequence_num
    # Heartbeats that say nothing new are not written while nothing is under way, so a gap is normal then.
    missed = before.under_way and number > before.sequence_num + 1
    due = at - before.full_state_at > FULL_STATE_EVERY + timedelta(seconds=report.uid[-2] * _SPREAD_SECONDS / 256)
    conflicts = 0 if due or proved else before.conflicts
    if back and not proved:
        conflicts = before.conflicts + 1
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
    if before.override and before.override.until <= at:
        before = replace(before, override=None)
    if before.deployment_id == sender.deployment_id:
        return before
    # A revision belongs to one group; nothing has been offered under the new group's yet.
    outcomes = tuple(replace(outcome, revision=0) for outcome in before.outcomes)
    healthy = tuple(replace(version, revision=0) for version in before.healthy)
    return replace(before, deployment_id=sender.deployment_id, outcomes=outcomes, healthy=healthy)


def _is_news(before: Instance, after: Instance) -> bool:
    return replace(after, sequence_num=before.sequence_num, last_seen_at=before.last_seen_at) != before


def _worth_saving(before: Instance, after: Instance) -> bool:
    """All messages except a heartbeat that says nothing new, soon after a saved one, while nothing is under way."""
    news = _is_news(before, after)
    due = after.last_seen_at - before.last_seen_at >= SAVED_EVERY
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

"""The fleet service: one message of an agent in, one answer out. All state is in the table.

A message is read and its sender let in here; `decision` decides about it, and here the decision is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from headgate.captures import hosts as captures
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.fleets.model import FleetToken
from headgate.foundation import clock, errors
from headgate.foundation.ids import is_id
from headgate.foundation.log import logger
from headgate.instances import model
from headgate.instances import service as instances
from headgate.instances.model import HostIdentity, Instance
from headgate.instances.orders.model import NOTHING_ORDERED, PendingOrder
from headgate.instances.reported import components, effective, health_tree
from headgate.instances.reported.effective import UNREAD
from headgate.instances.reported.host import UNKNOWN
from headgate.instances.reported.host_key import HostKey, SignatureInvalid
from headgate.instances.reported.model import AgentReport
from headgate.instances.timeline import notices
from headgate.opamp import (
    health_reports,
    messages,
    pace,
    placement,
    sealing,
    senders,
    signatures,
    texts,
    to_fetch,
)
from headgate.opamp.decision import AgentMessage, Decision, decide
from headgate.opamp.messages import Offer, Reply
from headgate.storage import table
from headgate.storage.retry import retried
from headgate.storage.table import Write


class GroupNotNamed(errors.BadRequest):
    """The message names no group, and its fleet has none for such messages."""

    code = "group_not_named"
    detail = (
        "Send the group's id in the header X-Deployment-Id: this fleet has no Default group for collectors that "
        "name none"
    )


class NotOfThisFleet(errors.Forbidden):
    """The token is valid, and the group is not one of its fleet. The message does not say why."""

    code = "not_of_this_fleet"
    detail = "The token does not give access to this deployment"


def warm() -> None:
    """Get ready for the first message."""
    table.warm()


def exchange(credential: str, deployment_id: str, body: bytes, signature: str = "") -> Reply:
    """Answer an agent's message: one batch read, and if there is something to store, another read and a transaction.

    A message that names no group is one to the token's group, else to the fleet's Default group.
    Raises NotAuthenticated, NotOfThisFleet, GroupNotNamed, NotOpamp, TooManyMessages, SignatureInvalid,
    SignatureMissing, MessageRepeated, HostCutOff, Contention.
    """
    sender = _Sender.of(credential, deployment_id)
    try:
        report = messages.decode(body)
        if signature:
            sender = replace(sender, key=signatures.verified(signature, sender.token_hash, deployment_id, body))
    except (messages.NotOpamp, SignatureInvalid):
        sender.authenticate()
        _note_refusals(credential, sender.fleet_id, clock.now())
        raise
    public = sender.key.public if sender.key else b""
    pace.require_turn_of_instance(sender.token_hash, report.uid, public, len(body))
    return _answer(credential, sender, report)


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
        if not deployment_id:
            deployment_id = _group_of(token_hash)
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


@lru_cache(maxsize=1_000)
def _group_of(token_hash: str) -> str:
    """The group of a sender that names none: the one of its token, or the Default group of the fleet.

    Cached, because neither changes. Raises NotAuthenticated, GroupNotNamed.
    """
    token = tokens.require_valid(fleets.token(token_hash), _fleet_of(token_hash), clock.now())
    fleet = fleets.of_organization(token.organization_id, token.fleet_id)
    group = token.deployment_id or fleet.default_deployment_id
    if group is None:
        raise GroupNotNamed
    return group


@retried
def _answer(credential: str, sender: _Sender, report: AgentReport) -> Reply:
    """Raises Contention if other messages of the same instance, or of its counters, are first again and again."""
    at = clock.now()
    instance_id = model.instance_id(report.uid)
    hinted = placement.hint(instance_id)
    stored = instances.sender(sender.token_hash, sender.fleet_id, sender.deployment_id, instance_id, hinted)
    known = stored.instance
    token = tokens.require_valid(stored.token, sender.fleet_id, at)
    if token.deployment_id not in (None, sender.deployment_id):
        raise NotOfThisFleet
    _note_refusals(credential, sender.fleet_id, at)
    known_host = known.reported.host if known else UNKNOWN
    orders = known.orders if known else NOTHING_ORDERED
    labels = {**(report.host.after(known_host) if report.host else known_host).labels, **orders.labels}
    group = placement.group_of(token, stored.group, stored.hinted, instance_id, labels, at, orders.moved_to)
    if group is None:
        raise NotOfThisFleet
    if report.wants_uid:
        return Reply(report.uid, new_uid=model.new_uid(at))
    if known and orders.moved_to not in (None, group.id):
        # The group is gone, or takes nobody who was moved.
        known = replace(known, orders=replace(orders, moved_to=None))
    report = _without_secrets(report, group, known)
    identity = HostIdentity(tokens.id_of(sender.token_hash), token.scope, sender.key)
    takes_place = senders.accepted(known, identity, at)
    if takes_place is None:
        return Reply(report.uid, new_uid=model.new_uid(at))
    message = AgentMessage(report, identity, takes_place=takes_place)
    capture = captures.concerned(known, report.capture, at) if known and known.orders.capture else None
    silent_at = known.silent_from() if known else None
    if known and silent_at and silent_at <= at and not known.reported.stopped and not known.is_stale(at):
        silent_at = known.silent_from(instances.refusals(sender.fleet_id))
    decision = _with_order(decide(known, message, group, at, texts.known, silent_at, capture), at)
    # Read before anything is written, so that a fault here leaves nothing half done.
    offer = None
    if decision.offer:
        name = decision.instance.reported.config_name
        offer = Offer(decision.offer.config_hash, texts.text_of(decision.offer), name)
    signed_offer = decision.offer if sender.key else None
    variables = sealing.variables(decision.instance, signed_offer, group) if signed_offer else None
    beside: list[Write] = []
    if signed_offer and variables and "sealed" in variables:
        first = sealing.first_secrets(decision.instance, signed_offer, group)
        if first:
            decision = replace(decision, instance=first.instance)
            beside.append(first.record(token.organization_id, group))
    if decision.is_stored:
        _write(decision, report, token.organization_id, at, beside)
    if decision.gets_uid:
        return Reply(report.uid, new_uid=model.new_uid(at))
    if sender.key is not None:
        senders.answered(decision.instance, sender.key)
    if decision.proves:
        deployments.prove(group)
    return replace(_reply(decision, report, offer, group, token, at), variables=variables)


def _note_refusals(credential: str, fleet_id: str, at: datetime) -> None:
    """Note that other messages of a valid token were refused, if they were."""
    if until := pace.refused_until(credential):
        instances.note_refusals(fleet_id, at, until)


def _without_secrets(report: AgentReport, group: Deployment, instance: Instance | None) -> AgentReport:
    """The report without secrets that were sent, and with error and effective configuration of an observed collector
    redacted. The configuration of every other one is dropped.

    A collector that takes no configuration stays observed when its fleet is managed.
    """
    if instance and group.token_generation and report.quotes:
        # Imported here, because most messages quote nothing.
        from headgate.opamp import quoted_secrets

        report = quoted_secrets.without(report, group, instance)
    takes_none = not report.accepts_config
    if (group.observed or takes_none) and report.health and report.health.error:
        health = replace(report.health, error=health_reports.without_secrets(report.health.error))
        report = replace(report, health=health)
    if report.files is None or not (group.observed or (group.adopted and takes_none)):
        return replace(report, files=None)
    if group.unread:
        return replace(report, files=None, effective=UNREAD)
    # Imported here: the parser would slow every cold start, and most messages do not need it.
    from headgate.opamp.effective import redacted

    return replace(report, files=None, effective=redacted(report.files))


def _with_order(decision: Decision, at: datetime) -> Decision:
    """Orders the host to list its components if nobody did; one read for a host that starts, or has others."""
    if decision.unlisted is None or components.is_known(decision.instance.fleet_id, decision.unlisted):
        return decision
    return decision.ordering(PendingOrder.new("components", at))


def _write(
    decision: Decision, report: AgentReport, organization_id: str, at: datetime, beside: Sequence[Write]
) -> None:
    """Store all that was decided, with the writes `beside`, in one transaction. Raises LostRace."""
    before, after = decision.before, decision.instance
    beside = [*beside]
    if report.effective and after.reported.effective and after.reported.effective.stored_at == at:
        # Before the instance, so that there is no hash without its text.
        effective.store(after.fleet_id, report.effective, at)
    note = after.reported.health_tree
    if report.health_tree and note and note.stored_at == at:
        beside.append(health_tree.writes(after.fleet_id, after.id, report.health_tree, at))
    if decision.notices:
        beside += notices.writes(decision.notices, organization_id, after, at)
    if decision.capture:
        beside += captures.writes(decision.capture)
    if decision.component_list is not None and after.reported.components is not None:
        beside += components.with_list(after.fleet_id, after.reported.components, decision.component_list)
    instances.save(before, after, decision.events, *beside)
    if decision.gets_uid:
        logger.warning("instance_uid_in_use_twice", instance_id=after.id, fleet_id=after.fleet_id)
    elif before is None or (before.standing.state, before.deployment_id) != (after.standing.state, after.deployment_id):
        # Without the state's message, which may quote the configuration.
        logger.info(
            "instance_state",
            instance_id=after.id,
            fleet_id=after.fleet_id,
            deployment_id=after.deployment_id,
            state=after.standing.state,
        )


def _reply(
    decision: Decision, report: AgentReport, offer: Offer | None, group: Deployment, token: FleetToken, at: datetime
) -> Reply:
    after, sent = decision.instance, decision.offer
    return Reply(
        report.uid,
        offer,
        decision.interval,
        report_full_state=decision.asks_full_state,
        report_components=decision.asks_components,
        orders=to_fetch.orders(after, group, token, at) if after.orders.pending and not report.leaves else (),
        collector=to_fetch.collector(after, sent, group, token, at) if sent else None,
        capture=captures.to_tell(after, group, at) if after.orders.capture and not report.leaves else None,
        token=sealing.token_for(after, group, token) if token.superseded_at and not report.leaves else None,
        has_news=decision.has_news,
    )

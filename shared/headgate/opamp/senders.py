"""Senders of messages under the uid of an instance: its host, or another one that must not change its item.

The scope of its token and the host's key decide. A scope is a fleet, or one group of it: whose token it is.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from headgate.foundation.log import logger
from headgate.instances import service as instances
from headgate.instances.model import HostIdentity, Instance
from headgate.instances.reported.host_key import HostCutOff, HostKey, MessageRepeated, SignatureMissing
from headgate.instances.timeline import events as timeline
from headgate.opamp.placement import remember
from headgate.storage.retry import LostRace

Stranger = Literal["scope", "key", "start", "unsigned"]
"""Reasons against a sender as an instance's host: its token is of another scope, its key is another, or an earlier
start's as that of a clone, or it has no key."""

_REASONS: Final[dict[Stranger, str]] = {
    "scope": "it came with a token of another scope",
    "key": "another key signed it",
    "start": "an earlier start signed it: a copy of this host runs, or the message is an old one",
    "unsigned": "it was not signed",
}
_CUT_OFF: Final = "a person has cut this host off"
_REPEATED: Final = "its signed number, or a later one, came before: it was late, or is an old one"
_MOST_INSTANCES: Final = 20_000
_HOUR: Final = 3_600

# Each process has its own. Heartbeats without news are not stored, so these numbers may be newer than the stored ones.
_newest: dict[tuple[str, str], HostKey] = {}
_noted: dict[tuple[str, str, str], int] = {}


def accepted(instance: Instance | None, sender: HostIdentity, at: datetime) -> bool | None:
    """True if a person allowed the sender to take the instance's place; None for another host, which gets a uid.

    False for a new instance. A refusal is in the instance's history, each kind once an hour. Raises HostCutOff,
    SignatureMissing, MessageRepeated.
    """
    if instance is None:
        return False
    if instance.orders.cut_off_at is not None:
        _note(instance, _CUT_OFF, at)
        raise HostCutOff
    try:
        why = _stranger(_with_newest(instance), instance.identity.scope, sender)
    except MessageRepeated:
        _note(instance, _REPEATED, at)
        raise
    if why is None:
        return False
    if why != "start" and instance.orders.move_allowed(at):
        return True
    _note(instance, _REASONS[why], at)
    if why == "unsigned":
        raise SignatureMissing
    return None


def answered(instance: Instance, key: HostKey) -> None:
    """Remember the number of a message, which is not stored with each. Another fleet may have a host of that uid."""
    remember(_newest, (instance.fleet_id, instance.id), key, _MOST_INSTANCES)


def _stranger(known: HostKey | None, scope: str | None, sender: HostIdentity) -> Stranger | None:
    """The reason why a sender is not the host of an instance with that key and scope; None if it is.

    A key proves a host with whichever token. Raises MessageRepeated.
    """
    key = sender.key
    if known is None:
        return None if scope == sender.scope else "scope"
    if key is None:
        return "unsigned"
    if key.public != known.public:
        return "key"
    if key.start == known.start and key.number <= known.number:
        raise MessageRepeated
    return "start" if key.start < known.start else None


def _with_newest(instance: Instance) -> HostKey | None:
    stored, newest = instance.identity.key, _newest.get((instance.fleet_id, instance.id))
    return newest if stored == newest and newest and stored and newest.number > stored.number else stored


def _note(instance: Instance, reason: str, at: datetime) -> None:
    logger.warning("message_refused", instance_id=instance.id, fleet_id=instance.fleet_id, reason=reason)
    hour = int(at.timestamp()) // _HOUR
    place = instance.fleet_id, instance.id, reason
    if _noted.get(place) == hour:
        return
    remember(_noted, place, hour, _MOST_INSTANCES)
    # Another process may have noted it in this millisecond.
    with suppress(LostRace):
        instances.note(instance, replace(timeline.entry(instance, "refused", at), reason=reason))

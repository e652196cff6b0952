"""Replacing the entry of a host that was installed again: a person says which instance it is now.

A host that lost its key cannot prove what it was, so that it is another instance, and the former one stays silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from headgate.deployments import service as deployments
from headgate.deployments.model import FieldRefused
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.instances import service, store
from headgate.instances.counting.census import CensusEntry, shard_of
from headgate.instances.model import Instance, InstanceNotFound
from headgate.instances.service import SeenInstance
from headgate.instances.state import transitions
from headgate.instances.timeline import events as timeline
from headgate.instances.timeline import notices
from headgate.instances.timeline import store as timeline_store
from headgate.storage.retry import retried

_GONE: Final = ("silent", "stale", "unknown", "stopped")
_MOST_NAMED: Final = 10


class NotReplaceable(errors.Conflict):
    """The instance still reports, or no single instance is known to be its host."""

    code = "not_replaceable"


def successors(fleet: Fleet, gone: SeenInstance) -> Sequence[SeenInstance]:
    """Instances that may be the host of one that is gone, by its key or else its name; a query for each megabyte.

    Each was first heard after the other one was last heard, and reports. None for an instance that reports.
    """
    if gone.state not in _GONE:
        return []
    former = gone.instance

    def may_be(instance: Instance) -> bool:
        is_known = instance.called == former.called or _has_key_of(former, instance)
        return is_known and _follows(instance, former)

    candidates = [seen for seen in service.those(fleet, may_be, clock.now()) if seen.state not in _GONE]
    # One that has the key is the host, whatever others are called.
    return [seen for seen in candidates if _has_key_of(former, seen.instance)] or candidates


@retried
def replace_by(caller: Caller, fleet_id: str, instance_id: str, by: str | None) -> SeenInstance:
    """Delete an instance that is gone in favour of the one that its host is now, which gets its override.

    Without `by`, it is the only one of `successors`. One transaction. Raises FleetNotFound, InstanceNotFound,
    NotReplaceable, FieldRefused.
    """
    fleet = fleets.get(caller, fleet_id)
    at = clock.now()
    gone = service.seen(fleet, instance_id, at)
    if gone.state not in _GONE:
        raise NotReplaceable(f"{gone.instance.called} reports: it was not installed again as another instance")
    seen = _named(fleet, by, at) if by else _only(fleet, gone)
    if not _follows(seen.instance, gone.instance):
        raise FieldRefused("by", "Both reported at a time, so that they are two hosts: name one that came after it")
    before, former = seen.instance, gone.instance
    after = before
    if former.orders.overridden(at) and not before.orders.overridden(at):
        group = deployments.of_fleet(fleet_id, before.deployment_id)
        after = replace(before, orders=replace(before.orders, override=former.orders.override))
        after = transitions.judged(after, after.desired(group, at))
    # That the former one was silent, or had stopped, was told.
    is_well = after.standing.state == "applied"
    after = after if is_well else replace(after, noted=replace(after.noted, unwell=True))
    put = timeline_store.put
    ended = replace(
        timeline.entry(former, "replaced", at), actor=caller.principal, reason=f"It was installed again: {after.id}"
    )
    begun = replace(timeline.entry(after, "replaces", at), actor=caller.principal, reason=f"It was {former.id}")
    events = [
        *put(fleet_id, former.id, former.revision + 1, [ended]),
        *put(fleet_id, after.id, before.revision + 1, [begun]),
        *notices.writes(["instance.recovered"] if is_well else [], caller.organization_id, former, at),
    ]
    first = store.shard(fleet_id, shard_of(former.id))
    shards = {first.number: (first, first.moved(CensusEntry.of(former), None, at))}
    number = shard_of(before.id)
    counted, moved = shards.get(number) or (store.shard(fleet_id, number),) * 2
    shards[number] = (counted, moved.moved(CensusEntry.of(before), CensusEntry.of(after), at))
    store.replace(former, before, after, list(shards.values()), events)
    return replace(seen, instance=after)


def _has_key_of(former: Instance, instance: Instance) -> bool:
    was, now = former.identity.key, instance.identity.key
    return was is not None and now is not None and was.public == now.public


def _follows(instance: Instance, former: Instance) -> bool:
    """True if it was first heard after the other one was last heard, as a host that was installed again."""
    return instance.id != former.id and instance.contact.first_seen_at > former.contact.last_seen_at


def _named(fleet: Fleet, by: str, at: datetime) -> SeenInstance:
    try:
        return service.seen(fleet, by, at)
    except InstanceNotFound as error:
        error.named_by("by")
        raise


def _only(fleet: Fleet, gone: SeenInstance) -> SeenInstance:
    candidates = successors(fleet, gone)
    called = gone.instance.called
    if not candidates:
        raise NotReplaceable(
            f"No host called {called} has reported for the first time since: name the instance that it is now as `by`, "
            "or delete this one"
        )
    if len(candidates) > 1:
        named = ", ".join(seen.instance.id for seen in candidates[:_MOST_NAMED])
        raise NotReplaceable(f"{len(candidates)} hosts called {called} came since: name one as `by`, {named}")
    return candidates[0]

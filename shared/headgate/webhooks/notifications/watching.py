"""Events caused by time alone: hosts become silent and stale, tokens expire soon, limits are nearly reached."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.events import service as events
from headgate.events.model import About, Event, EventType
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation.ids import encode_id
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.instances import token_status
from headgate.instances.counting import quiet
from headgate.webhooks.notifications import store

BEFORE: Final = (timedelta(days=7), timedelta(days=1))
"""Days before a token's expiry at which the event is sent."""
# All instances of a fleet are read for it.
_UNUSED_MINUTES: Final = 10
# In percent of a limit. An event is sent at the first, and again only after the use fell below the second.
_NEAR: Final = 90
_FAR: Final = 80


def watch(since: datetime, until: datetime) -> int:
    """Write the events of the time after `since`, `until` at the latest; returns how many.

    Two queries for each fleet, and its instances if some became quiet. Repeated, the same events get the same ids.
    Every ten minutes tokens end that no host uses any more.
    """
    everyone = [*fleets.all_fleets()]
    events_ = [*_expiring_tokens(since, until), *_expiring_fleet_tokens(everyone, since, until)]
    near = store.near_limits()
    if until.minute % _UNUSED_MINUTES == 0:
        for fleet in everyone:
            token_status.end_unused(fleet, [*deployments.each(fleet.id)], until)
    for fleet in everyone:
        counted = quiet.census(fleet.id)
        about = About(
            fleet_id=fleet.id, figures={"limit": settings().instance_limit, "instances": counted.total(until)}
        )
        _limit(fleet.organization_id, fleet.id, about, near, until)
        if fleet.on_kubernetes:
            # Pods come and go, and what is gone is Unknown.
            continue
        for instance, kind, at in quiet.became_quiet(fleet.id, counted, since, until):
            of_host = About(
                fleet_id=fleet.id,
                deployment_id=instance.deployment_id,
                instance_id=instance.id,
                name=instance.reported.name,
            )
            known: EventType = "instance.silent" if kind == "silent" else "instance.stale"
            # A copy of the host may report in another fleet.
            subject = f"{fleet.id}\0{instance.id}"
            events_.append(_event(known, fleet.organization_id, of_host, at, subject))
    for organization_id, number in Counter(fleet.organization_id for fleet in everyone).items():
        about = About(figures={"limit": settings().fleet_limit, "fleets": number})
        _limit(organization_id, organization_id, about, near, until)
    store.put_all([events.put(event) for event in events_])
    return len(events_)


def _expiring_tokens(since: datetime, until: datetime) -> Iterator[Event]:
    for before in BEFORE:
        for token in identity.expiring_tokens(since + before, until + before):
            about = About(token_id=token.id, name=token.name, reason=_in_days(before))
            # Never before it was created: its whole life may be shorter.
            if token.expires_at and token.expires_at - before >= token.created_at:
                yield _event("token.expiring", token.organization_id, about, token.expires_at - before, token.id)


def _expiring_fleet_tokens(everyone: Sequence[Fleet], since: datetime, until: datetime) -> Iterator[Event]:
    """Those of fleets and of groups, and those before them that were renewed and are still valid."""
    for fleet in everyone:
        holders: list[Fleet | Deployment] = [fleet, *deployments.each(fleet.id)]
        for holder in holders:
            group_id = holder.id if isinstance(holder, Deployment) else None
            for ends_at, which in ((holder.token_expires_at, ""), (holder.previous_token_ends_at, "previous")):
                for before in BEFORE:
                    at = ends_at - before if ends_at else None
                    if at and since < at <= until:
                        about = About(fleet_id=fleet.id, deployment_id=group_id, reason=_in_days(before, which))
                        subject = f"{holder.id}{which}"
                        yield _event("token.expiring", fleet.organization_id, about, at, subject)


def _limit(organization_id: str, subject: str, about: About, near: set[str], at: datetime) -> None:
    """Tell once that a limit is nearly reached, and again after there was room meanwhile."""
    number = next(n for name, n in about.figures.items() if name != "limit")
    percent = 100 * number // max(1, about.figures["limit"])
    if percent >= _NEAR and subject not in near:
        store.is_near(subject, events.write("fleet.limit_near", organization_id, about, at))
    elif percent < _FAR and subject in near:
        store.is_far(subject)


def _event(kind: EventType, organization_id: str, about: About, at: datetime, subject: str) -> Event:
    """With the same id whenever it is found: a sweep that was broken off finds it again."""
    digest = hashlib.sha256(f"{kind}\0{subject}\0{at.timestamp()}".encode()).digest()
    number = int(at.timestamp() * 1_000) << 80 | int.from_bytes(digest[:10], "big")
    return Event(encode_id("evt", number), kind, organization_id, at, about)


def _in_days(before: timedelta, which: str = "") -> str:
    what = "The token before the last renewal" if which else "It"
    return f"{what} expires in a day" if before.days == 1 else f"{what} expires in {before.days} days"

"""Instances that became silent or stale in a span of time. Nothing is written when they do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, Literal

from headgate.instances import store
from headgate.instances.counting.census import Census
from headgate.instances.model import Instance
from headgate.instances.state.model import COUNTED_FOR, mark_of, quiet_from

Quiet = Literal["silent", "stale"]
_PAGE: Final = 1_000


def census(fleet_id: str) -> Census:
    """One query of at most 32 small items."""
    return store.census(fleet_id)


def became_quiet(
    fleet_id: str, counted: Census, since: datetime, until: datetime
) -> Iterator[tuple[Instance, Quiet, datetime]]:
    """The instances that became silent or stale after `since`, `until` at the latest, with the time.

    The counters tell whether there are any; only then the fleet's instances are read. A host that said that it stops
    is neither.
    """
    entries = [entry for shard in counted.shards for entry in shard.heard if entry.state != "stopped"]
    some = any(_crossings(entry.mark, since, until, quick=entry.quick) for entry in entries)
    # Counters do not name who has been stale for longer.
    if not some and until - since < COUNTED_FOR:
        return
    after: str | None = None
    while True:
        page = store.instances(fleet_id, _PAGE, after)
        for instance in page.entries:
            if instance.standing.state != "stopped":
                for quiet, at in _of_instance(instance, since, until):
                    yield instance, quiet, at
        if page.position is None:
            return
        after = page.position


def _of_instance(instance: Instance, since: datetime, until: datetime) -> list[tuple[Quiet, datetime]]:
    return _crossings(mark_of(instance.contact.last_seen_at), since, until, quick=instance.is_quick)


def _crossings(mark: int, since: datetime, until: datetime, *, quick: bool) -> list[tuple[Quiet, datetime]]:
    """The states that an instance last heard at `mark` enters in that time."""
    silent, stale = quiet_from(mark, quick=quick)
    times: list[tuple[Quiet, datetime]] = [("silent", silent), ("stale", stale)]
    return [(quiet, at) for quiet, at in times if since < at <= until]

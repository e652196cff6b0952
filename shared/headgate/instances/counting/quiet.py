"""Instances that became silent or stale in a span of time. Nothing is written when they do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from headgate.instances import store
from headgate.instances.counting.census import Census, CensusEntry
from headgate.instances.model import Instance
from headgate.instances.state.model import COUNTED_FOR, Refusals, quiet_from

Quiet = Literal["silent", "stale"]


census = store.census
"""The counters of a fleet; one query of at most 32 small items."""


def became_quiet(
    fleet_id: str, counted: Census, since: datetime, until: datetime
) -> Iterator[tuple[Instance, Quiet, datetime]]:
    """The instances that became silent or stale after `since`, `until` at the latest, with the time.

    The counters tell whether there are any; only then the fleet's instances are read. A host that said that it stops
    is neither.
    """
    entries = [entry for shard in counted.shards for entry in shard.heard if entry.state != "stopped"]
    some = any(_crossings(entry, counted.refused, since, until) for entry in entries)
    # Counters do not name who has been stale for longer.
    if not some and until - since < COUNTED_FOR:
        return
    for instance in store.each(fleet_id):
        if instance.standing.state != "stopped":
            for quiet, at in _crossings(CensusEntry.of(instance), counted.refused, since, until):
                yield instance, quiet, at


def _crossings(entry: CensusEntry, refused: Refusals, since: datetime, until: datetime) -> list[tuple[Quiet, datetime]]:
    """The states that an instance that is counted so enters in that time."""
    silent, stale = quiet_from(entry.mark, refused, quick=entry.quick)
    times: list[tuple[Quiet, datetime]] = [("silent", silent), ("stale", stale)]
    return [(quiet, at) for quiet, at in times if since < at <= until]

"""Fleets with their collectors counted by state."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Final

from headgate.fleets.model import Fleet
from headgate.instances import store

_AT_ONCE: Final = 8


def counted(fleets: Sequence[Fleet], at: datetime) -> list[Fleet]:
    """The fleets with `instances` filled in.

    A query for each fleet, several at a time, and a batch read for each hundred groups that collectors were heard in;
    the number of collectors does not matter.
    """
    if not fleets:
        return []
    if len(fleets) == 1:
        found = [store.census(fleets[0].id)]
    else:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = list(pool.map(store.census, [fleet.id for fleet in fleets]))
    heard_in = [(fleet.id, group) for fleet, census in zip(fleets, found, strict=True) for group in census.groups(at)]
    revisions = {group.id: group.assigned_revision for group in store.groups(heard_in).values()}
    return [
        replace(fleet, instances=census.counts(revisions, at, on_kubernetes=fleet.on_kubernetes))
        for fleet, census in zip(fleets, found, strict=True)
    ]

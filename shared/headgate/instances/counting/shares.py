"""The number of a fleet's collectors on each version, by their own reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from headgate.deployments.versions import Assignment
from headgate.foundation import clock
from headgate.instances import store

MOST: Final = 2_000
"""Collectors of a fleet that are counted, the first ones by id: two megabytes of the table."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The collectors of each group by what they run, None for nothing; `partial` if the fleet has more of them.

    `unheard` is the number of each group's that have not been heard for so long that nobody knows what they run.
    """

    by_group: Mapping[str, Mapping[Assignment | None, int]]
    unheard: Mapping[str, int]
    partial: bool


def of_fleet(fleet_id: str) -> Shares:
    """Count the collectors of a fleet that the caller is known to see; a query for each megabyte of up to `MOST`."""
    at = clock.now()
    instances = list(islice(store.each(fleet_id), MOST + 1))
    groups: dict[str, Counter[Assignment | None]] = {}
    unheard: Counter[str] = Counter()
    for instance in instances[:MOST]:
        if instance.is_forgotten(at):
            continue
        if instance.is_stale(at) and not instance.reported.stopped:
            unheard[instance.deployment_id] += 1
            continue
        running = instance.running()
        groups.setdefault(instance.deployment_id, Counter())[running.assignment if running else None] += 1
    return Shares(groups, unheard, partial=len(instances) > MOST)

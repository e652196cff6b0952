"""The group of a sender: where people moved it, else one that its labels select, else the one that it names."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, TypeVar

from headgate.deployments import selectors
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment, Selectors
from headgate.fleets.model import FleetToken

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

READ_EVERY: Final = timedelta(minutes=1)
"""Time for which a change of a fleet's selectors may go unnoticed: they are not read for each message."""
_MOST_FLEETS: Final = 1_000
_MOST_INSTANCES: Final = 20_000

# Each process has its own; what is forgotten is read again.
_selectors: dict[str, tuple[datetime, Selectors]] = {}
_selected: dict[str, str] = {}


def hint(instance_id: str) -> str | None:
    """The group that the instance's labels selected last, to be read together with what its message names."""
    return _selected.get(instance_id)


def group_of(
    token: FleetToken,
    named: Deployment | None,
    hinted: Deployment | None,
    instance_id: str,
    labels: Mapping[str, str],
    at: datetime,
    moved_to: str | None = None,
) -> Deployment | None:
    """The group that an instance belongs to: `named` by its message, unless it was moved or its labels select another.

    None if there is none. A read if that is not the hint. A host with a group's own token belongs to that group, and
    another one cannot be moved to a group with a token of its own.
    """
    fleet_id = token.fleet_id
    selected = None
    if token.deployment_id is None:
        selected = moved_to or _current(fleet_id, at).group_of(labels)
    if selected is None:
        _selected.pop(instance_id, None)
        return named
    for group in (named, hinted):
        if group is not None and group.id == selected and not (group.id == moved_to and group.token_generation):
            return group
    group = deployments.groups([(fleet_id, selected)]).get(selected)
    if group is None or (group.id == moved_to and group.token_generation):
        return named
    remember(_selected, instance_id, selected, _MOST_INSTANCES)
    return group


def _current(fleet_id: str, at: datetime) -> Selectors:
    known = _selectors.get(fleet_id)
    if known is None or not at - READ_EVERY < known[0] <= at:
        known = (at, selectors.of_fleet_by_labels(fleet_id))
        remember(_selectors, fleet_id, known, _MOST_FLEETS)
    return known[1]


def remember(cache: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Add an entry to a cache of this process, which is emptied when it is full."""
    if len(cache) >= most:
        cache.clear()
    cache[key] = value

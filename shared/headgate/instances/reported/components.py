"""Components of the programs that a fleet's hosts run: each host reports its list's hash, and one of them the list.

An agent that is not ours has a hash of its own, which says nothing of the list: each is asked for its list once.

A fleet's lists are one item. A host that asks for attention with ever new hashes is asked once a day, and once after
each version that it is offered, which may bring another collector; a fleet keeps a bounded number of lists.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from headgate.fleets import keys
from headgate.storage import items
from headgate.storage.table import Write
from headgate.storage.table import fleets as table

MOST: Final = 32
"""Lists of a fleet: collectors of so many different builds."""
_MOST_BYTES: Final = 8 << 10
_ASKED_AGAIN: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class AvailableComponents:
    """A message about an agent's program: the agent's own hash in hex, and the list as sorted `kind/type`, if sent."""

    agent_hash: str
    names: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ReportedBuild:
    """The program of an agent that is not ours: the hash of its list of components, None while that is not known.

    `agent_hash` is the agent's own hash; `asked_at` is when the agent was asked for the list last.
    """

    agent_hash: str
    components: str | None = None
    asked_at: datetime | None = None

    @classmethod
    def after(cls, before: ReportedBuild | None, reported: AvailableComponents, at: datetime) -> ReportedBuild:
        """Merge a message about the program. An agent that sends no list is asked once an hour."""
        if reported.names:
            after = cls(reported.agent_hash, hash_of(reported.names))
            return before if before == after else after
        if before is None or before.agent_hash != reported.agent_hash:
            return cls(reported.agent_hash, asked_at=at)
        asked = before.components is not None or (before.asked_at and at - before.asked_at < _ASKED_AGAIN)
        return before if asked else cls(reported.agent_hash, asked_at=at)


def is_known(fleet_id: str, components_hash: str) -> bool:
    """True if the list is stored, or there is no room for it; one read."""
    lists = _lists(fleet_id)[0]
    return components_hash in lists or len(lists) >= MOST


def with_list(fleet_id: str, components_hash: str, names: Sequence[str]) -> list[Write]:
    """The write that stores a list, none if it is not the one of that hash, is stored, or there is no room; one read.

    Its transaction raises LostRace if another list was stored since.
    """
    packed = zlib.compress("\n".join(names).encode(), 9)
    if hash_of(names) != components_hash or len(packed) > _MOST_BYTES:
        return []
    lists, revision = _lists(fleet_id)
    if components_hash in lists or len(lists) >= MOST:
        return []
    item = keys.components(fleet_id) | {"lists": {**lists, components_hash: packed}, "revision": revision + 1}
    return [table.put_if(item, *table.at_revision(revision))]


def removal(fleet_id: str) -> Write:
    """The write that deletes a fleet's lists."""
    return table.delete(keys.components(fleet_id))


def having(fleet_id: str, component: str) -> frozenset[str]:
    """The hashes of the lists with that component, a `kind/type` such as `receiver/otlp`, or a type alone; one read."""
    return frozenset(
        components_hash
        for components_hash, packed in _lists(fleet_id)[0].items()
        if any(component in (name, name.partition("/")[2]) for name in zlib.decompress(packed).decode().split("\n"))
    )


def known(fleet_id: str) -> Mapping[str, frozenset[str]]:
    """The components of each list by its hash, as `kind/type`; one read."""
    return {
        components_hash: frozenset(zlib.decompress(packed).decode().split("\n"))
        for components_hash, packed in _lists(fleet_id)[0].items()
    }


def listed(fleet_id: str, components_hash: str | None) -> frozenset[str] | None:
    """The components of the list with that hash, as `kind/type`; None if it is not known; one read."""
    return known(fleet_id).get(components_hash) if components_hash else None


def hash_of(names: Sequence[str]) -> str:
    """Hash a list as hosts do, so that none can store a wrong list for others."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def _lists(fleet_id: str) -> tuple[Mapping[str, bytes], int]:
    rows = table.get_all([keys.components(fleet_id)])
    if not rows:
        return {}, 0
    lists = items.mapping(rows[0], "lists")
    return {name: packed for name, packed in lists.items() if isinstance(packed, bytes)}, items.number(
        rows[0], "revision"
    )

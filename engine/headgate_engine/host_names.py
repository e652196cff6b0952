"""Names of hosts in a list, for the service and its command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

# Characters of an id. Its beginning is a time, which hosts of one image may share.
_FEWEST: Final = 6


def distinct(hosts: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The names of hosts by id, from pairs of id and name. Hosts of one name have the end of their id after it, as much
    as tells all of them apart."""
    names = dict(hosts)
    counts = Counter(names.values())
    repeated = [host_id for host_id, name in names.items() if counts[name] > 1]
    length = _FEWEST
    while len({host_id[-length:] for host_id in repeated}) < len(repeated):
        length += 1
    return {
        host_id: f"{name} (…{host_id[-length:]})" if counts[name] > 1 and name != host_id else name
        for host_id, name in names.items()
    }

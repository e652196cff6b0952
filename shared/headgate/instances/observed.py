"""Views of observed collectors: configurations, collectors that share one, and an inventory."""

from __future__ import annotations

import csv
import difflib
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from headgate.fleets import service as fleets
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.instances import service
from headgate.instances.reported import effective
from headgate.instances.reported.effective import Effective
from headgate.instances.service import SeenInstance
from headgate_engine import host_names

_MOST_LINES: Final = 5_000
"""Lines of a text of which a difference is made: its time grows with their square."""
MOST_DIFFERENCE: Final = 200_000
"""Characters of a difference."""
MOST_HOSTS: Final = 5
MOST_VERSIONS: Final = 5
_COLUMNS: Final = (
    *("id", "host_name", "os", "arch", "distribution", "collector_version", "state", "state_message"),
    *("deployment_id", "configuration", "components", "available", "first_seen_at", "last_seen_at"),
)
# With these, a program for tables takes a cell for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


class NothingReported(errors.NotFound):
    """The collector reported no configuration that is stored."""

    code = "no_configuration_reported"


@dataclass(frozen=True, slots=True)
class ShownConfiguration:
    """A configuration without secrets; `difference` is what changed since the one before, None if that is not known."""

    sha256: str
    yaml: str
    at: datetime
    former: str | None
    difference: str | None
    seen: SeenInstance


@dataclass(frozen=True, slots=True)
class SharedConfiguration:
    """Collectors that run the same configuration; `hosts` are some of them."""

    sha256: str
    count: int
    hosts: Sequence[str]
    versions: Sequence[str]
    components: Sequence[str]


def configuration(caller: Caller, fleet_id: str, instance_id: str, sha256: str | None = None) -> ShownConfiguration:
    """Returns a collector's reported configuration, or an earlier text by its hash; up to six reads.

    Raises FleetNotFound, InstanceNotFound, NothingReported.
    """
    seen = service.seen(fleets.get(caller, fleet_id), instance_id, clock.now())
    known = seen.instance.reported.effective
    newest = _require_known(known)
    text = effective.text(fleet_id, sha256 or newest)
    if known is None or text is None:
        raise NothingReported("No configuration with this hash is stored: texts are kept for 90 days")
    former = known.former if sha256 in (None, newest) else newest
    compared = effective.text(fleet_id, former) if former else None
    before, after = (compared, text) if sha256 in (None, newest) else (text, compared)
    return ShownConfiguration(sha256 or newest, text, known.at, former, difference(before, after), seen)


def text(fleet_id: str, sha256: str) -> str:
    """The text of a hash, in a fleet that the caller is known to see; one read. Raises NothingReported."""
    stored = effective.text(fleet_id, sha256)
    if stored is None:
        raise NothingReported("No configuration with this hash is stored any more")
    return stored


class RunConfiguration(NamedTuple):
    """A configuration on a program: its version, and the hash of the list of its components, None if not known."""

    sha256: str
    version: str | None
    components: str | None


def by_build(caller: Caller, fleet_id: str) -> list[tuple[RunConfiguration, Sequence[SeenInstance]]]:
    """The hosts by configuration and program, the largest group first; as `shared` reads them."""
    groups: dict[RunConfiguration, list[SeenInstance]] = defaultdict(list)
    for sha256, hosts in _groups(caller, fleet_id):
        for seen in hosts:
            reported = seen.instance.reported
            groups[RunConfiguration(sha256, reported.description.collector_version, reported.components)].append(seen)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def shared(caller: Caller, fleet_id: str) -> list[SharedConfiguration]:
    """Group collectors by configuration, the largest first; a query for each megabyte of the fleet's instances."""
    groups = sorted(_groups(caller, fleet_id), key=lambda group: (-len(group[1]), group[0]))
    names = names_of(seen for _, hosts in groups for seen in hosts)
    return [
        SharedConfiguration(
            sha256,
            len(hosts),
            [names[seen.instance.id] for seen in hosts[:MOST_HOSTS]],
            sorted({seen.instance.reported.description.collector_version or "" for seen in hosts} - {""})[
                -MOST_VERSIONS:
            ],
            hosts[0].instance.reported.effective.components if hosts[0].instance.reported.effective else (),
        )
        for sha256, hosts in groups
    ]


def names_of(hosts: Iterable[SeenInstance]) -> Mapping[str, str]:
    """The name of each host by its id, which tells hosts of one name apart."""
    return host_names.distinct((seen.instance.id, seen.instance.called) for seen in hosts)


def _groups(caller: Caller, fleet_id: str) -> Iterable[tuple[str, Sequence[SeenInstance]]]:
    groups: dict[str, list[SeenInstance]] = defaultdict(list)
    for seen in service.those(fleets.get(caller, fleet_id), lambda _: True, clock.now()):
        known = seen.instance.reported.effective
        if known and known.sha256:
            groups[known.sha256].append(seen)
    return groups.items()


def inventory(caller: Caller, fleet_id: str) -> str:
    """All collectors of a fleet as CSV; a query for each megabyte of its instances. Raises FleetNotFound."""
    written = io.StringIO()
    table = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    table.writerow(_COLUMNS)
    for seen in service.those(fleets.get(caller, fleet_id), lambda _: True, clock.now()):
        table.writerow(map(_cell, _row(seen)))
    return written.getvalue()


def _row(seen: SeenInstance) -> Iterable[str | None]:
    instance, said = seen.instance, seen.instance.reported.description
    known = instance.reported.effective
    return (
        *(instance.id, instance.reported.name, said.os, said.arch, said.distribution, said.collector_version),
        *(seen.state, seen.state_message, instance.deployment_id),
        known.sha256 if known else None,
        " ".join(known.components) if known else None,
        instance.reported.components,
        clock.rfc3339(instance.contact.first_seen_at),
        clock.rfc3339(instance.contact.last_seen_at),
    )


def _cell(value: str | None) -> str:
    """A cell that no program for tables takes for a formula."""
    text = value or ""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _require_known(known: Effective | None) -> str:
    if known is None:
        raise NothingReported(
            "This collector reported no configuration: only those of observed fleets are read, from agents that report "
            "their effective configuration"
        )
    if known.sha256 is None:
        raise NothingReported(known.problem or "The configuration could not be read")
    return known.sha256


def difference(before: str | None, after: str | None) -> str | None:
    """A unified difference; None if one of the texts is not known, or is too long."""
    if before is None or after is None:
        return None
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(old), len(new)) > _MOST_LINES:
        return None
    text = "".join(difflib.unified_diff(old, new, "before", "after"))
    return text if len(text) <= MOST_DIFFERENCE else None

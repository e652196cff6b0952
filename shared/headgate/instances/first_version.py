"""Comparison of a group's first version with what its collectors ran before the group was managed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import yaml

from headgate.configurations.documents import Unreadable, document
from headgate.configurations.model import Version
from headgate.deployments.model import Deployment
from headgate.foundation import errors
from headgate.instances import adopting
from headgate.instances.model import Instance
from headgate.instances.reported import effective
from headgate.instances.reported.suitability import Unsuited, UnsuitedHosts, hosts_of

MOST_HOSTS: Final = 20
"""Hosts that are named."""
MOST_TEXTS: Final = 10
"""Configurations that are compared, those of most hosts first."""
MOST_READ: Final = 600_000
"""Characters of these together. A host may report as many, which take three seconds to read."""
_MOST_PLACES: Final = 4
# Aliases of aliases make more settings than a text has characters, or one that has no end.
_MOST_NODES: Final = 20_000
_MOST_CHARACTERS: Final = 4_000_000
_DEEPEST: Final = 100
_NOT_COMPARED: Final = "its configuration was not compared"
_OF_HOST: Final = "service::telemetry::resource"
"""The supervisor of each host writes it."""


class DiffersFromRunning(errors.Conflict):
    """Hosts run something else than the first version of their group; `errors` says per host how."""

    code = "differs_from_running"
    detail = (
        "This is the group's first version, and hosts run something else, or what they run is not known: there is no "
        "version to go back to. Adopt what a host runs, or accept the differences (`accept_differences`)"
    )

    def __init__(self, differing: Sequence[Unsuited]) -> None:
        super().__init__()
        self.errors = [errors.FieldError(("body", "version_number"), each.message) for each in differing]


def require_same(group: Deployment, version: Version, *, accepted: bool) -> Sequence[Unsuited]:
    """Returns the differences, if they are accepted. Two reads, and what `differing` reads.

    Raises DiffersFromRunning.
    """
    if not group.leaves_alone:
        return ()
    differences = differing(group, hosts_of(group.fleet_id, group.id), version)
    if differences and not accepted:
        raise DiffersFromRunning(differences)
    return differences


def differing(group: Deployment, known: UnsuitedHosts, version: Version) -> Sequence[Unsuited]:
    """Say per host how the version differs from what it runs, for the first version of a group that was observed.

    Values that are redacted in the one, or variables in the other, are not compared. A read for each text.
    """
    if not group.leaves_alone:
        return ()
    by_text: dict[str | None, list[Instance]] = defaultdict(list)
    for host in known.hosts:
        if host.reported.accepts_remote_config and not host.reported.host.is_ours:
            by_text[host.reported.effective.sha256 if host.reported.effective else None].append(host)
    texts = sorted(((sha256, each) for sha256, each in by_text.items() if sha256), key=lambda pair: -len(pair[1]))
    listed: list[Unsuited] = []
    characters = 0
    for number, (sha256, each) in enumerate(texts):
        differs = _NOT_COMPARED
        if number < MOST_TEXTS and characters <= MOST_READ:
            running = effective.text(group.fleet_id, sha256)
            characters += len(running or "")
            if characters <= MOST_READ:
                differs = difference(running, version.yaml or "", resolved=each[0].reported.resolves)
        listed += [_unsuited(host, differs) for host in each if differs]
    unknown = "its configuration is not known, because it reported none"
    listed += [_unsuited(host, unknown) for host in by_text.get(None, ())]
    if (more := len(listed) - MOST_HOSTS) > 0:
        listed = [*listed[:MOST_HOSTS], _of_hosts(f"{more:,} more hosts run something else, or were not compared")]
    if known.is_partial:
        listed.append(_of_hosts(f"Only {known.among} are compared; the fleet has more hosts"))
    return listed


def _of_hosts(message: str) -> Unsuited:
    return Unsuited(message, "", DiffersFromRunning.code)


def _unsuited(host: Instance, difference: str) -> Unsuited:
    return _of_hosts(f"The version is not what {host.called} runs: {difference}")


def difference(running: str | None, version: str, *, resolved: bool = True) -> str:
    """The places that differ, in words; empty if there are none. `resolved`: `running` has values for references."""
    if running is None:
        return "the text that it reported is not stored any more"
    try:
        before, after = _settings(adopting.managed(running, resolved=resolved)[0]), _settings(version)
    except (Unreadable, adopting.NotAdoptable, _TooMany):
        return "the texts could not be compared"
    parts = [
        # A collector reports all settings, also those that nobody wrote.
        _places("only the host has", sorted(path for path in before.keys() - after.keys() if before[path])),
        _places("only the version has", sorted(after.keys() - before.keys())),
        _places("another value has", [path for path in before if path in after and _differ(before[path], after[path])]),
    ]
    return "; ".join(filter(None, parts))


def _places(words: str, paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _MOST_PLACES:,} more" if len(paths) > _MOST_PLACES else ""
    return f"{words} {', '.join(paths[:_MOST_PLACES])}{more}" if paths else ""


def _differ(before: str, after: str) -> bool:
    """False also for values that only the host knows."""
    return before != after and "${" not in before + after


class _TooMany(Exception):
    """The text has more settings, or deeper ones, than are compared."""


def _settings(text: str) -> dict[str, str]:
    """The values by their places. An empty mapping is the same as none."""
    settings: dict[str, str] = {}
    nodes = characters = 0
    for path, value in _values(document(text), ()):
        nodes, characters = nodes + 1, characters + len(path)
        if nodes > _MOST_NODES or characters > _MOST_CHARACTERS:
            raise _TooMany
        if value is not None:
            settings[path] = value
    return settings


def _values(node: yaml.Node | None, path: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    """Each place of the text; None for those that have others below them."""
    place = "::".join(path)
    if place == _OF_HOST:
        return
    if len(path) > _DEEPEST:
        raise _TooMany
    if isinstance(node, yaml.CollectionNode) and node.value:
        yield place, None
    if isinstance(node, yaml.MappingNode) and node.value:
        for key, value in node.value:
            yield from _values(value, (*path, str(key.value)))
    elif isinstance(node, yaml.SequenceNode) and node.value:
        for n, value in enumerate(node.value):
            yield from _values(value, (*path, str(n)))
    else:
        is_empty = not isinstance(node, yaml.ScalarNode) or node.tag.endswith(":null")
        yield place, "" if is_empty else str(node.value if node else "")

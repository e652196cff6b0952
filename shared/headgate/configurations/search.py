"""Finding configurations by name, by a text in them, and by a component, without an index of texts.

A search reads texts, and the ids of components beside them, as they are stored: it is right at any moment, and costs
what it reads, which is bounded. docs/data.md has the figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from headgate.configurations import component_ids, service, store
from headgate.configurations.model import Archived, Configuration, ConfigurationNotFound
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id
from headgate.foundation.page import Slice

MOST_READ: Final = 500
"""Configurations that one request looks at the texts of."""
MOST_NAMES: Final = 2_000
"""Those that it looks at the names of."""
MOST_BYTES: Final = 16 << 20
"""The size of the texts that it reads. A text of a megabyte may be stored in a kilobyte."""
# The texts of the latest and the published version of these are one batch read.
_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class ConfigurationFilter:
    """Filter of a list of configurations; None matches all. `name` is the whole name.

    `text` is in the name, the description, the owner's name, or the text of the latest or the published version,
    whatever the case. `component` is a type, or a type and a name as in `otlp/2`, that one of the two defines.
    """

    name: str | None = None
    text: str | None = None
    component: str | None = None
    archived: Archived = "false"


class NotFoundByName(errors.Invalid):
    """The typed name matches no configuration, or more than one."""

    code = "configuration_not_found_by_name"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, at=("form", field))


def find(caller: Caller, filters: ConfigurationFilter, limit: int, after: str | None) -> Slice[Configuration]:
    """Those of `service.visible` that are wanted, in the same order.

    Reads as many as the constants say: a slice may be short, also empty, and still have a position.
    """
    if filters.name is None and filters.text is None and filters.component is None:
        return service.visible(caller, limit, after, filters.archived)
    reads_texts = filters.text is not None or filters.component is not None
    most = MOST_READ if reads_texts else MOST_NAMES
    matching: list[Configuration] = []
    read = bytes_read = 0
    while True:
        page = service.visible(caller, most, after, filters.archived)
        judged = (_judged(page.entries[at : at + _AT_ONCE], filters) for at in range(0, len(page.entries), _AT_ONCE))
        for entry, matches, size in chain.from_iterable(judged):
            read, bytes_read, after = read + 1, bytes_read + size, service.position(entry)
            if matches:
                matching.append(entry)
            if len(matching) == limit or read == most or bytes_read > MOST_BYTES:
                is_last = page.position is None and entry is page.entries[-1]
                return Slice(matching, None if is_last else after)
        if page.position is None:
            return Slice(matching, None)


def called(caller: Caller, name: str, field: str) -> Configuration:
    """The one of that name, or of that id, for a person who types it into a field; also an archived one.

    Looks at the newest 2,000. Raises NotFoundByName, which names the field.
    """
    if is_id("cfg", name):
        try:
            return service.summary(caller, name)
        except ConfigurationNotFound as error:
            raise NotFoundByName(field, "There is no configuration with this id") from error
    namesakes = find(caller, ConfigurationFilter(name=name, archived="all"), 2, None).entries
    if not namesakes:
        raise NotFoundByName(field, "No configuration among those that you see has this name")
    if len(namesakes) > 1:
        raise NotFoundByName(field, f"More than one configuration has this name: give an id, such as {namesakes[0].id}")
    return namesakes[0]


def fingerprints(listed: Sequence[Configuration]) -> dict[str, tuple[str, str]]:
    """The SHA-256 of the text of each one's latest version, and its collector version, by the configuration's id.

    Two batch reads for each hundred.
    """
    by_version = store.fingerprints({(configuration.id, configuration.latest_version) for configuration in listed})
    return {configuration_id: fingerprint for (configuration_id, _), fingerprint in by_version.items()}


def _judged(
    entries: Sequence[Configuration], filters: ConfigurationFilter
) -> Iterator[tuple[Configuration, bool, int]]:
    """Each entry, whether it is wanted, and how many bytes of texts were read for it."""
    named = [entry for entry in entries if filters.name in (None, entry.name)]
    to_read = [entry for entry in named if filters.component is not None or not _names(entry, filters.text)]
    versions = {(entry.id, n) for entry in to_read for n in (entry.latest_version, entry.published_version) if n}
    stored = store.stored_texts(versions)
    for entry in entries:
        if entry not in named or entry not in to_read:
            yield entry, entry in named, 0
            continue
        shown = {entry.latest_version, entry.published_version}
        rows = [stored[entry.id, n] for n in shown if n and (entry.id, n) in stored]
        matches, size = _names(entry, filters.text), 0
        if not matches:
            texts = [store.text_of(row) for row in rows]
            matches, size = _contain(texts, filters.text), sum(map(len, texts))
        if matches and filters.component is not None:
            matches = any(component_ids.defines(store.components_of(row), filters.component) for row in rows)
        yield entry, matches, size


def _contain(texts: Sequence[str], sought: str | None) -> bool:
    return sought is not None and any(sought.casefold() in text.casefold() for text in texts)


def _names(entry: Configuration, text: str | None) -> bool:
    if text is None:
        return True
    return any(text.casefold() in said.casefold() for said in (entry.name, entry.description or "", entry.owner.name))

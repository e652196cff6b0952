"""docs/data.md as data: every kind of item and object that it lists, and whether what is stored is one of them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headgate_local.database import DatabaseChange
from headgate_local.template import Template

PAGE: Final = Path(__file__).parents[2] / "docs" / "data.md"
_CODE: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Kind:
    """A row of the page: what is at keys like these has these attributes, and no others."""

    place: str
    name: str
    key: tuple[str, ...]
    attributes: frozenset[str]
    modules: frozenset[str]

    def holds(self, place: str, key: Sequence[str], attributes: frozenset[str]) -> bool:
        return (
            place == self.place
            and len(key) == len(self.key)
            and all(re.fullmatch(pattern, text) for pattern, text in zip(self.key, key, strict=True))
            and attributes <= self.attributes
        )


@dataclass
class Stored:
    """Everything that is stored, compared with the page. Its `note` takes what moto has written."""

    template: Template
    undocumented: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._kinds = list(kinds())
        self._places = {table.name: table.logical_id for table in self.template.tables()}
        self._keys = {
            table.name: [key["AttributeName"] for key in table.definition["KeySchema"]]
            for table in self.template.tables()
        }

    def note(self, changes: Sequence[DatabaseChange]) -> None:
        for change in changes:
            if change.value is not None:
                self._compare(change)

    def _compare(self, change: DatabaseChange) -> None:
        kind, _, name = change.place.partition("/")
        if kind == "bucket":
            place, key, attributes = "Bucket", [change.key], frozenset[str]()
        else:
            assert isinstance(change.value, Mapping)
            named = json.loads(change.key)
            place, key = self._places[name], [named[attribute]["S"] for attribute in self._keys[name]]
            attributes = frozenset(change.value) - named.keys()
        found = next((one.name for one in self._kinds if one.holds(place, key, attributes)), None)
        if found is None:
            self.undocumented.add(f"{place} {' '.join(key)} with {', '.join(sorted(attributes))}")
        else:
            self.seen.add(found)


def kinds() -> Iterator[Kind]:
    place = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            place = next(iter(_CODE.findall(line)), "")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if place and len(cells) == 5 and cells[0] not in ("Item", "Object") and not cells[0].startswith("-"):
            # Names in parentheses are of what an attribute holds.
            attributes = frozenset(_CODE.findall(re.sub(r"\([^)]*\)", "", cells[2])))
            key = tuple(_pattern(text) for text in _CODE.findall(cells[1]))
            attributes = frozenset() if place == "Bucket" else attributes
            yield Kind(place, cells[0], key, attributes, frozenset(_CODE.findall(cells[3])))


def modules() -> set[str]:
    """The modules that the page says write and read an item."""
    return {name for kind in kinds() for name in kind.modules}


def _pattern(key: str) -> str:
    return "".join(".+" if part.startswith("<") else re.escape(part) for part in re.split(r"(<[^>]+>)", key) if part)

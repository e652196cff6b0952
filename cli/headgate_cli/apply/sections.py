"""Reading the YAML files of a folder to apply: strictly, with the file and the line of what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from headgate_cli import safe_files
from headgate_cli.file_checks import Check, Wrong, mapping, values
from headgate_cli.suites.files import WrongTests, problems_of
from headgate_cli.yaml_files import Place, parse_with_lines

MOST_NAME: Final = 200


class WrongFolder(WrongTests):
    """Files of a folder that cannot be applied, all of them together."""


def read_text(folder: Path, relative: str) -> str:
    """A file of the folder. Raises Failed, also for a link out of it."""
    return safe_files.read(str(safe_files.below(folder, relative)))


def document(folder: Path, relative: str, check: Check) -> object:
    """Read a YAML file and check what it holds. Raises WrongTests with the line of what is wrong."""
    label = str(folder / relative)
    with problems_of(label) as lines:
        parsed, places = parse_with_lines(read_text(folder, relative), label)
        lines.update(places)
        if not isinstance(parsed, dict):
            raise Wrong((), "must hold keys with values: docs/gitops.md shows which")
        return check((), values(parsed))


def named(check: Check) -> Check:
    """Check a mapping from names of one's own to values of one kind."""

    def checked(place: Place, value: object) -> dict[str, object]:
        entries: dict[str, object] = {}
        for key, entry in mapping(place, value).items():
            if (own := name((*place, key), key)) in entries:
                raise Wrong((*place, key), f"the name {own} is there twice")
            entries[own] = check((*place, key), entry)
        return entries

    return checked


def name(place: Place, value: object) -> str:
    """A name of a configuration, fleet or group."""
    if not isinstance(value, str) or not value.strip() or len(value) > MOST_NAME or not value.isprintable():
        raise Wrong(place, f"must be a name of 1 to {MOST_NAME} printable characters")
    return value.strip()

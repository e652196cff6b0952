"""Reading the YAML files of a folder to apply: strictly, with the file and the line of what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from headgate_cli import safe_files
from headgate_cli.errors import Failed
from headgate_cli.suites import fields as known
from headgate_cli.suites.fields import Wrong
from headgate_cli.suites.files import Problem, WrongTests, line_of, of_file
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import Place, parse_with_lines

# What a key holds, checked and as the plan wants it. Raises Wrong.
Check = Callable[[Place, object], object]
MOST_NAME: Final = 200


class WrongFolder(WrongTests):
    """Files of a folder that cannot be applied, all of them together."""


def read_text(folder: Path, relative: str) -> str:
    """A file of the folder. Raises Failed, also for a link out of it."""
    return safe_files.read(str(safe_files.below(folder, relative)))


def document(folder: Path, relative: str, check: Check) -> object:
    """What a YAML file holds, checked. Raises WrongFolder with the line of what is wrong."""
    label = str(folder / relative)
    lines: Mapping[Place, int] = {}
    try:
        parsed, lines = parse_with_lines(read_text(folder, relative), label)
        if not isinstance(parsed, dict):
            raise Wrong((), "must hold keys with values: docs/gitops.md shows which")
        return check((), known.values(parsed))
    except Wrong as error:
        where = ".".join(str(part + 1) if isinstance(part, int) else part for part in error.place)
        message = f"{one_line(where)}: {error}" if where else str(error)
        raise WrongFolder([Problem(label, line_of(lines, error.place), message)]) from error
    except WrongFolder:
        raise
    except Failed as error:
        raise WrongFolder([of_file(label, error)]) from error


def keys(checks: Mapping[str, Check], required: Sequence[str] = ()) -> Check:
    """A mapping with these keys and no others."""

    def checked(place: Place, value: object) -> dict[str, object]:
        entries = _mapping(place, value)
        for key in entries:
            if key not in checks:
                raise Wrong((*place, key), f"is not a key here{known.meant(key, checks)}")
        for key in required:
            if key not in entries:
                raise Wrong(place, f"{key} is missing")
        return {key: checks[key]((*place, key), entry) for key, entry in entries.items()}

    return checked


def named(check: Check) -> Check:
    """A mapping from names of one's own to values of one kind."""

    def checked(place: Place, value: object) -> dict[str, object]:
        entries: dict[str, object] = {}
        for key, entry in _mapping(place, value).items():
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


def text(place: Place, value: object) -> str:
    if not isinstance(value, str):
        raise Wrong(place, f"must be text, and is {known.a_kind(value)}: put it in quotes")
    return value


def boolean(place: Place, value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong(place, "must be true or false")
    return value


def whole_number(place: Place, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Wrong(place, "must be a whole number")
    return value


def one_of(choices: Iterable[str]) -> Check:
    allowed = tuple(choices)

    def checked(place: Place, value: object) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise Wrong(place, f"must be {' or '.join(allowed)}")
        return value

    return checked


def list_of(check: Check) -> Check:
    def checked(place: Place, value: object) -> list[object]:
        if not isinstance(value, list):
            raise Wrong(place, f"must be a list, and is {known.a_kind(value)}")
        return [check((*place, at), entry) for at, entry in enumerate(value)]

    return checked


def or_null(check: Check) -> Check:
    def checked(place: Place, value: object) -> object:
        return None if value is None else check(place, value)

    return checked


def _mapping(place: Place, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Wrong(place, f"must be names with values, and is {known.a_kind(value)}")
    return value

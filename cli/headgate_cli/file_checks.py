"""Checks of what YAML files hold: a check returns the checked value, or raises Wrong with the place in the file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from headgate_cli.yaml_files import Place

Check = Callable[[Place, object], object]

# Values in all fields of a file together; a text counts as one.
_MOST_VALUES: Final = 100_000
_DEEPEST: Final = 60


class Wrong(ValueError):
    """A value is not as it must be; `place` says which one."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


def keys(checks: Mapping[str, Check], required: Sequence[str] = (), *, noun: str = "a key here") -> Check:
    """Check a mapping that has these keys and no others."""

    def checked(place: Place, value: object) -> dict[str, object]:
        entries = mapping(place, value)
        for key in entries:
            if key not in checks:
                raise Wrong((*place, str(key)), f"is not {noun}{meant(str(key), checks)}")
        for key in required:
            if key not in entries:
                raise Wrong(place, f"{key} is missing")
        return {key: checks[key]((*place, key), entry) for key, entry in entries.items()}

    return checked


def mapping(place: Place, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Wrong(place, f"must be names with values, and is {a_kind(value)}")
    return value


def mapping_of(check: Check) -> Check:
    """Check each value of a mapping from any names."""
    return lambda place, value: {key: check((*place, str(key)), entry) for key, entry in mapping(place, value).items()}


def list_of(check: Check) -> Check:
    def checked(place: Place, value: object) -> list[object]:
        if not isinstance(value, list):
            raise Wrong(place, f"must be a list, and is {a_kind(value)}")
        return [check((*place, at), entry) for at, entry in enumerate(value)]

    return checked


def or_null(check: Check) -> Check:
    return lambda place, value: None if value is None else check(place, value)


def one_of(choices: Iterable[str]) -> Check:
    allowed = tuple(choices)

    def checked(place: Place, value: object) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise Wrong(place, f"must be {' or '.join(allowed)}")
        return value

    return checked


def text(place: Place, value: object) -> str:
    if not isinstance(value, str):
        raise Wrong(place, f"must be text, and is {a_kind(value)}: put it in quotes")
    return value


def boolean(place: Place, value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong(place, "must be true or false")
    return value


def whole_number(place: Place, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Wrong(place, "must be a whole number")
    return value


def meant(name: str, known: Iterable[str]) -> str:
    """The end of a refusal of a name: the one that was probably meant, or all that are known."""
    import difflib

    similar = difflib.get_close_matches(name, list(known), n=1)
    return f": did you mean {similar[0]}?" if similar else f": use {', '.join(known)}"


def a_kind(value: object) -> str:
    """`text`, or `a list` and the like."""
    kind = _kind(value)
    return kind if kind == "text" else f"a {kind}"


def values(document: Mapping[object, object]) -> dict[str, object]:
    """The values as JSON has them. Raises Wrong for a date, a cycle, or too many values."""
    budget = iter(range(_MOST_VALUES))
    return {str(field): _plain(value, (str(field),), budget) for field, value in document.items()}


def _plain(value: object, place: Place, budget: Iterator[int], depth: int = 0) -> object:
    if next(budget, None) is None:
        raise Wrong(place[:1], f"has more than {_MOST_VALUES:,} values: write the sample as text, or into a file")
    if depth > _DEEPEST:
        raise Wrong(place[:1], f"is nested more than {_DEEPEST} deep, or contains itself")
    match value:
        case None | bool() | int():
            return value
        case str():
            return _whole(value, place)
        case float() if math.isfinite(value):
            return value
        case list():
            return [_plain(entry, (*place, at), budget, depth + 1) for at, entry in enumerate(value)]
        case dict():
            return {
                _whole(str(key), place): _plain(entry, (*place, str(key)), budget, depth + 1)
                for key, entry in value.items()
            }
        case _:
            raise Wrong(place, f"is a {_kind(value)} in YAML: put it in quotes to make it text")


def _whole(text: str, place: Place) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Wrong(place, "contains half of a character (a surrogate)") from error
    return text


def _kind(value: object) -> str:
    match value:
        case bool():
            return "truth value"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list():
            return "list"
        case dict():
            return "mapping"
        case bytes():
            return "binary value"
        case _:
            return "date" if hasattr(value, "year") else "value of another type"

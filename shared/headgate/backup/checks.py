"""Checks of an archive's attributes: the type, the shape and a bound of each value that an import writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from headgate.foundation import clock
from headgate.foundation.ids import Prefix, is_id
from headgate.storage.items import Value

Check = Callable[[Value], bool]
"""True if an attribute may have the value."""

# DynamoDB's limits on an item: its size, and how deep its values are nested.
_LONGEST: Final = 400_000
_DEEPEST: Final = 16
_KEY_BYTES: Final = 32
_LONGEST_NAME: Final = 200
# More renewals than a fleet or a group sees in its life.
_MOST_TOKENS: Final = 10_000
_CLOCKS_DIFFER: Final = timedelta(minutes=5)
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_PRINCIPALS: Final[Mapping[str, Prefix]] = {"user": "usr", "service_account": "sva"}
_ACTORS: Final[Mapping[str, Prefix]] = {**_PRINCIPALS, "instance": "ins"}


def text(longest: int = _LONGEST) -> Check:
    return lambda value: isinstance(value, str) and len(value) <= longest


def one_of(*words: str) -> Check:
    return lambda value: isinstance(value, str) and value in words


def an_id(*prefixes: Prefix) -> Check:
    return lambda value: isinstance(value, str) and any(is_id(prefix, value) for prefix in prefixes)


def number(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def counted(value: Value) -> bool:
    """A number that is stored from 1 on."""
    return number(value) and value != 0


def generation(value: Value) -> bool:
    return counted(value) and isinstance(value, int) and value <= _MOST_TOKENS


def flag(value: Value) -> bool:
    return isinstance(value, bool)


def packed(value: Value) -> bool:
    return isinstance(value, bytes) and len(value) <= _LONGEST


def host_key(value: Value) -> bool:
    if not isinstance(value, Mapping) or value.keys() != {"public", "start", "number"}:
        return False
    public = value["public"]
    return (
        isinstance(public, bytes) and len(public) == _KEY_BYTES and number(value["start"]) and number(value["number"])
    )


def time(value: Value) -> bool:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        return False
    try:
        return clock.rfc3339(clock.parse(value)) == value
    except ValueError:
        return False


def past(value: Value) -> bool:
    """A time that is not ahead of this machine's, apart from what clocks differ by."""
    return isinstance(value, str) and time(value) and clock.parse(value) <= clock.now() + _CLOCKS_DIFFER


def digest(value: Value) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def principal(value: Value) -> bool:
    return _is_actor(value, _PRINCIPALS)


def actor(value: Value) -> bool:
    """A principal, or an instance."""
    return _is_actor(value, _ACTORS)


def _is_actor(value: Value, prefixes: Mapping[str, Prefix]) -> bool:
    if not isinstance(value, Mapping) or value.keys() != {"kind", "id", "name"}:
        return False
    prefix = prefixes.get(str(value["kind"]))
    return prefix is not None and an_id(prefix)(value["id"]) and text(1_000)(value["name"])


def mapping(value: Value) -> bool:
    return isinstance(value, Mapping) and _depth(value) <= _DEEPEST


def entries(value: Value) -> bool:
    return isinstance(value, list) and _depth(value) <= _DEEPEST


def names(value: Value) -> bool:
    return isinstance(value, list) and all(text(_LONGEST_NAME)(entry) for entry in value)


def texts(value: Value) -> bool:
    return isinstance(value, Mapping) and all(isinstance(entry, str) for entry in value.values())


def _depth(value: Value) -> int:
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0

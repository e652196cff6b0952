"""A part of a list, as stores and services return it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Slice(Generic[Entry]):
    """Entries in order. `position` is where the next slice starts; None if this is the last one."""

    entries: Sequence[Entry]
    position: str | None

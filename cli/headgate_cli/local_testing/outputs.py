"""Comparing outputs with a collector of this machine, in the form of the API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from headgate_cli.api import Entity, entities
from headgate_cli.local_collector import LocalCollector, Refused

# The checker's own bound, before a question is made of more.
_MOST_CHARACTERS: Final = 16 << 20
_OURS: Final = ("not_otlp", "bad_path", "too_large", "too_costly")
# What the collector leaves out.
_OF_A_FIELD: Final = {"path": None, "change": None, "left": None, "right": None, "cut": False}
_OF_A_DIFFERENCE: Final = {
    **dict.fromkeys(("signal", "change", "left", "right", "name")),
    "fields": (),
    "fields_left_out": 0,
}
_LONGEST: Final = timedelta(minutes=10)


class Incomparable(Exception):
    """These outputs cannot be compared; the message says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Ran:
    """When runs took place, or may have. Times within it were made by the run, and equal each other."""

    since: datetime

    @classmethod
    def now(cls) -> Ran:
        return cls(datetime.now(UTC))

    def span(self) -> Entity:
        return {"from": self.since.isoformat(), "until": (self.since + _LONGEST).isoformat()}


def compare(
    collector: LocalCollector,
    left: str,
    right: str,
    *,
    ignore: object,
    left_ran: Ran | None,
    right_ran: Ran,
    max_bytes: int,
) -> Entity:
    """What differs between two outputs, with the fields of the API's. Raises Incomparable, and what `ask` does."""
    if len(left) + len(right) > _MOST_CHARACTERS:
        raise Incomparable("too_large", f"Both outputs together are over {_MOST_CHARACTERS >> 20} MB")
    request = {
        "left": left,
        "right": right,
        "ignore": ignore,
        "left_ran": left_ran.span() if left_ran else None,
        "right_ran": right_ran.span(),
        "max_bytes": max_bytes,
    }
    try:
        answer = collector.ask("compare", request)
    except Refused as refused:
        if refused.code in _OURS:
            raise Incomparable(refused.code, refused.message) from refused
        raise
    return {
        "equal": answer.get("equal") is True,
        "signals": answer.get("signals"),
        "differences": [
            {**_given(one, _OF_A_DIFFERENCE), "fields": _all_given(entities(one, "fields"), _OF_A_FIELD)}
            for one in entities(answer, "differences")
        ],
        "left_out": answer.get("left_out"),
        "profiles": answer.get("profiles") or 0,
    }


def _given(entity: Entity, fields: Entity) -> Entity:
    """With exactly these fields; those that are absent have the default."""
    return {name: entity.get(name, default) for name, default in fields.items()}


def _all_given(entries: Sequence[Entity], fields: Entity) -> list[Entity]:
    return [_given(entry, fields) for entry in entries]

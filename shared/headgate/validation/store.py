"""Verdicts that were seen, in the versions table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from headgate.foundation import clock
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.table import Key
from headgate_engine.validation.model import Verdict


def put(at: Key, verdict: Verdict, ends_at: datetime) -> None:
    """One put; the newest verdict counts."""
    seen: Item = {
        "valid": verdict.valid,
        "errors": verdict.errors,
        "problem": verdict.problem,
        "at": clock.rfc3339(verdict.at),
        "expires": int(ends_at.timestamp()),
    }
    table.versions.put(at | seen)


def verdicts(wanted: Iterable[Key]) -> dict[str, Verdict]:
    """Those that are known, by `item`; one batch read for each hundred."""
    return {
        items.text(item, "item"): Verdict(
            valid=item["valid"] is True,
            errors=items.number(item, "errors"),
            problem=items.optional_text(item, "problem") or "",
            at=clock.parse(items.text(item, "at")),
        )
        for item in table.versions.get_all([*wanted])
        if items.number(item, "expires") > clock.now().timestamp()
    }

"""Verdicts that were seen, in the versions table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from headgate.foundation import clock
from headgate.storage import items, table
from headgate.storage.stored import Stored
from headgate.storage.table import Key
from headgate_engine.validation.model import Verdict

_VERDICTS: Final = Stored(Verdict)


def put(at: Key, verdict: Verdict, ends_at: datetime) -> None:
    """One put; the newest verdict counts."""
    table.versions.put(at | _VERDICTS.item(verdict) | {"expires": int(ends_at.timestamp())})


def verdicts(stored_as: Iterable[Key]) -> dict[str, Verdict]:
    """Those that are known, by `item`; one batch read for each hundred."""
    return {
        items.text(item, "item"): _VERDICTS.read(item)
        for item in table.versions.get_all([*stored_as])
        if items.number(item, "expires") > clock.now().timestamp()
    }

"""The configuration that an observed collector reports to run: its text without secrets, and since when.

The fleet service redacts a text before anything else sees it. Texts are stored once for each fleet by their hash, which
is that of the redacted text: one of the clear text could be used to try out secrets.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from headgate.fleets import keys
from headgate.foundation import clock
from headgate.storage import items
from headgate.storage.retry import LostRace
from headgate.storage.table import fleets as table
from headgate.storage.table import transact

LASTS: Final = timedelta(days=200)
"""Retention of a text: the time for which events are stored, and the time until it is written again."""
NEXT_FILE: Final = "\n---\n"
"""Separator of the files of a text, each of which begins with its name."""
_WRITTEN_AGAIN: Final = timedelta(days=60)
_MOST_BYTES: Final = 300 << 10
MOST_DELETED: Final = 1_000
"""Texts that are deleted with their fleet."""
_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A reported configuration; `problem` says why there is no text. `components` are those in it, as `kind/type`."""

    text: str | None
    problem: str | None = None
    components: Sequence[str] = ()

    @property
    def sha256(self) -> str | None:
        return None if self.text is None else hashlib.sha256(self.text.encode()).hexdigest()


UNREAD: Final = RedactedText(None, "Its group does not read configurations: reads_configurations is false")


@dataclass(frozen=True, slots=True)
class Effective:
    """The reported configuration by the hash of its text, since `at`; `former` is the hash of the one before.

    `problem` says why a text is not known. `stored_at` is when the text was written last.
    """

    sha256: str | None
    at: datetime
    stored_at: datetime
    former: str | None = None
    problem: str | None = None
    components: Sequence[str] = ()

    @classmethod
    def after(cls, before: Effective | None, reported: RedactedText, at: datetime) -> Effective:
        """Merge a report of the configuration."""
        sha256 = reported.sha256
        if before is None or (before.sha256, before.problem) != (sha256, reported.problem):
            former = before.sha256 or before.former if before else None
            return cls(sha256, at, at, former, reported.problem, tuple(reported.components))
        return replace(before, stored_at=at) if at - before.stored_at > _WRITTEN_AGAIN else before


def store(fleet_id: str, reported: RedactedText, at: datetime) -> None:
    """Write a text; one put, whatever was there, since the same hash is the same text."""
    if reported.text is None:
        return
    packed = zlib.compress(reported.text.encode(), 9)
    if len(packed) <= _MOST_BYTES:
        item = {"sha256": reported.sha256, "text": packed, "stored_at": clock.rfc3339(at)}
        table.put(keys.effective(fleet_id, str(reported.sha256)) | item | {"expires": int((at + LASTS).timestamp())})


def text(fleet_id: str, sha256: str) -> str | None:
    """The text of that hash; one read."""
    item = table.get(keys.effective(fleet_id, sha256))
    packed = item["text"] if item else None
    return zlib.decompress(packed).decode() if isinstance(packed, bytes) else None


def delete_all(fleet_id: str) -> None:
    """Delete texts of a fleet that is gone, up to `MOST_DELETED`: those that are left expire.

    A query for each megabyte, and a transaction for each hundred.
    """
    stored = list(islice(table.each(keys.of_fleet(fleet_id), keys.EFFECTIVE), MOST_DELETED))
    for n in range(0, len(stored), _AT_ONCE):
        removals = [
            table.delete(keys.effective(fleet_id, items.text(item, "sha256"))) for item in stored[n:][:_AT_ONCE]
        ]
        # A host that reports at this moment writes its text again.
        with suppress(LostRace):
            transact(removals)

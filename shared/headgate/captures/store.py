"""Captures and an organization's redaction in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import Final

from headgate.captures.model import DEFAULT, Capture, Redaction
from headgate.fleets import keys
from headgate.foundation.page import Slice
from headgate.storage import items, objects
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import Write, transact
from headgate.storage.table import fleets as table

_CAPTURES: Final = Stored(Capture, names={"id": "capture_id"}, flat=["version", "target"])
_REDACTIONS: Final = Stored(Redaction)
_FOLDER: Final = "captures"
read_sample = objects.read_unless_missing


def capture(fleet_id: str, capture_id: str) -> Capture | None:
    """One read."""
    # As the fleet service may read: it has no right to single items of a fleet.
    rows = table.get_all([keys.capture(fleet_id, capture_id)])
    return _CAPTURES.read(rows[0]) if rows else None


def captures(fleet_id: str, limit: int, after: str | None) -> Slice[Capture]:
    """Newest first; one query."""
    return table.page(keys.of_fleet(fleet_id), keys.CAPTURES, limit, after, _CAPTURES.read, newest_first=True)


def creating(created: Capture) -> Write:
    return table.put_new(_item(created))


def changing(before: Capture, after: Capture) -> Write:
    """Its condition is that nobody changed the capture since it was read."""
    return table.put_if(_item(after) | {"revision": before.revision + 1}, *table.at_revision(before.revision))


def delete(capture: Capture) -> None:
    """Delete a capture. Raises LostRace if it was changed since it was read."""
    transact([table.delete(keys.capture(capture.fleet_id, capture.id), *table.at_revision(capture.revision))])


def write_sample(capture_id: str, sha256: str, packed: bytes) -> str:
    """Store a sample, and return its key: by its content, so that writing it again changes nothing. One PUT."""
    key = f"{_FOLDER}/{capture_id}/{sha256}"
    objects.write(key, packed)
    return key


def delete_samples(capture_id: str) -> None:
    """For good, with what a hostile host may have sent besides."""
    objects.delete_for_good(f"{_FOLDER}/{capture_id}/")


def redaction(organization_id: str) -> tuple[Redaction, int]:
    """With its revision, 0 for the default; one read."""
    item = table.get(keys.redaction(organization_id))
    return (_REDACTIONS.read(item), items.number(item, "revision")) if item else (DEFAULT, 0)


def put_redaction(organization_id: str, redaction: Redaction, before: int, record: Write) -> None:
    """One transaction, with the record of the change. Raises LostRace if it was changed since revision `before`."""
    item = keys.redaction(organization_id) | _REDACTIONS.item(redaction) | {"revision": before + 1}
    transact([table.put_if(item, *table.at_revision(before)), record])


def _item(capture: Capture) -> Item:
    item = _CAPTURES.item(capture) | {"expires": int(capture.expires_at.timestamp())}
    if capture.reason is not None:
        # It is over: no host is told any more.
        item["redaction"] = None
    return keys.capture(capture.fleet_id, capture.id) | item

"""Captures and an organization's redaction in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from headgate.captures.model import DEFAULT, Capture, Redaction, Wanted
from headgate.deployments.versions import Assignment
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.instances.orders.captured import Reason
from headgate.storage import items, objects, principals
from headgate.storage.items import Item, Value
from headgate.storage.page import Slice
from headgate.storage.table import Write, transact
from headgate.storage.table import fleets as table
from headgate_engine.collector import Signal

_FOLDER: Final = "captures"


def capture(fleet_id: str, capture_id: str) -> Capture | None:
    """One read."""
    # As the fleet service may read: it has no right to single items of a fleet.
    found = table.get_all([keys.capture(fleet_id, capture_id)])
    return _capture(found[0]) if found else None


def captures(fleet_id: str, limit: int, after: str | None) -> Slice[Capture]:
    """Newest first; one query."""
    start = keys.sort_key(keys.CAPTURES, after)
    rows = table.list(keys.of_fleet(fleet_id), keys.CAPTURES, limit, start, newest_first=True)
    return Slice([_capture(item) for item in rows.entries], keys.position(keys.CAPTURES, rows.position))


def creating(created: Capture) -> Write:
    return table.put_new(_item(created))


def changing(before: Capture, after: Capture) -> Write:
    """Its condition is that nobody changed the capture since it was read."""
    item = _item(after) | {"revision": before.revision + 1}
    return table.put_if(item, "revision = :revision", {":revision": before.revision})


def delete(capture: Capture) -> None:
    """Delete a capture. Raises LostRace if it was changed since it was read."""
    key = keys.capture(capture.fleet_id, capture.id)
    transact([table.delete(key, "revision = :revision", {":revision": capture.revision})])


def write_sample(capture_id: str, sha256: str, packed: bytes) -> str:
    """Store a sample, and return its key: by its content, so that writing it again changes nothing. One PUT."""
    key = f"{_FOLDER}/{capture_id}/{sha256}"
    objects.write(key, packed)
    return key


def read_sample(key: str) -> bytes | None:
    """One GET; None if it has expired."""
    return objects.read_unless_missing(key)


def delete_samples(capture_id: str) -> None:
    """For good, with what a hostile host may have sent besides."""
    objects.delete_for_good(f"{_FOLDER}/{capture_id}/")


def redaction(organization_id: str) -> tuple[Redaction, int]:
    """With its revision, 0 for the default; one read."""
    item = table.get(keys.redaction(organization_id))
    return (_redaction(item), items.number(item, "revision")) if item else (DEFAULT, 0)


def put_redaction(organization_id: str, redaction: Redaction, before: int, record: Write) -> None:
    """One transaction, with the record of the change. Raises LostRace if it was changed since revision `before`."""
    item = keys.redaction(organization_id) | _redaction_item(redaction) | {"revision": before + 1}
    write = table.put_if(item, "revision = :revision", {":revision": before}) if before else table.put_new(item)
    transact([write, record])


def _item(capture: Capture) -> Item:
    wanted = capture.wanted
    return keys.capture(capture.fleet_id, capture.id) | {
        "capture_id": capture.id,
        "fleet_id": capture.fleet_id,
        "deployment_id": capture.deployment_id,
        "instance_id": capture.instance_id,
        "host_name": capture.host_name,
        "configuration_id": capture.version.configuration_id,
        "version_number": capture.version.version_number,
        "signal_type": wanted.signal_type,
        "pipeline": wanted.pipeline,
        "component": wanted.component,
        "context": wanted.context,
        "condition": wanted.condition,
        "max_records": wanted.max_records,
        "duration_seconds": wanted.duration_seconds,
        "created_at": clock.rfc3339(capture.created_at),
        "created_by": principals.attribute(capture.created_by),
        "redaction": _redaction_item(capture.redaction) if capture.reason is None else None,
        "started_at": clock.rfc3339(capture.started_at) if capture.started_at else None,
        "ended_at": clock.rfc3339(capture.ended_at) if capture.ended_at else None,
        "ending_by": principals.attribute(capture.ending_by) if capture.ending_by else None,
        "reason": capture.reason,
        "error": capture.error,
        "records": capture.records,
        "left_out": capture.left_out,
        "redacted": capture.redacted,
        "sample_key": capture.sample_key,
        "revision": capture.revision,
        "expires": int(capture.expires_at.timestamp()),
    }


def _capture(item: Item) -> Capture:
    started, ended = (items.optional_text(item, name) for name in ("started_at", "ended_at"))
    return Capture(
        id=items.text(item, "capture_id"),
        fleet_id=items.text(item, "fleet_id"),
        deployment_id=items.text(item, "deployment_id"),
        instance_id=items.text(item, "instance_id"),
        host_name=items.optional_text(item, "host_name"),
        version=Assignment(items.text(item, "configuration_id"), items.number(item, "version_number")),
        wanted=Wanted(
            signal_type=cast("Signal", items.text(item, "signal_type")),
            pipeline=items.text(item, "pipeline"),
            component=items.text(item, "component"),
            context=cast("Any", items.text(item, "context")),
            condition=items.text(item, "condition"),
            max_records=items.number(item, "max_records"),
            duration_seconds=items.number(item, "duration_seconds"),
        ),
        created_at=clock.parse(items.text(item, "created_at")),
        created_by=principals.read(item, "created_by"),
        redaction=_redaction(items.mapping(item, "redaction")) if item.get("redaction") else DEFAULT,
        started_at=clock.parse(started) if started else None,
        ended_at=clock.parse(ended) if ended else None,
        ending_by=principals.read(item, "ending_by") if item.get("ending_by") else None,
        reason=cast("Reason | None", items.optional_text(item, "reason")),
        error=items.optional_text(item, "error"),
        records=items.number(item, "records"),
        left_out=items.number(item, "left_out"),
        redacted=items.number(item, "redacted"),
        sample_key=items.optional_text(item, "sample_key"),
        revision=items.number(item, "revision"),
    )


def _redaction_item(redaction: Redaction) -> Item:
    lists: Mapping[str, Sequence[str]] = {
        "kinds": redaction.kinds,
        "patterns": redaction.patterns,
        "keys": redaction.keys,
    }
    return {name: list(one) for name, one in lists.items()}


def _redaction(item: Mapping[str, Value]) -> Redaction:
    kinds, patterns, names = (tuple(cast("list[str]", item[name])) for name in ("kinds", "patterns", "keys"))
    return Redaction(cast("Any", kinds), patterns, names)

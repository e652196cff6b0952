"""The item with an organization's policies, in the identity table. One function, one access pattern."""

from __future__ import annotations

import json
from dataclasses import asdict

from headgate.foundation import clock
from headgate.policies import keys
from headgate.policies.model import Stored, settings_in
from headgate.storage import items, principals, table
from headgate.storage.items import Item
from headgate.storage.table import Write


def get(organization_id: str) -> Stored:
    """One read. Without an item it is the default, of revision 0."""
    item = table.identity.get(keys.policies(organization_id))
    if item is None:
        return Stored()
    return Stored(
        settings=settings_in(items.text(item, "settings")),
        revision=items.number(item, "revision"),
        updated_at=clock.parse(items.text(item, "updated_at")),
        updated_by=principals.read(item, "updated_by"),
    )


def save(organization_id: str, before: Stored, after: Stored, *records: Write) -> None:
    """One transaction, with `records` of the change. Raises LostRace if the settings are not as in `before`."""
    assert after.updated_at is not None
    assert after.updated_by is not None
    item = keys.policies(organization_id) | {
        "settings": json.dumps(asdict(after.settings), ensure_ascii=False),
        "revision": after.revision,
        "updated_at": clock.rfc3339(after.updated_at),
        "updated_by": principals.attribute(after.updated_by),
    }
    table.transact([table.identity.put_if(item, *_as_in(before)), *records])


def unchanged(organization_id: str, known: Stored) -> Write:
    """For another change's transaction, which fails unless the settings are still these."""
    return table.identity.check(keys.policies(organization_id), *_as_in(known))


def _as_in(known: Stored) -> tuple[str, Item]:
    if known.revision == 0:
        return "attribute_not_exists(pk)", {}
    return "revision = :known", {":known": known.revision}

"""The item with an organization's policies, in the identity table. One function, one access pattern."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Final

from headgate.policies import keys
from headgate.policies.model import StoredPolicies, settings_in
from headgate.storage import stored, table
from headgate.storage.table import Write

_SETTINGS: Final = stored.Form(
    lambda settings: json.dumps(asdict(settings), ensure_ascii=False), lambda text, _: settings_in(text)
)
_POLICIES: Final = stored.Stored(StoredPolicies, forms={"settings": _SETTINGS})


def get(organization_id: str) -> StoredPolicies:
    """One read. Without an item it is the default, of revision 0."""
    item = table.identity.get(keys.policies(organization_id))
    if item is None:
        return StoredPolicies()
    return _POLICIES.read(item)


def save(organization_id: str, before: StoredPolicies, after: StoredPolicies, *records: Write) -> None:
    """One transaction, with `records` of the change. Raises LostRace if the settings are not as in `before`."""
    item = keys.policies(organization_id) | _POLICIES.item(after)
    table.transact([table.identity.put_if(item, *table.identity.at_revision(before.revision)), *records])


def unchanged(organization_id: str, known: StoredPolicies) -> Write:
    """For another change's transaction, which fails unless the settings are still these."""
    return table.identity.check(keys.policies(organization_id), *table.identity.at_revision(known.revision))

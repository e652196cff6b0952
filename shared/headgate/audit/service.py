"""Writing and reading the record of changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate.audit import store
from headgate.audit.model import ANY, AuditRecord, RecordFilter
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.page import Slice
from headgate.foundation.principal import Actor, Principal
from headgate.storage import table
from headgate.storage.table import Write

# A page of a filtered list reads no more: a megabyte of the table at most.
_MOST_READ: Final = 1_000


def entry(caller: Caller, action: str, target: str, **details: str) -> Write:
    """The record of a change by `caller`, for the change's own transaction: both are stored, or neither."""
    by = caller.organization_id, caller.principal, caller.credential_id, caller.name
    return entry_by(*by, action, target, details)


def entry_of_invited(organization_id: str, actor: Principal, session_id: str, action: str, **details: str) -> Write:
    """The same for a change by a person who was invited and is not a member."""
    return entry_by(organization_id, actor, session_id, actor.name, action, actor.id, details)


def entry_by(
    organization_id: str,
    actor: Actor,
    credential_id: str,
    credential_name: str,
    action: str,
    target: str,
    details: Mapping[str, str],
) -> Write:
    """The same for a host, or later on behalf of somebody, with the credential that was used then."""
    at = clock.now()
    return store.put(
        AuditRecord(
            new_id("aud", at), organization_id, at, actor, credential_id, credential_name, action, target, details
        )
    )


def append(caller: Caller, action: str, target: str, **details: str) -> None:
    """Store the record of a change that has been made; one put."""
    table.write(entry(caller, action, target, **details))


def records(caller: Caller, limit: int, after: str | None, filters: RecordFilter = ANY) -> Slice[AuditRecord]:
    """The organization's records, newest first; one query. Raises AdminRequired.

    If `wanted` leaves out some between others, `_MOST_READ` records are looked through, and the slice may have fewer
    than there are: its position says whether more may follow.
    """
    caller.require_admin()
    size = _MOST_READ if filters.filters else limit
    page = store.records(caller.organization_id, size, after, filters.since, filters.until)
    matching = [record for record in page.entries if filters.has(record)]
    if len(matching) > limit:
        return Slice(matching[:limit], store.position(matching[limit - 1]))
    return Slice(matching, page.position)

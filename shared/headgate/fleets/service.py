"""Fleets and their tokens: any member sees them, any writer creates them, an Admin renews a token.

A server fleet begins with a group, so fleets are created through `headgate.deployments.service.create_fleet`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from headgate.audit import service as audit
from headgate.fleets import store, tokens
from headgate.fleets.model import (
    DAYS,
    GRACES,
    ExpiresIn,
    Fleet,
    FleetLimitReached,
    FleetMode,
    FleetNotFound,
    FleetsNotConfigured,
    FleetToken,
    FleetType,
    Grace,
)
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.page import Slice
from headgate.foundation.settings import settings
from headgate.storage.retry import retried, retry
from headgate.storage.table import Write, transact

# For other concepts, which use no store.
all_fleets, token, changed, group_added = store.all_fleets, store.token, store.changed, store.group_added
# A transaction has room for 100 writes; a token that was renewed more often than this has long ended.
_MAX_ENDED: Final = 50


def fleets(caller: Caller, limit: int, after: str | None, label: str | None = None) -> Slice[Fleet]:
    """The organization's, newest first, or the one with that label; one query, or two reads."""
    if label is not None:
        fleet = store.labelled(caller.organization_id, label)
        return Slice([fleet] if fleet else [], None)
    return store.fleets(caller.organization_id, limit, after)


def get(caller: Caller, fleet_id: str) -> Fleet:
    """One read. Raises FleetNotFound."""
    return of_organization(caller.organization_id, fleet_id)


def of_organization(organization_id: str, fleet_id: str) -> Fleet:
    """One read, for a request that was found to act in the organization. Raises FleetNotFound."""
    fleet = store.fleet(organization_id, fleet_id)
    if fleet is None:
        raise FleetNotFound
    return fleet


def endpoint() -> str:
    """The origin that collectors report to. Raises FleetsNotConfigured."""
    if not settings().fleet_endpoint:
        raise FleetsNotConfigured
    return settings().fleet_endpoint.rstrip("/")


def new_fleet(
    caller: Caller,
    label: str,
    fleet_type: FleetType,
    expires_in: ExpiresIn,
    managed_by: str | None = None,
    mode: FleetMode = "managed",
) -> Fleet:
    """A fleet that is not stored yet. Raises FleetsNotConfigured, FleetLimitReached."""
    endpoint()
    if settings().fleet_limit == 0:
        raise FleetLimitReached(0)
    at = clock.now()
    # Specified: the token of a Kubernetes fleet does not expire.
    expires_in = "never" if fleet_type == "kubernetes-supervisor" else expires_in
    return Fleet(
        id=new_id("flt", at),
        organization_id=caller.organization_id,
        label=label,
        type=fleet_type,
        expires_in=expires_in,
        token_expires_at=expiry(expires_in, at),
        token_generation=1,
        default_deployment_id=None,
        created_by=caller.principal,
        created_at=at,
        managed_by=managed_by,
        mode=mode,
    )


def create(fleet: Fleet, *beside: Write) -> Fleet:
    """Store a new fleet with its token; one transaction, with `beside` in it. Raises LabelTaken, FleetLimitReached."""
    token_hash = tokens.hash_at(fleet.id, fleet.token_generation)
    retry(lambda: store.create(fleet, token_hash, settings().fleet_limit, *beside))
    return fleet


def deleting(fleet: Fleet) -> list[Write]:
    """The writes that delete a fleet with its tokens, unless it is changed meanwhile."""
    return store.deleting(fleet, [tokens.hash_at(fleet.id, generation) for generation in _generations(fleet)])


def expiry(expires_in: ExpiresIn, at: datetime) -> datetime | None:
    """Expiry of a token that is issued at that time; None for never."""
    days = DAYS.get(expires_in)
    return at + timedelta(days=days) if days else None


def token_of_group(fleet: Fleet, deployment_id: str, generation: int, expires_at: datetime | None) -> Write:
    """For the transaction that issues a group's own token."""
    token = FleetToken(fleet.id, fleet.organization_id, expires_at, deployment_id)
    return store.put_token(tokens.hash_at(deployment_id, generation), token)


def token_ends(holder: str, generation: int, at: datetime | None) -> Write:
    """For a transaction that ends a token of a fleet or a group at that time, or at once."""
    return store.end_token(tokens.hash_at(holder, generation), at)


@retried
def renew_token(caller: Caller, fleet_id: str, grace: Grace) -> Fleet:
    """Issue the fleet's next token. The previous one stays valid for the grace; with `none`, all previous ones end.

    One transaction with the record of the change. Raises AdminRequired, FleetNotFound.
    """
    caller.require_admin()
    at, before = clock.now(), get(caller, fleet_id)
    current = before.token_generation
    end = previous_ends_at(grace, before.token_expires_at, at)
    after = replace(
        before,
        token_generation=current + 1,
        token_expires_at=expiry(before.expires_in, at),
        previous_token_ends_at=end,
        previous_while_used=grace == "unused",
    )
    previous: list[tuple[str, datetime | None]]
    if end is not None:
        previous = [(tokens.hash_at(fleet_id, current), end)]
        if current >= _MAX_ENDED:
            # So that never more tokens are valid than a renewal without a grace can end.
            previous.append((tokens.hash_at(fleet_id, current - _MAX_ENDED + 1), None))
    else:
        previous = [(tokens.hash_at(fleet_id, generation), None) for generation in _generations(before)]
    record = audit.entry(caller, "fleet.token_renewed", f"fleets/{fleet_id}", grace=grace)
    store.renew_token(before, after, tokens.hash_at(fleet_id, after.token_generation), previous, record)
    return after


def end_previous(fleet: Fleet, at: datetime) -> None:
    """End the token before the last renewal, which no host uses. Raises LostRace if it was renewed again."""
    ended = tokens.hash_at(fleet.id, fleet.token_generation - 1)
    transact([store.previous_ended(fleet, at), store.end_token(ended, at)])


def previous_ends_at(grace: Grace, expires_at: datetime | None, at: datetime) -> datetime | None:
    """The end of a token that is renewed now; None for at once."""
    end = at + GRACES[grace]
    return min(end, expires_at or end) if GRACES[grace] else None


def _generations(fleet: Fleet) -> range:
    """The generations of tokens that may be valid."""
    return range(max(1, fleet.token_generation - _MAX_ENDED + 1), fleet.token_generation + 1)

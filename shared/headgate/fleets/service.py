"""What can be done with fleets: any member sees them, any writer makes them."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from headgate.audit import service as audit
from headgate.deployments.model import Deployment
from headgate.fleets import store, tokens
from headgate.fleets.model import (
    GRACES,
    ExpiresIn,
    Fleet,
    FleetLimitReached,
    FleetNotFound,
    FleetsNotConfigured,
    FleetType,
    Grace,
    token_lifetime,
)
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.identity.hashing import hash_of
from headgate.instances import counting
from headgate.settings import settings
from headgate.storage.page import Slice
from headgate.storage.retry import retry

# A transaction has room for 100 writes; what is older than this many renewals has long ended.
_MOST_ENDED: Final = 50


def fleets(caller: Caller, limit: int, after: str | None) -> Slice[Fleet]:
    """The organization's, newest first, with their collectors counted; one query, and what counting them costs."""
    found = store.fleets(caller.organization_id, limit + 1, after)
    return Slice(counting.counted(found[:limit], clock.now()), found[limit - 1].id if len(found) > limit else None)


def counted(caller: Caller, fleet_id: str) -> Fleet:
    """A fleet with its collectors counted. Raises FleetNotFound."""
    return counting.counted([get(caller, fleet_id)], clock.now())[0]


def get(caller: Caller, fleet_id: str) -> Fleet:
    """One read. Raises FleetNotFound."""
    return of_organization(caller.organization_id, fleet_id)


def of_organization(organization_id: str, fleet_id: str) -> Fleet:
    """One read, for whoever was found to act in the organization. Raises FleetNotFound."""
    found = store.fleet(organization_id, fleet_id)
    if found is None:
        raise FleetNotFound
    return found


def endpoint() -> str:
    """The origin that collectors report to. Raises FleetsNotConfigured."""
    if not settings().fleet_endpoint:
        raise FleetsNotConfigured
    return settings().fleet_endpoint.rstrip("/")


def create(caller: Caller, label: str, fleet_type: FleetType, expires_in: ExpiresIn) -> Fleet:
    """Make a fleet with its token, a server fleet with its Default group; one transaction.

    Raises FleetsNotConfigured, LabelTaken, FleetLimitReached.
    """
    endpoint()
    if settings().fleet_limit == 0:
        raise FleetLimitReached(0)
    at = clock.now()
    fleet_id = new_id("flt", at)
    on_kubernetes = fleet_type == "kubernetes-supervisor"
    # The token of a Kubernetes fleet does not expire, whatever was asked for.
    kept_for = "never" if on_kubernetes else expires_in
    lifetime = token_lifetime(kept_for)
    default = None if on_kubernetes else Deployment.default(fleet_id, at)
    fleet = Fleet(
        id=fleet_id,
        organization_id=caller.organization_id,
        label=label,
        type=fleet_type,
        expires_in=kept_for,
        token_expires_at=at + lifetime if lifetime else None,
        token_generation=1,
        default_deployment_id=default.id if default else None,
        created_by=caller.principal,
        created_at=at,
    )
    token_hash = hash_of(tokens.value_of(fleet.id, fleet.token_generation))
    retry(lambda: store.create(fleet, token_hash, default, settings().fleet_limit))
    return fleet


def renew_token(caller: Caller, fleet_id: str, grace: Grace) -> Fleet:
    """Issue the fleet's next token. The one before goes on for the grace; without one, every older one ends at once.

    One transaction with the record of the change. Raises AdminRequired, FleetNotFound.
    """
    caller.require_admin()

    def once() -> Fleet:
        at, before = clock.now(), get(caller, fleet_id)
        lifetime = token_lifetime(before.expires_in)
        after = replace(
            before,
            token_generation=before.token_generation + 1,
            token_expires_at=at + lifetime if lifetime else None,
        )

        def hash_at(generation: int) -> str:
            return hash_of(tokens.value_of(fleet_id, generation))

        current = before.token_generation
        old: list[tuple[str, datetime | None]]
        if GRACES[grace]:
            end = at + GRACES[grace]
            old = [(hash_at(current), min(end, before.token_expires_at or end))]
            if current >= _MOST_ENDED:
                # No more than "at once" can end ever go on, however often somebody renews.
                old.append((hash_at(current - _MOST_ENDED + 1), None))
        else:
            old = [(hash_at(each), None) for each in range(max(1, current - _MOST_ENDED + 1), current + 1)]
        record = audit.entry(caller, "fleet.token_renewed", f"fleets/{fleet_id}", grace=grace)
        store.renew_token(before, after, hash_at(after.token_generation), old, record)
        return after

    return retry(once)

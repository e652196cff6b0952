"""Leases for checks under way, in the identity table: one item for each token or person, with a set of leases."""

from collections.abc import Collection

from botocore.exceptions import BotoCoreError, ClientError

from headgate.foundation.log import logger
from headgate.identity import keys
from headgate.storage import table
from headgate.storage.items import Item
from headgate.storage.table import ConditionFailed, identity


def add(counted: str, lease: str, limit: int, expires: int) -> frozenset[str] | None:
    """Add the lease if there are fewer than `limit`; one conditional write. None if it was added, else those there are.

    DynamoDB removes the item some time after `expires`, in seconds since 1970.
    """
    added = identity.update(
        keys.checks(counted),
        "SET expires = :expires ADD leases :lease",
        "attribute_not_exists(leases) OR size(leases) < :limit",
        {":lease": frozenset([lease]), ":expires": expires, ":limit": limit},
    )
    try:
        table.write(added)
    except ConditionFailed as error:
        leases = error.item.get("leases")
        return leases if isinstance(leases, frozenset) else frozenset()
    return None


def remove(counted: str, leases: Collection[str]) -> None:
    """One write."""
    values: Item = {":leases": frozenset(leases)}
    table.write(identity.update(keys.checks(counted), "DELETE leases :leases", values=values))


def give_back(counted: str, lease: str) -> None:
    """Remove a lease whose check has been answered; one write. If that fails, the lease ends by itself."""
    try:
        remove(counted, [lease])
    except (BotoCoreError, ClientError) as error:
        logger.warning("lease_not_given_back", kind=type(error).__name__)

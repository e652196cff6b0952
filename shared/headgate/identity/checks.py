"""What one credential has under way at the collector: so many checks at once, whichever instances answer them.

A lease is an entry of a set, `<when it ends>#<random>`: entering adds one on the condition that the set has room,
leaving takes it away. A request that dies leaves its lease behind, which counts until it ends by itself.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, cast

from botocore.exceptions import BotoCoreError, ClientError

from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.errors import TooManyRequests
from headgate.identity import keys
from headgate.settings import settings
from headgate.storage import aws, items

logger = logging.getLogger(__name__)
# Longer than API Gateway waits for an answer.
_LEASE_SECONDS: Final = 32
_RETRY_AFTER: Final = 1


class TooManyChecks(TooManyRequests):
    """The credential has as many checks under way as it may; one of them has to end first."""

    code = "too_many_checks_under_way"

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} checks of this credential are under way; wait for one of them to end", _RETRY_AFTER)


@contextmanager
def under_way(caller: Caller, *, asked: bool = True) -> Iterator[None]:
    """Hold one of the credential's places while the collector is asked, if it is `asked`.

    One write to take it, one to give it back. Raises TooManyChecks.
    """
    if not asked:
        yield
        return
    credential_id = caller.credential_id
    lease = _enter(credential_id)
    try:
        yield
    finally:
        try:
            _remove(credential_id, [lease])
        except (BotoCoreError, ClientError) as error:
            # What was asked is answered; the lease ends by itself.
            logger.warning("lease_not_given_back kind=%s", type(error).__name__)


def _enter(credential_id: str) -> str:
    now = int(clock.now().timestamp())
    lease = f"{now + _LEASE_SECONDS}#{secrets.token_hex(8)}"
    held = _add(credential_id, lease)
    if held is None:
        return lease
    # Only when there is no room: leases of requests that died.
    ended = [one for one in held if int(one.partition("#")[0]) <= now]
    if ended:
        _remove(credential_id, ended)
        if _add(credential_id, lease) is None:
            return lease
    raise TooManyChecks(settings().checks_under_way)


def _add(credential_id: str, lease: str) -> list[str] | None:
    """None if there was room, else the leases that there are; one conditional write."""
    try:
        aws.dynamodb().update_item(
            TableName=settings().identity_table,
            Key=items.marshal(keys.checks(credential_id)),
            UpdateExpression="SET expires = :expires ADD leases :lease",
            ConditionExpression="attribute_not_exists(leases) OR size(leases) < :limit",
            ExpressionAttributeValues={
                ":lease": {"SS": [lease]},
                **items.marshal(
                    {
                        ":expires": int(lease.partition("#")[0]) + _LEASE_SECONDS,
                        ":limit": settings().checks_under_way,
                    }
                ),
            },
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except ClientError as error:
        if items.condition_failed(error):
            item = cast("Mapping[str, Mapping[str, list[str]]]", error.response.get("Item", {}))
            return item.get("leases", {}).get("SS", [])
        raise
    return None


def _remove(credential_id: str, leases: list[str]) -> None:
    aws.dynamodb().update_item(
        TableName=settings().identity_table,
        Key=items.marshal(keys.checks(credential_id)),
        UpdateExpression="DELETE leases :leases",
        ExpressionAttributeValues={":leases": {"SS": leases}},
    )

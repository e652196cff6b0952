"""How often something that can be guessed may be tried: so many times in a window, counted before each try."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from botocore.exceptions import ClientError

from headgate.foundation import errors
from headgate.identity import keys
from headgate.settings import settings
from headgate.storage import aws, items


class TooManyAttempts(errors.TooManyRequests):
    code = "too_many_attempts"

    def __init__(self, retry_after: int) -> None:
        minutes = -(-retry_after // 60)
        super().__init__(
            f"Too many attempts; try again in {minutes} minute{'s' if minutes > 1 else ''}", retry_after=retry_after
        )


@dataclass(frozen=True, slots=True)
class Limit:
    name: str
    attempts: int
    seconds: int


SIGN_IN_OF_ADDRESS_AND_ACCOUNT: Final = Limit("sign-in", 5, 900)
SIGN_IN_FROM_ADDRESS: Final = Limit("sign-in-from", 50, 900)
# From all addresses together, for browsers in which the account has never been signed in.
SIGN_IN_OF_ACCOUNT: Final = Limit("sign-in-of", 10, 900)
SIGN_IN_OF_KNOWN_BROWSER: Final = Limit("sign-in-known", 5, 900)
# Cognito itself refuses an account more than five in an hour, for an hour.
RESET_MAIL_OF_ACCOUNT: Final = Limit("reset-mail", 1, 900)
CODE_OF_RESET: Final = Limit("reset-code", 5, 3_600)
NEW_PASSWORD_OF_ACCOUNT: Final = Limit("new-password", 5, 900)
INVITATION_OF_ACCOUNT: Final = Limit("invitation", 5, 900)
MAIL_OF_ACCOUNT: Final = Limit("invitation-mail", 5, 900)
USER_CODE_OF_SESSION: Final = Limit("user-code", 10, 300)
LOGIN_FROM_ADDRESS: Final = Limit("login-from", 60, 300)


def take(limit: Limit, of: str, at: datetime) -> None:
    """Count one attempt; one conditional update, two at the start of a window.

    However many try at once, no more than the limit get through. Raises TooManyAttempts.
    """
    window, passed = divmod(int(at.timestamp()), limit.seconds)
    for _ in range(10):
        for condition, change in (
            ("#window = :window AND tried < :most", "SET tried = tried + :one"),
            (
                "attribute_not_exists(#window) OR #window <> :window",
                "SET tried = :one, #window = :window, expires = :expires",
            ),
        ):
            values: items.Item = {":window": window, ":one": 1}
            values |= {":most": limit.attempts} if ":most" in condition else {}
            values |= {":expires": (window + 1) * limit.seconds} if ":expires" in change else {}
            try:
                aws.dynamodb().update_item(
                    TableName=settings().identity_table,
                    Key=items.marshal(_key(limit, of)),
                    UpdateExpression=change,
                    ConditionExpression=condition,
                    ExpressionAttributeNames={"#window": "window"},
                    ExpressionAttributeValues=items.marshal(values),
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if not items.condition_failed(error):
                    raise
                if items.current_item(error).get("window") == window and ":most" in condition:
                    raise TooManyAttempts(limit.seconds - passed) from None
            else:
                return
    raise TooManyAttempts(limit.seconds - passed)


def forget(limit: Limit, of: str) -> None:
    """The attempts led to success: start counting anew."""
    aws.dynamodb().delete_item(TableName=settings().identity_table, Key=items.marshal(_key(limit, of)))


def give_back(limit: Limit, of: str) -> None:
    """The last attempt was no guess."""
    try:
        aws.dynamodb().update_item(
            TableName=settings().identity_table,
            Key=items.marshal(_key(limit, of)),
            UpdateExpression="SET tried = tried - :one",
            ConditionExpression="tried > :none",
            ExpressionAttributeValues=items.marshal({":one": 1, ":none": 0}),
        )
    except ClientError as error:
        if not items.condition_failed(error):
            raise


def _key(limit: Limit, of: str) -> keys.Key:
    # Hashed, so that the key is short and what somebody typed as their address does not stay in the table.
    return keys.attempts(f"{limit.name}#{hashlib.sha256(of.encode()).hexdigest()}")

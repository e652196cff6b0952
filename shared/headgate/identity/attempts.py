"""Limits on guesses: so many tries of a secret in a window, counted before each try."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headgate.foundation import errors
from headgate.identity import attempt_store
from headgate.storage.retry import retry


class TooManyAttempts(errors.TooManyRequests):
    code = "too_many_attempts"

    def __init__(self, retry_after: int) -> None:
        minutes = -(-retry_after // 60)
        super().__init__(
            f"Too many attempts; try again in {minutes} minute{'s' if minutes > 1 else ''}", retry_after=retry_after
        )


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so many attempts in each window of so many seconds. The name is a part of the stored key."""

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
# The same code again from the same mail; no more than CODE_OF_RESET lets through in a window of its own.
SAME_CODE_OF_RESET: Final = Limit("reset-same-code", 10, 86_400)
NEW_PASSWORD_OF_ACCOUNT: Final = Limit("new-password", 5, 900)
INVITATION_OF_ACCOUNT: Final = Limit("invitation", 5, 900)
MAIL_OF_ACCOUNT: Final = Limit("invitation-mail", 5, 900)
USER_CODE_OF_SESSION: Final = Limit("user-code", 10, 300)
LOGIN_FROM_ADDRESS: Final = Limit("login-from", 60, 300)


def take(limit: Limit, subject: str, at: datetime) -> int:
    """Count one attempt: how many there are in this window. One conditional update, two at the start of a window.

    However many try at once, no more than the limit get through. Raises TooManyAttempts.
    """
    window, passed = divmod(int(at.timestamp()), limit.seconds)
    expires = (window + 1) * limit.seconds
    count = retry(lambda: attempt_store.add(_key_of(limit, subject), window, limit.attempts, expires))
    if count is None:
        raise TooManyAttempts(limit.seconds - passed)
    return count


def forget(limit: Limit, subject: str) -> None:
    """Count from none again, as after a success."""
    attempt_store.delete(_key_of(limit, subject))


def give_back(limit: Limit, subject: str) -> None:
    """Do not count the last attempt, which was not a guess."""
    attempt_store.subtract(_key_of(limit, subject))


def _key_of(limit: Limit, subject: str) -> str:
    # Hashed, so that the key is short and an address that somebody typed does not stay in the table.
    return f"{limit.name}#{hashlib.sha256(subject.encode()).hexdigest()}"

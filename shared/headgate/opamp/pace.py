"""Limits on messages of a token and of an instance, counted in this process, without a write to a table.

A message beyond that is answered 429 with the time of its turn. Agents repeat such a message, so hosts that all return
at once are let in one after the other, and lose nothing.
"""

from __future__ import annotations

import math
import random
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from headgate.foundation import clock, errors
from headgate.instances.counting import admission
from headgate.instances.state.intervals import longest

OF_INSTANCE: Final = (2.0, 60.0)
"""Messages a second of an instance, and how many at once: a supervisor sends one each time that something changes."""
LEAST_OF_TOKEN: Final = 50.0
"""Messages a second of a token. It may send twice as many as the heartbeats of a full fleet that reports quickly."""
AT_ONCE_SECONDS: Final = 10.0
"""A token may send the messages of so many seconds at once."""
LONGEST_WAIT: Final = 300.0
"""Seconds: less than the 15 minutes after which a host that is not heard counts as stale."""
BYTES_OF_MESSAGE: Final = 64 << 10
"""A larger message counts as several."""
_NOTED_EVERY: Final = 30.0
"""Seconds: so often at most it is noted that messages of a token are refused, however many are."""
_MOST_KNOWN: Final = 20_000


class TooManyMessages(errors.TooManyRequests):
    """The token, or the instance, sends more than its share. The agent sends the same message again."""

    code = "too_many_messages"

    def __init__(self, sender: str, wait: float) -> None:
        # So that those whose turns are in one second do not all come at its beginning.
        seconds = math.ceil(wait + random.random())  # noqa: S311  not a secret
        super().__init__(f"This {sender} sends too many messages; send this one again in {seconds} s", seconds)


@dataclass(slots=True)
class _Account:
    """The messages that a sender may still send, and the time until which turns have been given to those who wait.

    `noted` is when that was noted last.
    """

    left: float
    at: float
    promised: float = 0.0
    noted: float = 0.0


class SenderPace:
    """The accounts of senders. Those that were not heard for longest are forgotten first, and begin anew."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[str, _Account] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, sender: str, rate: float, at_once: float, now: float) -> float:
        """0 if the sender may send a message, which is taken off; else the seconds until its turn."""
        with self._lock:
            account = self._account(sender, rate, at_once, now)
            if account.left >= 1:
                account.left -= 1
                return 0.0
            account.promised = max(account.promised, now) + 1 / rate
            if account.promised - now > LONGEST_WAIT:
                # Turns begin again: with so many waiting, each of them waits for a random part of the time.
                account.promised = now + LONGEST_WAIT * random.random()  # noqa: S311  not a secret
            return account.promised - now

    def charge(self, sender: str, rate: float, at_once: float, now: float, cost: float) -> None:
        """Take off what a message has cost beyond what was taken for it."""
        with self._lock:
            account = self._account(sender, rate, at_once, now)
            account.left = max(account.left - cost, -at_once)

    def refuse(self, sender: str, rate: float, at_once: float, now: float, wait: float) -> None:
        """Count a message that somebody else told to come back after `wait` seconds."""
        with self._lock:
            account = self._account(sender, rate, at_once, now)
            account.promised = max(account.promised, now + wait)

    def to_note(self, sender: str, now: float) -> float | None:
        """The time until which messages that were refused may not be heard; None if there is nothing to note now."""
        with self._lock:
            account = self._accounts.get(sender)
            if account is None or account.promised + _NOTED_EVERY < now or now < account.noted + _NOTED_EVERY:
                return None
            account.noted = now
            # Covers the time until the next note, if refusals go on.
            return max(account.promised, now) + 2 * _NOTED_EVERY

    def _account(self, sender: str, rate: float, at_once: float, now: float) -> _Account:
        account = self._accounts.get(sender)
        if account is None:
            account = self._accounts[sender] = _Account(at_once, now)
            if len(self._accounts) > _MOST_KNOWN:
                self._accounts.popitem(last=False)
        else:
            self._accounts.move_to_end(sender)
            # A clock that was set back takes the turns that it gave along.
            back = max(0.0, account.at - now)
            account.promised, account.noted = account.promised - back, account.noted - back
            account.left = min(at_once, account.left + max(0.0, now - account.at) * rate)
            account.at = now
        return account


_tokens: Final = SenderPace()
_instances: Final = SenderPace()


def require_turn_of_token(credential: str) -> None:
    """Count a message of the token. Raises TooManyMessages."""
    if wait := _tokens.wait(_sender(credential), *_of_token(), clock.now().timestamp()):
        raise TooManyMessages("token", wait)


def refused_before(credential: str, wait: float) -> None:
    """Count a message that was refused before it came to the fleet service, to be sent again after `wait` seconds."""
    _tokens.refuse(_sender(credential), *_of_token(), clock.now().timestamp(), wait)


def refused_until(credential: str) -> datetime | None:
    """The time until which hosts whose messages were refused may not be heard; None if that need not be noted now.

    For a message that was accepted: who has no valid token cannot make anything be written.
    """
    until = _tokens.to_note(_sender(credential), clock.now().timestamp())
    return None if until is None else datetime.fromtimestamp(until, UTC)


def charge_size(credential: str, size: int) -> None:
    """Count a large message as several of the token."""
    _tokens.charge(_sender(credential), *_of_token(), clock.now().timestamp(), size // BYTES_OF_MESSAGE)


def require_turn_of_instance(token_hash: str, uid: bytes, key: bytes = b"", size: int = 0) -> None:
    """Count a message of the instance by this token and key, so that nobody else can use up the share of its host.

    Its `size` counts as with the token's. Raises TooManyMessages.
    """
    sender, now = token_hash + (uid + key).hex(), clock.now().timestamp()
    if wait := _instances.wait(sender, *OF_INSTANCE, now):
        raise TooManyMessages("instance", wait)
    _instances.charge(sender, *OF_INSTANCE, now, size // BYTES_OF_MESSAGE)


def _sender(credential: str) -> str:
    """Not the credential itself: the accounts live as long as the process."""
    return str(hash(credential))


def _of_token() -> tuple[float, float]:
    rate = max(LEAST_OF_TOKEN, 2 * admission.most_instances() / longest(quick=True))
    return rate, rate * AT_ONCE_SECONDS

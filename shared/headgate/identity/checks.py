"""Limits on checks: how many a token or a person has under way at the collector, over all instances.

A process that has the collectors itself counts what it asks them. Instances that ask a function of theirs share the
count: a lease is an entry of a set, `<when it ends>#<random>`; entering adds one on the condition that the set has
room, leaving takes it away. A request that dies leaves its lease behind, which counts until it ends by itself.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.errors import TooManyRequests
from headgate.foundation.settings import settings
from headgate.identity import check_store

# Longer than API Gateway waits for an answer.
_LEASE_SECONDS: Final = 32
_RETRY_AFTER: Final = 1

_here: Final[Counter[str]] = Counter()
_changing: Final = threading.Lock()


class TooManyChecks(TooManyRequests):
    """The credential has its largest number of checks under way; one of them has to end first."""

    code = "too_many_checks_under_way"

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} checks of this credential are under way; wait for one of them to end", _RETRY_AFTER)


@contextmanager
def under_way(caller: Caller, *, asked: bool = True) -> Iterator[None]:
    """Take one of the caller's places while the collector is asked, if it is `asked`; a person's sessions share them.

    Where a function has the collectors, one write to take it and one to give it back. Raises TooManyChecks.
    """
    if not asked:
        yield
        return
    counted = caller.principal.id if caller.principal.kind == "user" else caller.credential_id
    with _leased(counted) if settings().checker_function else _counted_here(counted):
        yield


@contextmanager
def _counted_here(counted: str) -> Iterator[None]:
    limit = settings().checks_under_way
    with _changing:
        if _here[counted] >= limit:
            raise TooManyChecks(limit)
        _here[counted] += 1
    try:
        yield
    finally:
        with _changing:
            _here[counted] -= 1
            if not _here[counted]:
                del _here[counted]


@contextmanager
def _leased(counted: str) -> Iterator[None]:
    lease = _enter(counted)
    try:
        yield
    finally:
        check_store.give_back(counted, lease)


def _enter(counted: str) -> str:
    now = int(clock.now().timestamp())
    ends = now + _LEASE_SECONDS
    lease = f"{ends}#{secrets.token_hex(8)}"
    limit = settings().checks_under_way
    others = check_store.add(counted, lease, limit, ends + _LEASE_SECONDS)
    if others is None:
        return lease
    # Only if there is no room: leases of requests that died.
    ended = [check for check in others if int(check.partition("#")[0]) <= now]
    if ended:
        check_store.remove(counted, ended)
        if check_store.add(counted, lease, limit, ends + _LEASE_SECONDS) is None:
            return lease
    raise TooManyChecks(limit)

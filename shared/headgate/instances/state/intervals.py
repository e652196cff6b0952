"""Intervals of reports: long at rest, short while something is on its way to the host."""

from __future__ import annotations

from typing import Final

from headgate.foundation.settings import settings

_UNWRITTEN_SECONDS: Final = 180
_UNWRITTEN_INTERVALS: Final = 6
_LATE_SECONDS: Final = 30
QUICK_SECONDS: Final = 30
"""The longest interval of a host that has an order, a rollout, a capture or a new assignment before it."""


def longest(*, quick: bool) -> int:
    """The seconds between two messages at most, of a host at rest or of one that reports quickly."""
    at_rest = settings().fleet_heartbeat_seconds
    return min(QUICK_SECONDS, at_rest) if quick else at_rest


def unwritten(*, quick: bool) -> int:
    """The seconds for which heartbeats that say nothing new stay unwritten; none of a host quicker than at rest."""
    at_rest = longest(quick=False)
    return 0 if quick and at_rest > QUICK_SECONDS else min(_UNWRITTEN_SECONDS, _UNWRITTEN_INTERVALS * at_rest)


def quiet_after(*, quick: bool) -> int:
    """The seconds after its last written heartbeat, at which an instance counts as silent: it missed two at least."""
    seconds = unwritten(quick=quick)
    return seconds + 2 * longest(quick=quick) if seconds else 3 * longest(quick=quick) + _LATE_SECONDS

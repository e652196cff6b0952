"""How often a host reports: seldom at rest, often while something is on its way to it."""

from __future__ import annotations

from typing import Final

from headgate.settings import settings

QUICK_SECONDS: Final = 30
"""The longest interval of a host that has an order, a rollout, a capture or a new assignment before it."""


def longest(*, quick: bool) -> int:
    """The seconds between two messages at most, of a host at rest or of one that reports quickly."""
    at_rest = settings().fleet_heartbeat_seconds
    return min(QUICK_SECONDS, at_rest) if quick else at_rest

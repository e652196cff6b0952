"""The states of collectors, and how many of a fleet or a group are in each."""

from __future__ import annotations

from typing import Final

from headgate_cli.shapes import InstancesOut

STATES: Final = (
    *("pending_pickup", "applying", "applied", "apply_failed", "idle", "running", "unhealthy"),
    *("stopped", "silent", "stale", "unknown"),
)


def states(instances: InstancesOut, without_key: int = 0) -> str:
    """`2 applied, 1 stale`."""
    if not instances["total"]:
        return "none"
    words = [f"{instances[state]} {state.replace('_', ' ')}" for state in STATES if instances[state]]
    if without_key:
        words.append(f"{without_key} without a host's key")
    return ", ".join(words)

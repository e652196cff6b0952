"""The states of collectors, and how many of a fleet or a group are in each."""

from __future__ import annotations

from typing import Final

from headgate_cli.api import Entity

STATES: Final = (
    *("pending_pickup", "applying", "applied", "apply_failed", "idle", "running", "unhealthy"),
    *("stopped", "silent", "stale", "unknown"),
)


def states(counted: Entity) -> str:
    """`2 applied, 1 stale`."""
    instances = counted.get("instances")
    if not isinstance(instances, dict) or not instances.get("total"):
        return "none"
    words = [f"{instances[state]} {state.replace('_', ' ')}" for state in STATES if instances.get(state)]
    if counted.get("hosts_without_key"):
        words.append(f"{counted['hosts_without_key']} without a host's key")
    return ", ".join(words)

"""The rollout that a group carries out: which of its instances are to run the new version now.

It is held in the group's item, so that a heartbeat decides without a further read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from headgate.deployments.programs import Program
from headgate.deployments.versions import Assignment, VariablesRevision

_RANK: Final = 16


@dataclass(frozen=True, slots=True, order=True)
class RolloutPlace:
    """An instance's place in the order of a rollout: canaries are tier 0, the others tier 1; `rank` is a hash."""

    tier: int
    rank: str


NOBODY: Final = RolloutPlace(0, "")
EVERYONE: Final = RolloutPlace(2, "")
"""Before and after every place, also of instances that join later."""


@dataclass(frozen=True, slots=True)
class RunningRollout:
    """Instances whose place is not after `cut` are to run `to`, under the assignment `revision`.

    Those whose place is not after `watched` are measured: each of their heartbeats is stored. Instances with all of
    the labels `canaries` come first. With a `collector` or `variables` they move to these together with the version.
    While it `rests` it waits for a person, and its instances need not report quickly.
    """

    id: str
    to: Assignment
    revision: int
    started_at: datetime
    cut: RolloutPlace = NOBODY
    watched: RolloutPlace = NOBODY
    canaries: Mapping[str, str] = field(default_factory=dict)
    collector: Program | None = None
    rests: bool = False
    variables: VariablesRevision | None = None

    def place(self, instance_id: str, labels: Mapping[str, str]) -> RolloutPlace:
        """By a hash with the rollout's id, which a host does not know: no host chooses its place in its tier."""
        canary = bool(self.canaries) and self.canaries.items() <= labels.items()
        rank = hashlib.sha256(f"{self.id}\0{instance_id}".encode()).hexdigest()[:_RANK]
        return RolloutPlace(0 if canary else 1, rank)

    def is_due(self, instance_id: str, labels: Mapping[str, str]) -> bool:
        return self.place(instance_id, labels) <= self.cut

    def is_watched(self, instance_id: str, labels: Mapping[str, str]) -> bool:
        return self.place(instance_id, labels) <= max(self.cut, self.watched)

"""The group of a fleet that the labels of a host select."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Selectors:
    """The labels of each group of a fleet that has any; `revision` counts changes."""

    by_group: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    revision: int = 0

    def group_of(self, labels: Mapping[str, str]) -> str | None:
        """The id of the group that a host with these labels belongs to, None if none selects it.

        The one with the most labels; among those with equally many the one that was created first.
        """
        fitting = [group for group, required in self.by_group.items() if required.items() <= labels.items()]
        return min(fitting, key=lambda group: (-len(self.by_group[group]), group), default=None)

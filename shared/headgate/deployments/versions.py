"""Versions of configurations as groups and hosts name them: assigned, with a name, or proved good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Assignment:
    configuration_id: str
    version_number: int


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """An assignment with the name that its configuration had then; None if there was no such configuration."""

    assignment: Assignment
    configuration_name: str | None


@dataclass(frozen=True, slots=True)
class VariablesRevision:
    """A revision of a group's stored variables that its hosts are moved to.

    `digest` names it to hosts. It follows from the secrets as they are encrypted, so it tells nothing of their values.
    """

    revision: int
    digest: str


@dataclass(frozen=True, slots=True)
class HealthyVersion:
    """A version that a host ran healthily for a time, with its collector and variables; None for those of the install.

    `revision` is that of the assignment under which it was first.
    """

    assignment: Assignment
    collector: str | None = None
    revision: int = 0
    variables: VariablesRevision | None = None

    @property
    def identity(self) -> Ran:
        """The version with what it ran with."""
        return self.assignment, self.collector, self.variables


Ran: TypeAlias = tuple[Assignment, str | None, VariablesRevision | None]
"""A version with the collector and the variables that it ran with."""

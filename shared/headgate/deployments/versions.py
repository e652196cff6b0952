"""Versions of configurations as groups and hosts name them: assigned, with a name, or proved good."""

from __future__ import annotations

from dataclasses import dataclass


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
class HealthyVersion:
    """A version that a host ran healthily for a time, and the collector that came with it, None for the installed one.

    `revision` is that of the assignment under which it was first.
    """

    assignment: Assignment
    collector: str | None = None
    revision: int = 0

"""The variables that are stored with a deployment group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Variable:
    """A value in clear, or a secret as KMS encrypted it."""

    set_at: datetime
    value: str | None = None
    secret: bytes | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """The stored variables of a group by their names; `revision` counts their changes."""

    variables: Mapping[str, Variable] = field(default_factory=dict)
    revision: int = 0

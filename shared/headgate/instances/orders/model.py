"""Orders to a host, and the version that one instance runs for a while instead of its group's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.programs import Program
from headgate.deployments.versions import Assignment
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.instances.reported.host import Order

LASTS: Final = timedelta(hours=1)
"""An order that a host has not carried out by then is dropped: nobody expects it any more."""
KEPT: Final = timedelta(days=1)
"""How long an order is stored, done or not. A host is asked for its list of components this often at most."""


@dataclass(frozen=True, slots=True)
class PendingOrder:
    """An order to a host. `seen_at` is when a message of it came first after the order, `done_at` when it was done.

    `program` is what an upgrade brings; `failed` says why the host could not carry the order out, at `done_at`.
    """

    id: str
    do: Order
    at: datetime
    seen_at: datetime | None = None
    done_at: datetime | None = None
    program: Program | None = None
    failed: str | None = None

    @classmethod
    def new(cls, do: Order, at: datetime, program: Program | None = None) -> PendingOrder:
        return cls(new_id("ord", at), do, at, program=program)

    def waits(self, at: datetime) -> bool:
        return self.done_at is None and at - self.at < LASTS

    def status(self, at: datetime) -> Literal["pending", "done", "failed", "expired"]:
        if self.done_at is not None:
            return "failed" if self.failed else "done"
        return "pending" if self.waits(at) else "expired"


@dataclass(frozen=True, slots=True)
class Override:
    """What one instance is to run instead of its group's version, until a time."""

    assignment: Assignment
    until: datetime
    at: datetime
    actor: Principal
    message: str | None

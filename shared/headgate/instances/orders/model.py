"""Orders to a host, and the version that one instance runs for a while instead of its group's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.programs import Program
from headgate.deployments.versions import Assignment
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.instances.orders.captured import OpenCapture
from headgate.instances.reported.host import Ability, HostReport, Order

LASTS: Final = timedelta(hours=1)
"""An order that a host has not carried out by then is dropped: nobody expects it any more."""
KEPT: Final = timedelta(days=1)
"""Retention of an order, done or not. A host is asked for its list of components this often at most."""
MOVE_ALLOWED_FOR: Final = timedelta(hours=1)
"""Validity of a person's permission for an instance, if no host uses it."""


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
    """An override: the version that one instance is to run instead of its group's, until a time."""

    assignment: Assignment
    until: datetime
    at: datetime
    actor: Principal
    message: str | None


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders of people to one instance, apart from its group.

    `pending` are orders to its host, those that were carried out among them. Until `move_until`, a host that cannot
    prove itself may take its place, as a person allowed. `cut_off_at` is when a person refused every message of it.
    `labels` are set beside those of its host, and win; `moved_to` is the group that it belongs to whatever it names.
    """

    pending: Sequence[PendingOrder] = ()
    override: Override | None = None
    capture: OpenCapture | None = None
    move_until: datetime | None = None
    cut_off_at: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    moved_to: str | None = None

    def overridden(self, at: datetime) -> Override | None:
        """The override that holds at that time."""
        return self.override if self.override and at < self.override.until else None

    def move_allowed(self, at: datetime) -> datetime | None:
        """Until when another host may take its place, as a person allowed; None if that is not allowed at that time."""
        # What an import brings may be of any time.
        allowed = self.move_until is not None and at < self.move_until <= at + MOVE_ALLOWED_FOR
        return self.move_until if allowed else None

    def waiting(self, do: Order, at: datetime) -> PendingOrder | None:
        """The order of that kind that the host has not carried out yet."""
        return next((order for order in self.pending if order.do == do and order.waits(at)), None)

    def with_order(self, order: PendingOrder) -> Orders:
        """The orders with one more, which takes the place of an earlier one of its kind."""
        return replace(self, pending=(*(each for each in self.pending if each.do != order.do), order))

    def after(
        self, said: HostReport | None, can: Sequence[Ability], at: datetime
    ) -> tuple[Orders, Sequence[PendingOrder]]:
        """The orders after a message of the host that can do these things, and those that were carried out by it.

        An order to retry ends with the first message if the host's supervisor remembers no failures: there is nothing
        that it has to do.
        """
        done, failed = (said.done, said.failed) if said else ((), {})
        pending, ended = [], []
        for order in self.pending:
            if order.waits(at):
                ends = order.id in done or order.id in failed or (order.do == "retry" and "retry" not in can)
                why = failed.get(order.id)
                order = replace(order, seen_at=order.seen_at or at, done_at=at if ends else None, failed=why)
                ended += [order] if ends else []
            pending.append(order)
        return replace(self, pending=tuple(order for order in pending if at - order.at < KEPT)), ended

    def to_send(self, can: Sequence[Ability], at: datetime) -> list[PendingOrder]:
        """The orders that the host is to carry out: those that its supervisor understands."""
        return [order for order in self.pending if order.waits(at) and order.do in can]


NOTHING_ORDERED: Final = Orders()

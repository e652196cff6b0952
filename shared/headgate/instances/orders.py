"""What a person orders of one host: to restart its collector, to try again, to run another version for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from headgate.foundation.ids import new_id
from headgate.instances.host import Order
from headgate.instances.reports import NEVER_CONFIGURED

if TYPE_CHECKING:
    from headgate.deployments.programs import Program
    from headgate.deployments.versions import Assignment
    from headgate.foundation.principal import Principal
    from headgate.instances.desired import Desired
    from headgate.instances.host import HostReport
    from headgate.instances.model import Instance

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


def waiting(instance: Instance, do: Order, at: datetime) -> PendingOrder | None:
    return next((order for order in instance.orders if order.do == do and order.waits(at)), None)


def with_order(orders: Sequence[PendingOrder], given: PendingOrder) -> list[PendingOrder]:
    """The orders with one more, which takes the place of an earlier one of its kind."""
    return [*(order for order in orders if order.do != given.do), given]


def to_send(instance: Instance, at: datetime) -> list[PendingOrder]:
    """The orders that the host is to carry out: those that its supervisor understands."""
    return [order for order in instance.orders if order.waits(at) and order.do in instance.host.can]


def received(
    instance: Instance, said: HostReport | None, desired: Desired, at: datetime
) -> tuple[Instance, list[PendingOrder]]:
    """The instance after the orders that a message says are done, before what else it says; and what was done now.

    At the first message after an order to retry, the service forgets that the version failed. That is all there is to
    do for a host whose supervisor remembers no failures.
    """
    carried_out: list[PendingOrder] = []
    kept = []
    done, failed = (said.done, said.failed) if said else ((), {})
    for order in instance.orders:
        if not order.waits(at):
            kept.append(order)
            continue
        if order.do == "retry" and order.seen_at is None:
            instance = without_failure(instance, desired)
        alone = order.do == "retry" and "retry" not in instance.host.can
        ended = order.id in done or order.id in failed or alone
        order = replace(order, seen_at=order.seen_at or at, done_at=at if ended else None, failed=failed.get(order.id))
        if ended:
            carried_out.append(order)
        kept.append(order)
    return replace(instance, orders=tuple(order for order in kept if at - order.at < KEPT)), carried_out


def without_failure(instance: Instance, desired: Desired) -> Instance:
    """The instance as if that config had never failed on it, so that it is offered again."""
    outcomes = tuple(
        outcome
        for outcome in instance.outcomes
        if outcome.config_hash != desired.config_hash or outcome.status != "failed"
    )
    again = instance.reported.config_hash == desired.config_hash
    return replace(instance, outcomes=outcomes, reported=NEVER_CONFIGURED if again else instance.reported)

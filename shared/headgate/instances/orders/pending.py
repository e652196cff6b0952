"""Which orders a host is sent, and what a message says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from headgate.instances.orders.model import KEPT, PendingOrder
from headgate.instances.reported.model import NEVER_CONFIGURED

if TYPE_CHECKING:
    from datetime import datetime

    from headgate.instances.desired.model import Desired
    from headgate.instances.model import Instance
    from headgate.instances.reported.host import HostReport, Order


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

"""Webhooks while the receiver refuses, stalls, lies and comes back, and table, queue, bus and service fail.

Every event has to arrive. What arrives twice is counted, and has the same id both times.
"""

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from headgate.events import service as events
from headgate.events.model import About
from headgate.foundation import clock, errors
from headgate.foundation.ids import new_id
from headgate.storage import aws
from headgate.storage.table import transact
from headgate.webhooks import deliveries, sending, store
from headgate.webhooks.notifications import sweep
from headgate.webhooks.notifications.sweep import NotSwept
from tests.support import https_receiver, sizes, webhooks
from tests.support.https_receiver import Answer, Receiver
from tests.support.webhooks import Admin, Clock, stopped_clock

ROUNDS = sizes.either(12, 60)
EVENTS_A_ROUND = 3
# One call in so many fails.
ONE_IN = 12
BEHAVIOURS: list[Answer] = [
    https_receiver.status(500),
    https_receiver.status(302, location="https://169.254.169.254/"),
    https_receiver.stall,
    https_receiver.lie,
    https_receiver.hang_up,
    https_receiver.accept,
    https_receiver.accept,
]


class Killed(BaseException):
    """The process ends here."""


class Faults:
    """Makes calls to AWS fail: before they are carried out, with the answer lost, or with the process killed after."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.on = False
        self.killed = False
        self.count: Counter[str] = Counter()

    def install(self) -> None:
        for make in (aws.dynamodb, aws.sqs, aws.events):
            client: Any = make()
            client.meta.events.register("before-call.*.*", self._before)
            client.meta.events.register("after-call.*.*", self._after)

    def _before(self, model: Any, **_: object) -> None:
        if self.killed:
            # Not even what mends a failure is done.
            raise Killed
        if self._strikes():
            self.count[f"{model.service_model.service_name}, before"] += 1
            raise _fault(model.name)

    def _after(self, model: Any, **_: object) -> None:
        if self._strikes():
            if self._random.random() < 0.3:
                self.count[f"{model.service_model.service_name}, process killed after"] += 1
                self.killed = True
                raise Killed
            self.count[f"{model.service_model.service_name}, answer lost"] += 1
            raise _fault(model.name)

    def _strikes(self) -> bool:
        return self.on and self._random.randrange(ONE_IN) == 0


def _fault(name: str) -> ClientError:
    return ClientError({"Error": {"Code": "InternalServerError", "Message": "planted"}}, name)


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    with https_receiver.receiving(tmp_path) as receiver:
        yield receiver


@pytest.fixture
def now() -> Iterator[Clock]:
    with stopped_clock() as clock:
        yield clock


def carry_on(step: Callable[[], object], faults: Faults) -> None:
    """A step of the service, in a process of its own; what fails is left to the next one."""
    faults.killed = False
    with contextlib.suppress(NotSwept, ClientError, errors.HeadgateError, Killed):
        step()


def happen(organization_id: str) -> str:
    """An event with its change, which is made again until it is stored."""
    about = About(fleet_id=new_id("flt"), reason="Made by a test")
    told = events.write("rollout.halted", organization_id, about, clock.now())
    transact([told])
    return str(told["Put"]["Item"]["event_id"]["S"])


def outstanding(webhook_id: str) -> int:
    return sum(delivery.webhook_id == webhook_id for delivery in store.unfinished())


@pytest.mark.sized
@pytest.mark.parametrize("seed", range(sizes.either(1, 5)))
def test_no_event_is_lost_and_those_that_come_twice_have_one_id(
    organization_id: str, receiver: Receiver, now: Clock, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.5)
    admin = Admin.of(organization_id)
    made = admin.create(receiver.url)
    faults, chance = Faults(seed), random.Random(seed)
    faults.install()
    stored: list[str] = []
    accepted: Counter[str] = Counter()

    def answer(handler: https_receiver.Handler) -> None:
        behaves = chance.choice(BEHAVIOURS) if faults.on else https_receiver.accept
        behaves(handler)
        if behaves is https_receiver.accept:
            accepted[handler.got.id] += 1

    receiver.answer = answer
    for _ in range(ROUNDS):
        faults.on = faults.killed = False
        stored += [happen(organization_id) for _ in range(EVENTS_A_ROUND)]
        faults.on = True
        carry_on(lambda: sweep.sweep(now.at), faults)
        webhooks.show_hidden()
        carry_on(webhooks.delivered_once, faults)
        now.forward(minutes=6)
    faults.on = faults.killed = False
    # Everybody is well again: what waits is sent within a day.
    for _ in range(40):
        now.forward(minutes=40)
        carry_on(lambda: sweep.sweep(now.at), faults)
        webhooks.show_hidden()
        webhooks.delivered()
        if not webhooks.left(organization_id) and not outstanding(made["id"]):
            break

    came = receiver.times()
    print(
        f"seed {seed}: {len(stored)} events, {sum(faults.count.values())} faults {dict(faults.count)}, "
        f"{sum(came.values())} requests, {sum(n - 1 for n in accepted.values())} accepted twice, "
        f"{len(set(stored) - set(accepted))} lost"
    )
    assert set(accepted) == set(stored)
    assert set(came) == set(stored)
    assert sum(faults.count.values()) > ROUNDS / 2


def test_what_waits_is_sent_after_a_restart_of_the_local_service(
    organization_id: str, receiver: Receiver, now: Clock
) -> None:
    """Its queue ends with the process; the table does not."""
    admin = Admin.of(organization_id)
    made = admin.create(receiver.url)
    happen(organization_id)
    now.forward(minutes=1)
    sweep.sweep(now.at)
    webhooks.empty_queue()
    deliveries.resume()
    webhooks.delivered()

    assert [one["status"] for one in admin.deliveries(made["id"])] == ["delivered"]
    assert len(receiver.received) == 1


def test_a_ticket_that_comes_twice_sends_nothing_twice(organization_id: str, receiver: Receiver, now: Clock) -> None:
    admin = Admin.of(organization_id)
    admin.create(receiver.url)
    happen(organization_id)
    sweep.sweep(now.at)
    deliveries.resume()
    deliveries.resume()

    assert webhooks.delivered() == 3
    assert len(receiver.received) == 1

"""Rules of webhooks: who takes an event, what counts as accepted, and when a delivery is tried again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from headgate.events.messages import Message
from headgate.foundation.ids import encode_id, new_id, number_of
from headgate.foundation.principal import Principal
from headgate.webhooks.model import Attempt, Delivery, Webhook, delivery_id, next_delay

AT = datetime(2026, 11, 26, 12, tzinfo=UTC)
WEBHOOK = Webhook(
    *("whk_1", "org_1", "a", "example.com", "cloudevents", [], [], True, b"", b"", None, None),
    *(Principal("user", "usr_1", "Ann"), AT, AT, 1),
)


def message(fleet_id: str | None = "flt_1", at: datetime = AT) -> Message:
    return Message(new_id("evt", at), "instance.silent", "org_1", fleet_id, at, {})


def delivery(number: int) -> Delivery:
    return Delivery(
        *(encode_id("dlv", number), "whk_1", "org_1", "evt_1", "instance.silent", "waiting", "{}", []),
        *(0, 0, AT, AT, None, None, 1),
    )


@pytest.mark.parametrize(
    ("webhook", "fleet_id", "takes"),
    [
        (WEBHOOK, "flt_1", True),
        (replace(WEBHOOK, enabled=False), "flt_1", False),
        (replace(WEBHOOK, types=["instance.silent"]), "flt_1", True),
        (replace(WEBHOOK, types=["rollout.halted"]), "flt_1", False),
        (replace(WEBHOOK, fleet_ids=["flt_1"]), "flt_1", True),
        (replace(WEBHOOK, fleet_ids=["flt_2"]), "flt_1", False),
        (replace(WEBHOOK, fleet_ids=["flt_2"]), None, True),
    ],
)
def test_a_webhook_takes_events_of_its_types_and_fleets_while_it_is_on(
    webhook: Webhook, fleet_id: str | None, takes: bool
) -> None:
    assert webhook.wants(message(fleet_id)) is takes


def test_only_an_answer_of_2xx_accepts_a_message() -> None:
    accepted = [status for status in (None, 199, 200, 299, 300, 500) if Attempt(AT, 1, status, None).accepted]

    assert accepted == [200, 299]


def test_a_delivery_is_tried_at_the_documented_times_each_up_to_a_tenth_later() -> None:
    minute, hour = 60, 3_600
    documented = [5, 30, 2 * minute, 10 * minute, 30 * minute, *(hours * hour for hours in (1, 2, 4, 8, 8))]

    assert [next_delay(delivery(0), tried) for tried in range(1, 12)] == [*documented, None]
    for tried, seconds in enumerate(documented, 1):
        delays = {next_delay(delivery(number), tried) for number in range(1, 97)}
        assert {delay for delay in delays if delay is None or not seconds <= delay < 1.1 * seconds} == set()
        assert len(delays) >= min(96, seconds // 11)


def test_deliveries_have_one_id_for_a_message_and_a_webhook_and_sort_by_time() -> None:
    messages = [message(at=AT + timedelta(milliseconds=later)) for later in range(20)]
    ids = [delivery_id(each, webhook) for each, webhook in product(messages, ("whk_1", "whk_2"))]

    assert ids == [delivery_id(each, webhook) for each, webhook in product(messages, ("whk_1", "whk_2"))]
    assert len(set(ids)) == 2 * len(messages)
    # An id sorts by the time that it begins with.
    assert [number_of(each) >> 80 for each in ids[::2]] == [int(each.at.timestamp() * 1_000) for each in messages]

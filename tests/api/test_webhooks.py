"""Webhooks: who may see and change them, what is shown of them, and what becomes of their deliveries."""

import json
from collections.abc import Iterator
from datetime import timedelta

import boto3
import pytest

from headgate.audit import store as audit
from headgate.events import service as events
from headgate.events.model import About
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.storage import table
from headgate.storage.table import transact
from tests.support import https_receiver, webhooks
from tests.support.https_receiver import Receiver
from tests.support.webhooks import PATH, Admin, delivered, session_of_admin, stopped_clock, swept
from tests.support.world import joined, session_of

SLACK = "https://hooks.slack.com/services/T000/B000/planted-in-the-path"


@pytest.fixture
def admin(organization_id: str) -> Admin:
    return Admin.of(organization_id)


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    with https_receiver.receiving(tmp_path_factory.mktemp("receiver")) as receiver:
        yield receiver


@pytest.fixture
def inbox(receiver: Receiver) -> Receiver:
    receiver.answer, receiver.received = https_receiver.accept, []
    return receiver


def happened(organization_id: str) -> None:
    told = events.write("fleet.limit_near", organization_id, About(figures={"limit": 25, "fleets": 23}), clock.now())
    transact([told])


def test_a_new_webhook_has_a_secret_that_is_shown_once(admin: Admin) -> None:
    made = admin.create(SLACK, format="slack")
    read = admin.http.get(f"{PATH}/{made['id']}").json()

    assert made["secret"].startswith("whsec_")
    assert "secret" not in read
    assert read["host"] == "https://hooks.slack.com"
    assert made == read | {"secret": made["secret"]}


def test_neither_address_nor_secret_is_stored_or_recorded_in_clear(admin: Admin) -> None:
    made = admin.create(SLACK, format="slack")
    admin.http.post(f"{PATH}/{made['id']}/secret")
    key = {"name": "n", "url": SLACK, "routing_key": "planted-key", "format": "pagerduty"}
    kept = admin.http.post(PATH, json=key, headers={"Idempotency-Key": admin.organization_id}).json()

    everything = repr([*table.events.scan("attribute_exists(pk)", {})]) + repr(
        [*table.identity.scan("attribute_exists(pk)", {})]
    )
    assert made["id"] in everything
    for planted in ("planted-in-the-path", "planted-key", made["secret"], kept["secret"]):
        assert planted not in everything


def test_a_repeated_create_returns_the_webhook_without_its_secret(admin: Admin) -> None:
    body, key = {"name": "n", "url": SLACK}, {"Idempotency-Key": "once"}
    first = admin.http.post(PATH, json=body, headers=key)
    second = admin.http.post(PATH, json=body, headers=key)

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json() | {"secret": None}
    assert len(admin.http.get(PATH).json()["items"]) == 1


def test_a_repeated_renewal_keeps_the_secret_of_the_first(admin: Admin) -> None:
    made, key = admin.create(), {"Idempotency-Key": "once"}
    first, again, another = (
        admin.http.post(f"{PATH}/{made['id']}/secret", headers=headers).json() for headers in (key, key, {})
    )

    assert first["secret"] not in (None, made["secret"], another["secret"])
    assert again == first | {"secret": None}


def test_a_contributor_sees_no_webhooks(organization_id: str, admin: Admin) -> None:
    made = admin.create()
    headers = dict(session_of(joined(organization_id, "contributor"), organization_id))

    for path in (PATH, f"{PATH}/{made['id']}", f"{PATH}/{made['id']}/deliveries"):
        answer = admin.http.get(path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "admin_required")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"url": "http://hooks.example.com/"}, "webhook_url_refused"),
        ({"url": "https://10.0.0.1/"}, "webhook_url_refused"),
        ({"format": "pagerduty"}, "routing_key_misplaced"),
        ({"routing_key": "abc"}, "routing_key_misplaced"),
        ({"types": ["instance.exploded"]}, "invalid"),
        ({"types": ["test.failed", "test.failed"]}, "invalid"),
        ({"fleet_ids": ["flt_1"]}, "invalid"),
        ({"fleet_ids": ["flt_01h455vb4pex5vsknk084sn02q"]}, "fleet_not_found"),
        ({"secret": "whsec_mine"}, "invalid"),
    ],
)
def test_what_a_webhook_cannot_be_is_refused(admin: Admin, body: dict[str, object], code: str) -> None:
    answer = admin.http.post(PATH, json={"name": "n", "url": "https://hooks.example.com/", **body})

    assert answer.status_code in (404, 422)
    assert answer.json()["code"] == code


def test_an_organization_has_at_most_twenty(admin: Admin) -> None:
    made = [admin.create() for _ in range(20)]
    refused = admin.http.post(PATH, json={"name": "n", "url": SLACK})
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_limit_reached")
    assert admin.http.delete(f"{PATH}/{made[0]['id']}").status_code == 204
    assert admin.create()["id"]


def test_pages_of_the_list_are_whole(admin: Admin) -> None:
    made = [admin.create()["id"] for _ in range(3)]
    first = admin.http.get(PATH, params={"limit": 2}).json()
    second = admin.http.get(PATH, params={"limit": 2, "cursor": first["next_cursor"]}).json()

    assert [one["id"] for one in first["items"] + second["items"]] == made
    assert second["next_cursor"] is None


def test_a_test_is_delivered_and_signed(admin: Admin, inbox: Receiver) -> None:
    made = admin.create(inbox.url)
    sent = admin.http.post(f"{PATH}/{made['id']}/test")
    delivered()
    (received,) = inbox.received
    (listed,) = admin.deliveries(made["id"])

    assert sent.status_code == 202
    assert https_receiver.verified(received, made["secret"]) == [True]
    assert received.headers["content-type"] == "application/cloudevents+json; charset=utf-8"
    assert received.event["specversion"] == "1.0"
    assert (received.event["type"], received.event["id"]) == ("webhook.test", received.id)
    assert (listed["status"], listed["attempts"][0]["status"]) == ("delivered", 204)


def test_two_secrets_sign_for_a_day(admin: Admin, inbox: Receiver) -> None:
    made = admin.create(inbox.url)
    with stopped_clock() as now:
        renewed = admin.http.post(f"{PATH}/{made['id']}/secret").json()
        admin.http.post(f"{PATH}/{made['id']}/test")
        delivered()
        now.forward(days=1, seconds=1)
        admin.http.post(f"{PATH}/{made['id']}/test", headers=session_of_admin(admin))
        delivered()
    both, new = inbox.received

    assert https_receiver.verified(both, made["secret"]) == [False, True]
    assert https_receiver.verified(both, renewed["secret"]) == [True, False]
    assert https_receiver.verified(new, renewed["secret"]) == [True]


def test_events_go_to_the_webhooks_that_want_them(admin: Admin, inbox: Receiver) -> None:
    wanting = [admin.create(inbox.url)["id"], admin.create(inbox.url, types=["fleet.limit_near"])["id"]]
    others = [admin.create(inbox.url, types=["test.failed"])["id"], admin.create(inbox.url, enabled=False)["id"]]
    happened(admin.organization_id)
    swept()
    delivered()

    assert [len(admin.deliveries(one)) for one in wanting + others] == [1, 1, 0, 0]
    assert len(inbox.received) == 2
    assert inbox.times().most_common(1)[0][1] == 2
    swept()
    delivered()
    assert len(inbox.received) == 2


def test_a_receiver_that_fails_is_tried_for_a_day(admin: Admin, inbox: Receiver) -> None:
    made = admin.create(inbox.url)
    inbox.answer = https_receiver.status(503, b"planted in the answer")
    with stopped_clock() as now:
        admin.http.post(f"{PATH}/{made['id']}/test")
        began = now.at
        while True:
            webhooks.show_hidden()
            delivered()
            headers = session_of_admin(admin)
            answer = admin.http.get(f"{PATH}/{made['id']}/deliveries", headers=headers)
            (delivery,) = answer.json()["items"]
            assert "planted" not in answer.text
            if delivery["status"] != "waiting":
                break
            now.at = clock.parse(delivery["next_attempt_at"]) + timedelta(seconds=1)
        took = now.at - began

    assert delivery["status"] == "failed"
    assert [one["status"] for one in delivery["attempts"]] == [503] * 11
    assert timedelta(hours=23) < took < timedelta(hours=27)
    assert inbox.times() == {delivery["event_id"]: 11}
    assert [json.loads(one)["delivery_id"] for one in webhooks.buried()] == [delivery["id"]]


def test_what_failed_is_sent_again_by_hand_under_the_same_id(admin: Admin, inbox: Receiver) -> None:
    made = admin.create(inbox.url)
    with stopped_clock():
        sent = admin.http.post(f"{PATH}/{made['id']}/test").json()
        path = f"{PATH}/{made['id']}/deliveries/{sent['id']}/resend"
        early = admin.http.post(path)
        delivered()
        again = admin.http.post(path)
        delivered()

    assert (early.status_code, early.json()["code"]) == (409, "delivery_under_way")
    assert (again.status_code, again.json()["status"]) == (202, "waiting")
    assert inbox.times() == {sent["event_id"]: 2}
    (listed,) = admin.deliveries(made["id"])
    assert (listed["status"], len(listed["attempts"])) == ("delivered", 2)


def test_a_delivery_without_a_ticket_can_be_sent_again(admin: Admin, inbox: Receiver) -> None:
    """Its process died between storing it and putting it into the queue."""
    made = admin.create(inbox.url)
    with stopped_clock() as now:
        sent = admin.http.post(f"{PATH}/{made['id']}/test").json()
        webhooks.empty_queue()
        now.forward(minutes=11)
        assert admin.http.post(f"{PATH}/{made['id']}/deliveries/{sent['id']}/resend").status_code == 202
        delivered()

    assert admin.deliveries(made["id"])[0]["status"] == "delivered"


def test_nothing_is_sent_for_a_webhook_that_is_deleted_or_switched_off(admin: Admin, inbox: Receiver) -> None:
    gone, off = admin.create(inbox.url)["id"], admin.create(inbox.url)["id"]
    for one in (gone, off):
        admin.http.post(f"{PATH}/{one}/test")
    admin.http.delete(f"{PATH}/{gone}")
    admin.http.patch(f"{PATH}/{off}", json={"enabled": False})
    delivered()
    (listed,) = admin.deliveries(off)

    assert inbox.received == []
    assert (listed["status"], listed["attempts"][0]["error"]) == ("failed", "webhook_disabled")
    assert admin.http.get(f"{PATH}/{gone}/deliveries").status_code == 404


def test_every_change_is_recorded_without_the_address(admin: Admin, inbox: Receiver) -> None:
    made = admin.create(inbox.url)
    own = f"{PATH}/{made['id']}"
    admin.http.patch(own, json={"name": "other", "url": SLACK})
    admin.http.post(f"{own}/secret")
    admin.http.delete(own)
    found = audit.records(admin.organization_id, 100, None).entries[::-1]

    assert [one.action for one in found] == [
        *("webhook.created", "webhook.changed", "webhook.secret_renewed", "webhook.deleted")
    ]
    assert "in-the-address" not in repr(found)
    assert "planted" not in repr(found)


def test_an_address_that_is_no_longer_allowed_is_not_called(
    admin: Admin, inbox: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = admin.create(inbox.url)
    monkeypatch.setenv("HEADGATE_WEBHOOKS_TO_LOOPBACK", "no")
    settings.cache_clear()
    admin.http.post(f"{PATH}/{made['id']}/test")
    delivered()

    assert admin.deliveries(made["id"])[0]["attempts"][0]["error"] == "address_not_allowed"
    assert inbox.received == []


def test_a_ticket_that_cannot_be_read_holds_up_no_other(admin: Admin, inbox: Receiver) -> None:
    made = admin.create(inbox.url)
    boto3.client("sqs").send_message(QueueUrl=settings().deliveries_queue, MessageBody="[]")
    admin.http.post(f"{PATH}/{made['id']}/test")
    delivered()

    assert admin.deliveries(made["id"])[0]["status"] == "delivered"
    webhooks.empty_queue()

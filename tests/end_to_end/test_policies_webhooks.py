"""What the functions of events and webhooks call, for test_policies.py, each in the state that makes it call that."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import notify.app
from deliver.app import handler
from headgate.events import service as events
from headgate.events.model import About
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import keys, member_store, sessions, signing
from headgate.identity import service as identity
from headgate.identity.model import User
from headgate.storage import aws
from headgate.storage.table import transact
from headgate.webhooks import model
from headgate_local import callers, deliveries, template
from tests.support import recorded_here
from tests.support.events import waiting
from tests.support.opamp_agent import Agent
from tests.support.recorded_here import API, YAML, People, created
from tests.support.webhooks import stopped_clock
from web.visitor import SESSION_COOKIE

pytestmark = pytest.mark.end_to_end

NEW = {"name": "on-call", "url": "https://hooks.nowhere.invalid/1"}


@pytest.fixture(scope="module", autouse=True)
def recording(aws_here: template.Template, recorded_calls: Path) -> Iterator[None]:
    with recorded_here.recording(recorded_calls / "webhooks.jsonl"):
        yield


@pytest.fixture
def people(aws_here: template.Template) -> People:
    return recorded_here.people(aws_here)


def sweep() -> None:
    with callers.acting("NotifyFunction"):
        notify.app.handler({}, None)


def test_a_webhook_lives_through_everything(people: People) -> None:
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}))
    key = {"Idempotency-Key": "k"}
    made = created(people.ada.post(f"{API}/webhooks", json={**NEW, "fleet_ids": [fleet]}, headers=key))
    own = f"{API}/webhooks/{made}"

    assert people.ada.post(f"{API}/webhooks", json={}, headers={"Idempotency-Key": "other"}).status_code == 422
    assert people.ann.get(own).status_code == 403
    assert people.ada.patch(own, json={"fleet_ids": []}).status_code == 200
    assert people.ada.post(f"{own}/secret").status_code == 200
    sent = people.ada.post(f"{own}/test").json()["id"]
    assert people.ada.post(f"{own}/deliveries/{sent}/resend").status_code == 409
    assert [one["id"] for one in people.ada.get(f"{own}/deliveries").json()["items"]] == [sent]
    assert people.ada.delete(own).status_code == 204


def test_the_first_page_of_a_new_deployment_makes_its_signing_key(people: People) -> None:
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    organization_id = identity.create_organization("Forms", user).id
    _, session = sessions.begin(user, "browser", clock.now())
    key = {name: {"S": str(value)} for name, value in keys.signing_key().items()}
    aws.dynamodb().delete_item(TableName=settings().identity_table, Key=key)
    signing.signing_key.cache_clear()
    headers = {"Cookie": f"{SESSION_COOKIE}={session}", "Authorization": ""}

    assert people.ann.get(f"/organizations/{organization_id}/webhooks", headers=headers).status_code == 200


def test_what_happens_is_found_and_sent_and_given_up(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_INSTANCE_LIMIT", "1")
    settings.cache_clear()
    configuration = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}))
    people.ann.post(f"{API}/configurations/{configuration}/versions/1/publish").raise_for_status()
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}))
    connection = people.ann.post(f"{API}/fleets/{fleet}/install", json={"platform": "linux"}).json()["connection"]
    headers = {
        "Authorization": f"Bearer {connection['token']}",
        "Content-Type": "application/x-protobuf",
        "X-Deployment-Id": connection["deployment_id"],
    }
    made = created(people.ada.post(f"{API}/webhooks", json=NEW))
    sweep()
    Agent(lambda message: people.ann.post("/v1/opamp", content=message, headers=headers).content).start()
    with stopped_clock() as now:
        for minutes in (1, 20, 5):
            now.forward(minutes=minutes)
            sweep()
        assert deliveries.waiting() > 0
        deliveries.take(handler)
        # From now on an attempt is the last one.
        monkeypatch.setattr(model, "_DELAYS", ())
        again = people.ada.post(f"{API}/webhooks/{made}/test")
        assert again.status_code == 202
        while deliveries.take(handler):
            pass
        monkeypatch.setenv("HEADGATE_INSTANCE_LIMIT", "100")
        settings.cache_clear()
        now.forward(minutes=5)
        sweep()
    listed = people.ada.get(f"{API}/webhooks/{made}/deliveries").json()["items"]

    sent = {one["type"] for one in listed}
    assert sent == {
        *("configuration.published", "instance.silent", "instance.stale", "fleet.limit_near", "webhook.test")
    }
    assert {one["attempts"][-1]["error"] for one in listed if one["attempts"]} == {"name_not_resolved"}


def test_the_names_of_a_rollouts_group_and_configuration_are_read(people: People) -> None:
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}))
    (group,) = people.ann.get(f"{API}/fleets/{fleet}/deployments").json()["items"]
    about = About(fleet_id=fleet, deployment_id=group["id"])
    organization_id = people.ada.get(f"{API}/identity").json()["organization_id"]
    transact([events.write("rollout.finished", organization_id, about, clock.now() - timedelta(minutes=1))])
    with stopped_clock() as now:
        now.forward(minutes=30)
        sweep()

    assert waiting(organization_id) == []

"""The record of changes on the running service: by a token, and of a login that is approved."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.support.admin import YAML, Admin, Browser
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end

PUBLIC = "/api/v1/public"
APP = "/api/v1/app"
RULES = {"signal_type": "logs", "rules": [{"name": "r", "condition": "true"}]}


@pytest.fixture(scope="module")
def world(service: LocalService) -> Iterator[Admin]:
    made = Admin(service)
    yield made
    made.http.close()


def test_a_token_is_recorded_as_its_service_account(service: LocalService, world: Admin) -> None:
    with service.client() as api:
        api.post("/configurations", json={"name": "c", "yaml": YAML})
    record = world.newest()

    assert (record["actor_kind"], record["actor_name"], record["credential_name"]) == (
        "service_account",
        "local",
        "local read-write",
    )


def test_an_approved_login_is_recorded(service: LocalService, world: Admin) -> None:
    known = json.loads((service.data / "sign-in.json").read_text())
    browser = Browser(service)
    browser.sign_in(known["email"], known["password"])
    code = httpx.post(f"{service.base_url}{APP}/device_authorization").json()["user_code"]
    form = {"user_code": code, "answer": "approve", "organization_id": world.organization_id}
    browser.post("/device", csrf=browser.csrf(f"/device?user_code={code}"), **form)

    assert (world.newest()["action"], world.newest()["actor_name"]) == ("login.approved", world.email)

"""People on the running service: what a restart leaves of them, and what they do by session."""

import httpx
import pytest

from tests.support.admin import YAML, Browser, known
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end


def test_the_printed_sign_in_works_and_is_for_its_owner_only(service: LocalService) -> None:
    assert Browser(service).sign_in(*known(service)) == 303
    link = service.sign_in_link.removeprefix(service.base_url)
    browser = Browser(service)
    assert [browser.get(link).status_code, Browser(service).get(link).status_code] == [303, 410]
    with service.client() as api:
        home = f"/organizations/{api.get('/identity').json()['organization_id']}"
    assert browser.get(home).status_code == 200
    refused = Browser(service).get(home)
    assert (refused.status_code, refused.headers["location"].partition("?")[0]) == (303, "/sign-in")
    assert (service.data / "sign-in.json").stat().st_mode & 0o777 == 0o600
    assert (service.data / "people.json").stat().st_mode & 0o777 == 0o600


def test_people_passwords_and_sessions_survive_a_restart_and_a_kill(own_service: LocalService) -> None:
    before = known(own_service)
    browser = Browser(own_service)
    browser.sign_in(*before)
    own_service.kill9()
    own_service.start()

    assert known(own_service) == before
    assert Browser(own_service).sign_in(*before) == 303
    assert browser.get("/").headers["location"].startswith("/organizations/")


def test_rules_by_hand_and_rules_by_the_api_leave_each_other_alone(service: LocalService) -> None:
    browser = Browser(service)
    browser.sign_in(*known(service))
    with service.client() as api:
        organization_id = api.get("/identity").json()["organization_id"]
        made = api.post("/configurations", json={"name": "Edge", "yaml": YAML}).json()["id"]
        path = f"/configurations/{made}/versions/1/validation-pipelines"
        rule = {"name": "by the API", "condition": 'body != ""'}
        saved = api.put(f"{path}/logs", json={"signal_type": "logs", "rules": [rule]})
        assert saved.status_code == 200, saved.text
        published = api.post(f"/configurations/{made}/versions/1/publish")
        assert published.status_code == 200
        headers = {"Authorization": f"Bearer {browser.session}", "X-Service-Org": organization_id}
        by_hand = {"signal_type": "logs", "rules": [{"name": "by hand", "condition": 'body != "x"'}]}
        hand = httpx.put(f"{service.base_url}/api/v1/app{path}/logs", json=by_hand, headers=headers, timeout=120)
        assert hand.status_code == 200, hand.text
        api.put(f"{path}/logs", json={"signal_type": "logs", "rules": [rule | {"name": "by the API again"}]})

        ((stored),) = api.get(path).json()["items"]
    assert {(one["name"], one["api_owned"]) for one in stored["rules"]} == {
        ("by hand", False),
        ("by the API again", True),
    }

"""The page of a fleet's captures: asked for, followed, ended and deleted by forms."""

import re
from datetime import UTC, datetime

import pytest

from configurations.app import router as configurations_router
from fleets.app import app
from fleets.app import routers as fleets_routers
from headgate.foundation.settings import settings
from headgate.identity import sessions
from tests.support.fleet_of_agents import Fleet, changes_of, make_fleet
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith
from tests.support.page_visitor import SESSION, member_at, send_form
from tests.support.world import joined

SCRIPT = "<script>alert(1)</script>"
ASKED = {"pipeline": "logs", "component": "nop", "max_records": "10", "duration_seconds": "60"}


@pytest.fixture
def fleet(join: JoinWith, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """With the real collector, which judges conditions."""
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    settings.cache_clear()
    return make_fleet(join([*fleets_routers, configurations_router]))


@pytest.fixture
def browser(fleet: Fleet) -> TestClient:
    return member_at(app, fleet.member.organization_id)


@pytest.fixture
def host(fleet: Fleet) -> str:
    """The id of a host that can be captured from."""
    fleet.assign(1)
    agent = fleet.agent(host_name=f"edge {SCRIPT}")
    agent.start()
    agent.tells(b'{"v":1,"supervisor":{"version":"0.3.0"},"can":["capture"]}')
    agent.applies()
    return str(fleet.instances()[0]["id"])


def home(fleet: Fleet) -> str:
    return f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}"


def allow(fleet: Fleet, browser: TestClient) -> int:
    group = f"{home(fleet)}/deployments/{fleet.deployment_id}"
    return send_form(browser, group, "/captures", allowed="yes").status_code


@pytest.fixture
def allowed(fleet: Fleet, browser: TestClient) -> None:
    """By an Admin."""
    admin = joined(fleet.member.organization_id, "admin")
    _, value = sessions.begin(admin, "browser", datetime.now(UTC))
    with TestClient(app, base_url=browser.base_url, cookies={SESSION: value}) as http:
        assert allow(fleet, http) == 303


def test_captures_are_off_until_an_admin_allows_them(fleet: Fleet, browser: TestClient, host: str) -> None:
    group = browser.get(f"{home(fleet)}/deployments/{fleet.deployment_id}").text
    refused = send_form(browser, home(fleet), "/captures", where=host, **ASKED)

    assert "No group of this fleet allows captures" in browser.get(f"{home(fleet)}/captures").text
    assert "They are off" in group
    assert "Allow them" not in group
    assert allow(fleet, browser) == 403
    assert (refused.status_code, "Captures are off for the group" in refused.text) == (409, True)


@pytest.mark.collector
def test_a_capture_is_asked_for_followed_ended_and_told(
    fleet: Fleet, browser: TestClient, host: str, allowed: None
) -> None:
    forbidding = fleet.add_group("forbidding", 1)
    chosen = browser.get(f"{home(fleet)}/captures", params={"instance_id": host}).text
    made = send_form(browser, home(fleet), "/captures", where=host, **ASKED)
    shown = browser.get(f"{home(fleet)}/captures").text
    (capture,) = set(re.findall(r"cap_[0-9a-z]{26}", shown))
    timeline = browser.get(f"{home(fleet)}/collectors/{host}").text
    ended = send_form(browser, f"{home(fleet)}/captures", f"/{capture}/end")
    refused = send_form(browser, f"{home(fleet)}/captures", f"/{capture}/delete")

    assert f'<option value="{host}" selected>' in chosen
    # Chosen among what the group is assigned, also in its graph; a group without captures has none.
    assert re.findall(r'<details[^>]* data-deployment="(\w+)"', chosen) == [fleet.deployment_id]
    assert forbidding not in chosen
    for name in ("pipeline", "component"):
        assert f'<datalist id="{name}-known"><option value="{ASKED[name]}">' in chosen
    assert made.status_code == 303
    assert 'data-live="yes"' in shown
    assert "Was asked for a sample" in timeline
    assert SCRIPT not in shown + timeline
    assert (ended.status_code, refused.status_code) == (303, 409)
    assert "This capture is under way" in refused.text
    assert {"capture.started", "capture.ended", "deployment.captures_changed"} <= changes_of(fleet).keys()


@pytest.mark.collector
def test_any_host_of_a_group_is_asked(fleet: Fleet, browser: TestClient, host: str, allowed: None) -> None:
    assert send_form(browser, home(fleet), "/captures", where=fleet.deployment_id, **ASKED).status_code == 303
    listed = fleet.member.http.get(f"{API}/fleets/{fleet.id}/captures").json()["items"]
    assert [one["instance_id"] for one in listed] == [host]


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("pipeline", "traces", "has no such pipeline"),
        ("component", SCRIPT, "This is not a receiver or processor"),
        ("max_records", "many", "This must be a whole number"),
        ("duration_seconds", "5", "This must be at least 10"),
        ("where", "dep_nowhere", "No such deployment"),
    ],
)
def test_what_cannot_be_captured_is_told_and_what_was_typed_stays(
    fleet: Fleet, browser: TestClient, host: str, allowed: None, field: str, value: str, problem: str
) -> None:
    typed = {"where": host, **ASKED, field: value}
    answer = send_form(browser, home(fleet), "/captures", **typed)

    assert answer.status_code in (404, 422)
    assert problem in answer.text
    assert SCRIPT not in answer.text
    assert f'value="{typed["duration_seconds"]}"' in answer.text

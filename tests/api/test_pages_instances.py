"""The page of one collector: what is known of it, its timeline, and the orders that are forms."""

import json

import pytest

from fleets.app import app
from headgate.instances.model import instance_id
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, changes_of, fleet, now
from tests.support.in_process import TestClient
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.page_visitor import member_at, send_form, without_times

__all__ = ["ann", "fleet", "now"]

SCRIPT = "<script>alert(1)</script>"
BIDI = "\u202egnp.exe"


@pytest.fixture
def agent(fleet: Fleet, now: Clock) -> Agent:
    """A host that has applied version 1, tells what it counts, and understands every order."""
    fleet.assign(1, message=f"first {SCRIPT}")
    agent = fleet.agent(host_name=f"edge {SCRIPT}")
    agent.start()
    exporters = {f"otlp/{BIDI}": {"sent": 1_200, "failed": 3, "queue": 0.25}}
    counters = {"seconds": 30, "accepted": 1, "refused": 0, "sent": 1, "failed": 3, "dropped": 0, "queue": 0.25}
    said = {
        "v": 1,
        "supervisor": {"version": "0.2.0"},
        "labels": {"site": SCRIPT},
        "can": ["restart", "retry"],
        "drifted": ["exporters"],
        "counters": {**counters, "exporters": exporters},
    }
    agent.tells(json.dumps(said).encode())
    agent.applies()
    return agent


@pytest.fixture
def browser(fleet: Fleet) -> TestClient:
    return member_at(app, fleet.member.organization_id)


def page_path(fleet: Fleet) -> str:
    (seen,) = fleet.instances()
    return f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}/collectors/{seen['id']}"


def test_a_collector_shows_what_it_runs_how_it_fares_and_what_happened(
    fleet: Fleet, agent: Agent, browser: TestClient
) -> None:
    shown = browser.get(page_path(fleet))

    assert shown.status_code == 200
    for part in (
        "To run",
        "Offered",
        "Tried",
        "Runs",
        "site=",
        "0.2.0",
        "25 % full",
        "1,200",
        "Reported for the first",
    ):
        assert part in shown.text
    assert f"/configurations/{fleet.configuration_id}/versions/1" in shown.text
    assert BIDI in shown.text
    assert SCRIPT not in shown.text


def test_a_restart_is_ordered_by_a_form_and_recorded(fleet: Fleet, agent: Agent, browser: TestClient) -> None:
    answer = send_form(browser, page_path(fleet), "/restart")
    target = changes_of(fleet)["instance.restart_ordered"]

    assert (answer.status_code, answer.headers["location"]) == (303, page_path(fleet))
    assert "Restart: waits for the host" in browser.get(page_path(fleet)).text
    assert target.startswith(f"fleets/{fleet.id}/instances/{fleet.instances()[0]['id']}/orders/ord_")


def test_what_cannot_be_ordered_is_told_on_the_page(fleet: Fleet, agent: Agent, browser: TestClient) -> None:
    refused = {action: send_form(browser, page_path(fleet), action) for action in ("/retry", "/delete")}

    assert {action: answer.status_code for action, answer in refused.items()} == {"/retry": 409, "/delete": 409}
    assert "has not failed on it" in refused["/retry"].text
    assert "This collector reports: uninstall it" in refused["/delete"].text


def test_a_host_is_cut_off_and_let_in_and_gets_no_orders_between(
    fleet: Fleet, agent: Agent, browser: TestClient
) -> None:
    send_form(browser, page_path(fleet), "/cut-off")
    cut_off = browser.get(page_path(fleet)).text
    send_form(browser, page_path(fleet), "/let-in")
    let_in = browser.get(page_path(fleet)).text

    assert "This host is cut off: it gets no orders, and rollouts leave it out." in cut_off
    assert ("Restart its collector" in cut_off, "Restart its collector" in let_in) == (False, True)


def test_a_version_that_failed_is_tried_again(fleet: Fleet, agent: Agent, browser: TestClient) -> None:
    fleet.assign(2)
    agent.heartbeat()
    agent.report(wire.RemoteConfigStatuses_FAILED, f"bind: {SCRIPT}")
    page = browser.get(page_path(fleet)).text

    assert "Try the failed version again" in page
    assert SCRIPT not in page
    assert send_form(browser, page_path(fleet), "/retry").status_code == 303
    assert "instance.retry_ordered" in changes_of(fleet)


def test_another_version_is_run_for_a_while_and_the_groups_again(
    fleet: Fleet, agent: Agent, browser: TestClient
) -> None:
    fleet.publish_up_to(2)
    form = {"configuration_id": "", "version_number": "2", "until": "2026-11-21T18:00", "message": f"why {SCRIPT}"}
    made = send_form(browser, page_path(fleet), "/override", **form)
    page = browser.get(page_path(fleet)).text

    assert made.status_code == 303
    assert "until 2026-11-21 18:00:00 UTC, whatever its group runs" in without_times(page)
    assert SCRIPT not in page
    assert "instance.overridden" in changes_of(fleet)
    assert send_form(browser, page_path(fleet), "/override/end").status_code == 303
    assert "instance.override_ended" in changes_of(fleet)
    assert send_form(browser, page_path(fleet), "/override/end").status_code == 404


def test_another_host_is_let_take_its_place_by_a_form(fleet: Fleet, agent: Agent, browser: TestClient) -> None:
    assert "none: its messages are not signed" in browser.get(page_path(fleet)).text
    assert send_form(browser, page_path(fleet), "/allow-move").status_code == 303

    assert "Another host may take its place until 2026-11-21 13:00:00 UTC" in without_times(
        browser.get(page_path(fleet)).text
    )
    assert "instance.move_allowed" in changes_of(fleet)


def test_a_host_that_was_installed_again_replaces_what_it_was_by_a_button(
    fleet: Fleet, agent: Agent, browser: TestClient, now: Clock
) -> None:
    former = page_path(fleet)
    assert "Replace this one by it" not in browser.get(former).text
    now.moves(minutes=6)
    again = fleet.agent(host_name=f"edge {SCRIPT}")
    again.start()
    page = browser.get(former).text
    assert f'name="by" value="{instance_id(again.uid)}"' in page
    assert SCRIPT not in page

    assert send_form(browser, former, "/replace", by=instance_id(again.uid)).status_code == 303

    assert [one["id"] for one in fleet.instances()] == [instance_id(again.uid)]
    assert "instance.replaced" in changes_of(fleet)


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"version_number": "2", "until": "soon"}, "Give a time in UTC"),
        ({"version_number": "two", "until": "2026-11-21T18:00"}, "This must be a whole number"),
        ({"version_number": "9", "until": "2026-11-21T18:00"}, "No such version"),
        ({"version_number": "1", "until": "2026-11-20T18:00"}, "This time has passed"),
        ({"version_number": "1", "until": "2027-11-20T18:00"}, "lasts 90 days at most"),
        (
            {"configuration_id": "x", "version_number": "1", "until": "2026-11-21T18:00"},
            "This must be the id of a configuration",
        ),
        (
            {"version_number": "1", "until": "2026-11-21T18:00", "message": "x" * 1_001},
            "This may have at most 1,000 characters",
        ),
    ],
)
def test_a_wrong_override_is_told_at_its_field(
    fleet: Fleet, agent: Agent, browser: TestClient, form: dict[str, str], problem: str
) -> None:
    answer = send_form(browser, page_path(fleet), "/override", **form)

    assert answer.status_code in (404, 422)
    assert problem in answer.text
    assert 'aria-invalid="true"' in answer.text


def test_the_timeline_tells_what_ran_at_a_time(fleet: Fleet, agent: Agent, browser: TestClient, now: Clock) -> None:
    now.moves(minutes=10)
    then = browser.get(page_path(fleet), params={"at": "2026-11-21T12:05"}).text
    before = browser.get(page_path(fleet), params={"at": "2026-11-21T11:00"}).text
    later = browser.get(page_path(fleet), params={"at": "2026-11-22T11:00"}).text
    wrong = browser.get(page_path(fleet), params={"at": "yesterday"}).text

    assert "At 2026-11-21 12:05:00 UTC: " in without_times(then)
    assert "was not recorded" in before
    assert "lies in the future" in later
    assert "Give a time in UTC" in wrong


def test_a_collector_that_is_silent_is_not_shown_as_healthy(
    fleet: Fleet, agent: Agent, browser: TestClient, now: Clock
) -> None:
    assert '<span class="tag good">healthy</span>' in browser.get(page_path(fleet)).text

    now.moves(hours=1)

    shown = browser.get(page_path(fleet)).text
    assert '<span class="tag good">healthy</span>' not in shown
    assert "healthy when it was last heard" in shown


def test_a_stopped_collector_is_deleted(fleet: Fleet, agent: Agent, browser: TestClient) -> None:
    path = page_path(fleet)
    agent.leaves()

    assert send_form(browser, path, "/delete").status_code == 303
    assert "instance.deleted" in changes_of(fleet)
    assert browser.get(path).status_code == 404


def test_a_collector_of_another_fleet_is_not_there(fleet: Fleet, agent: Agent, browser: TestClient) -> None:
    other = fleet.member.http.post(f"{API}/fleets", json={"label": "Other", "type": "server-supervisor"}).json()["id"]

    assert browser.get(page_path(fleet).replace(fleet.id, other)).status_code == 404

"""The page of a fleet's collectors."""

import html
import json
import re

import pytest

from configurations.app import router as configurations_router
from fleets.app import app
from fleets.app import routers as fleets_routers
from fleets.pages.instances import list_pages
from headgate.identity import service as identity
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Fleet, changes_of, make_fleet
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith
from tests.support.page_visitor import member_at, send_form


@pytest.fixture
def fleet(join: JoinWith, fleets_without_collector: None) -> Fleet:
    return make_fleet(join([configurations_router, *fleets_routers]), label="Edge & co")


@pytest.fixture
def browser(fleet: Fleet) -> TestClient:
    """A member of the fleet's organization, signed in."""
    return member_at(app, fleet.member.organization_id)


def page_of(browser: TestClient, fleet: Fleet) -> str:
    response = browser.get(f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}/collectors")
    assert response.status_code == 200, response.text
    return response.text


def test_a_fleet_without_collectors_says_what_to_do(fleet: Fleet, browser: TestClient) -> None:
    assert "None has reported yet" in page_of(browser, fleet)


def test_each_collector_shows_its_host_its_state_and_what_it_runs(fleet: Fleet, browser: TestClient) -> None:
    fleet.assign(1)
    agent = fleet.agent(host_name="edge-<1>")
    agent.start()
    agent.applies()
    fleet.assign(2)
    shown = page_of(browser, fleet)

    assert "edge-&lt;1&gt;" in shown
    assert "pending pickup" in shown
    assert f"/configurations/{fleet.configuration_id}/versions/2" in shown
    assert f"/configurations/{fleet.configuration_id}/versions/1" in shown
    assert "Edge &amp; co" in shown


def test_a_collector_that_could_not_apply_says_why_and_cannot_write_into_the_page(
    fleet: Fleet, browser: TestClient
) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.report(wire.RemoteConfigStatuses_FAILED, "bind: <script>address already in use</script>")

    assert "bind: &lt;script&gt;address already in use&lt;/script&gt;" in page_of(browser, fleet)


def test_another_organizations_fleet_is_not_there(fleet: Fleet) -> None:
    other = identity.create_organization("Other").id

    response = member_at(app, other).get(f"/organizations/{other}/fleets/{fleet.id}/collectors")

    assert response.status_code == 404


def counts(sent: int, failed: int) -> bytes:
    counters = {"seconds": 60, "accepted": 10 * sent, "refused": 0, "sent": sent, "failed": failed, "dropped": 0}
    return json.dumps({"v": 1, "can": ["restart"], "counters": {**counters, "queue": 0.0, "exporters": {}}}).encode()


@pytest.fixture
def three(fleet: Fleet) -> Fleet:
    """Three hosts, of which the second cannot be ordered anything."""
    fleet.assign(1)
    for name, said in (("b", counts(3, 1)), ("C", b"{}"), ("a", counts(90, 0))):
        agent = fleet.agent(host_name=name)
        agent.start()
        agent.tells(said)
    return fleet


def hosts(shown: str) -> list[str]:
    return re.findall(r"<strong>([abC])</strong>", shown)


def test_the_list_is_sorted_by_its_heads_over_all_pages(
    three: Fleet, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/organizations/{three.member.organization_id}/fleets/{three.id}/collectors"

    def listed(**query: str | int) -> list[str]:
        return hosts(browser.get(path, params=query).text)

    assert listed(sort="host") == ["a", "b", "C"]
    assert listed(sort="-host") == ["C", "b", "a"]
    assert listed(sort="rate") == ["C", "b", "a"]
    assert listed(sort="-failed")[0] == "b"
    assert "25.0 %" in page_of(browser, three)

    monkeypatch.setattr(list_pages, "ENTRIES", 2)
    first = browser.get(path, params={"sort": "host", "host": "", "state": "pending_pickup"}).text
    assert hosts(first) == ["a", "b"]
    assert "1 to 2 of 3 collectors" in first
    following = html.unescape(re.findall(r'rel="next" href="([^"]*)"', first)[0])
    second = browser.get(following).text
    assert hosts(second) == ["C"]
    assert 'rel="next"' not in second
    back = html.unescape(re.findall(r'rel="prev" href="([^"]*)"', second)[0])
    assert hosts(browser.get(back).text) == ["a", "b"]
    # The filter stays, and is taken away by its chip.
    removing = '<span class="unseen">Remove the filter </span>State: <b>pending_pickup</b>'
    assert f'<a class="chip" href="{path}">{removing}' in second


def test_the_pages_before_are_reached_in_the_lists_own_order(
    three: Fleet, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_pages, "ENTRIES", 1)
    path = f"/organizations/{three.member.organization_id}/fleets/{three.id}/collectors"
    shown = [browser.get(path).text]
    for rel in ("next", "next", "prev", "prev"):
        shown.append(browser.get(html.unescape(re.findall(f'rel="{rel}" href="([^"]*)"', shown[-1])[0])).text)

    listed = [hosts(page) for page in shown]
    assert sorted(listed[0] + listed[1] + listed[2]) == ["C", "a", "b"]
    assert listed[3:] == [listed[1], listed[0]]
    for wrong in ("after", "back"):
        assert browser.get(path, params={wrong: "forged"}).status_code == 422


def test_an_order_is_given_to_all_that_are_chosen_and_says_what_was_refused(three: Fleet, browser: TestClient) -> None:
    path = f"/organizations/{three.member.organization_id}/fleets/{three.id}/collectors"
    chosen = {str(seen["id"]): "yes" for seen in three.instances()}
    shown = page_of(browser, three)
    assert all(f'name="{instance_id}" value="yes" form="chosen"' in shown for instance_id in chosen)

    answer = send_form(browser, path, "/orders", order="restart", **chosen)

    assert answer.text.count(">ordered</span>") == 2
    assert answer.text.count(">not ordered</span>") == 1
    assert changes_of(three)["instance.restart_ordered"].startswith(f"fleets/{three.id}/instances/")
    for wrong in ({"order": "restart"}, {"order": "explode", **chosen}):
        assert send_form(browser, path, "/orders", **wrong).status_code == 422


def test_those_that_are_chosen_are_labelled_and_moved(three: Fleet, browser: TestClient) -> None:
    path = f"/organizations/{three.member.organization_id}/fleets/{three.id}/collectors"
    chosen = {str(seen["id"]): "yes" for seen in three.instances()}
    web = three.add_group("web", 1)

    labelled = send_form(browser, path, "/orders", order="label", set_label="team=a b", **chosen)
    moved = send_form(browser, path, "/orders", order="move", group=web, **chosen)

    assert labelled.text.count(">labelled</span>") == 3
    assert moved.text.count(">moves with its next message</span>") == 3
    shown = page_of(browser, three)
    assert shown.count(f'href="{path}?label=team%3Da+b"') == 3
    details = [three.member.http.get(f"{API}/fleets/{three.id}/instances/{id}").json() for id in chosen]
    assert {(seen["labels"]["team"], seen["moved_to"]) for seen in details} == {("a b", web)}
    for wrong in ({"order": "label", "set_label": "team"}, {"order": "label"}, {"order": "move"}):
        assert send_form(browser, path, "/orders", **wrong, **chosen).status_code == 422

    own = f"{path}/{next(iter(chosen))}"
    reasons = {
        "team": "key=value, or",
        "": "Give labels",
        "a b=c": "This must match",
        f"team={'a' * 256}": "at most 255",
    }
    for label, reason in reasons.items():
        refused = send_form(browser, own, "/change", set_label=label, group="")
        assert (refused.status_code, reason in refused.text) == (422, True), label
    send_form(browser, own, "/change", set_label="team=", group="back")
    seen = three.member.http.get(f"{API}/fleets/{three.id}/instances/{next(iter(chosen))}").json()
    assert ("team" in seen["labels"], seen["moved_to"]) == (False, None)

"""Rolling a version out from its configuration: groups of all fleets as checkboxes, and what became of each."""

import re

import pytest

from fleets.app import app
from headgate.audit import service as audit
from tests.support import configurations as cfg
from tests.support.fleet_of_agents import Fleet, admin_of, ann, fleet
from tests.support.fleets import create
from tests.support.in_process import TestClient
from tests.support.members import Member
from tests.support.page_visitor import csrf, member_at, send_form

__all__ = ["ann", "fleet"]


@pytest.fixture
def browser(fleet: Fleet) -> TestClient:
    fleet.assign(1)
    fleet.publish_up_to(2)
    return member_at(app, fleet.member.organization_id)


def path(fleet: Fleet) -> str:
    return f"/organizations/{fleet.member.organization_id}/fleets/roll-out"


def query(fleet: Fleet, n: int) -> dict[str, str]:
    return {"configuration_id": fleet.configuration_id, "version_number": str(n)}


def test_groups_of_an_older_version_are_chosen_with_what_they_run_and_their_hosts(
    fleet: Fleet, browser: TestClient
) -> None:
    fleet.agent(host_name="edge-1").start()
    observed = create(fleet.member, "Seen", mode="observed").json()["id"]
    shown = browser.get(path(fleet), params=query(fleet, 2)).text
    same = browser.get(path(fleet), params=query(fleet, 1)).text

    box = f'name="group.{fleet.id}.{fleet.deployment_id}" value="yes" form="chosen"'
    assert f"{box} checked " in shown
    assert box in same
    assert f"{box} checked" not in same
    # What would start there is refused.
    assert observed not in shown
    assert '<td class="number" data-label="Hosts">1 ' in shown
    assert f"/deployments/{fleet.deployment_id}/review?configuration_id={fleet.configuration_id}" in shown


def test_a_rollout_starts_in_each_chosen_group_and_a_refusal_stops_no_other(fleet: Fleet, browser: TestClient) -> None:
    second = fleet.add_group("second", 1)
    gone = "dep_01kyqzq3dbepyjf8jkf2gqv6rg"
    fields = {f"group.{fleet.id}.{one}": "yes" for one in (fleet.deployment_id, gone, second)}
    form = {"csrf": csrf(browser, f"{path(fleet)}?configuration_id={fleet.configuration_id}"), "way": "fast"}
    answer = browser.post(path(fleet), data={**form, **query(fleet, 2), **fields, "message": "all of them"})

    assert answer.status_code == 200, answer.text
    assert len(re.findall(r"/rollouts/rol_", answer.text)) == 2
    assert "not started</span> No such deployment" in answer.text
    named = {record.action: record.target_name for record in audit.records(admin_of(fleet), 100, None).entries}
    assert (named["rollout.started"], named["fleet.created"]) == ("Edge version 2", "Edge")
    assert named["configuration.created"] == "Edge"


def test_with_one_group_its_rollout_is_shown_and_with_none_the_form_says_so(fleet: Fleet, browser: TestClient) -> None:
    form = {"csrf": csrf(browser, f"{path(fleet)}?configuration_id={fleet.configuration_id}"), **query(fleet, 2)}
    none = browser.post(path(fleet), data={**form, "message": "<Typed>", "way": "fast"})
    one = browser.post(
        path(fleet), data={**form, f"group.{fleet.id}.{fleet.deployment_id}": "yes"}, follow_redirects=False
    )

    assert (none.status_code, "Choose at least one group" in none.text) == (422, True)
    assert ('value="&lt;Typed&gt;"' in none.text, 'value="fast" selected' in none.text) == (True, True)
    assert one.status_code == 303
    assert re.search(rf"/deployments/{fleet.deployment_id}/rollouts/rol_[0-9a-z]+$", one.headers["location"])


def test_without_a_fleet_the_first_one_is_created_on_the_same_page(ann: Member) -> None:
    configuration_id = cfg.create(ann, "Edge")
    cfg.publish(ann, configuration_id)
    here = f"/organizations/{ann.organization_id}/fleets"
    http = member_at(app, ann.organization_id)
    asked = {"configuration_id": configuration_id}

    shown = http.get(f"{here}/roll-out", params=asked).text
    assert "A fleet for your first host" in shown
    assert "Start in the chosen groups" not in shown
    made = send_form(http, here, "", type="server-supervisor", label="First")
    assert re.fullmatch(rf"{here}/flt_[0-9a-z]{{26}}#install", made.headers["location"])
    assert "Start in the chosen groups" in http.get(f"{here}/roll-out", params=asked).text

"""The page of a fleet's collectors."""

import pytest

from configurations.app import router as configurations_router
from fleets.app import app
from fleets.app import routers as fleets_routers
from headgate.identity import service as identity
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Fleet, make_fleet
from tests.support.in_process import TestClient
from tests.support.members import JoinWith
from tests.support.page_visitor import member_at


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

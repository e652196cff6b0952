"""The pages of a large fleet: nothing is left out or shown twice, and what a page reads is bounded."""

import html
import re
from urllib.parse import urljoin

import pytest

from fleets.app import app
from fleets.pages.instances import list_pages
from headgate.foundation.settings import settings
from headgate.opamp import service as opamp
from tests.support import sizes
from tests.support.fleet_of_agents import Fleet, ann, fleet
from tests.support.in_process import TestClient
from tests.support.opamp_agent import Agent
from tests.support.page_visitor import member_at
from tests.support.request_units import counted

__all__ = ["ann", "fleet"]
pytestmark = [pytest.mark.sized, pytest.mark.timeout(3_600)]

HOSTS = sizes.either(30, 2_000)
ENTRIES = sizes.either(8, 100)
QUERIES = 8
"""Queries of a page: two megabytes of collectors, the groups, the counters, and the sessions'."""


@pytest.fixture
def large(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """A tenth of the hosts runs version 2, all others version 1."""
    monkeypatch.setenv("HEADGATE_NEW_INSTANCES_PER_MINUTE", str(HOSTS))
    monkeypatch.setattr(list_pages, "ENTRIES", ENTRIES)
    settings.cache_clear()
    fleet.assign(1)
    agents = []
    for number in range(HOSTS):
        # Past HTTP, which would take most of the time.
        agent = Agent(
            lambda body: opamp.exchange(fleet.token, fleet.deployment_id, body).encode(), host_name=f"edge-{number}"
        )
        agent.start()
        agent.applies()
        agents.append(agent)
    fleet.assign(2)
    for agent in agents[::10]:
        agent.heartbeat()
        agent.applies()
    return fleet


@pytest.fixture
def browser(large: Fleet) -> TestClient:
    return member_at(app, large.member.organization_id)


def pages(browser: TestClient, path: str) -> list[str]:
    """The list at the path, page by page."""
    found = []
    following: str | None = path
    while following is not None:
        shown = browser.get(following)
        assert shown.status_code == 200, shown.text
        found.append(shown.text)
        link = re.search(r'rel="next" href="([^"]*)"', shown.text)
        following = urljoin(path, html.unescape(link[1])) if link else None
    return found


def hosts(page: str) -> list[str]:
    return re.findall(r"<strong>(edge-\d+)</strong>", page)


def test_every_collector_is_listed_once_and_counted_and_a_page_reads_no_more(large: Fleet, browser: TestClient) -> None:
    home = f"/organizations/{large.member.organization_id}/fleets/{large.id}"
    group, collectors = f"{home}/deployments/{large.deployment_id}", f"{home}/collectors"
    listed = [host for page in pages(browser, collectors) for host in hosts(page)]
    with_new = [host for page in pages(browser, f"{collectors}?version=2") for host in hosts(page)]
    last = [host for page in pages(browser, f"{collectors}?host=edge-{HOSTS - 1}") for host in hosts(page)]

    assert sorted(listed) == sorted(f"edge-{number}" for number in range(HOSTS))
    assert sorted(with_new) == sorted(f"edge-{number}" for number in range(0, HOSTS, 10))
    assert last == [f"edge-{HOSTS - 1}"]
    for path in (f"{home}?count=yes", collectors, f"{collectors}?label=a=b", f"{group}?count=yes"):
        with counted() as (calls, _):
            shown = browser.get(path)
        assert calls["Query"] <= QUERIES, (path, calls)
        assert len(shown.content) < 200_000, path
        if path.endswith("?count=yes"):
            assert f"{HOSTS // 10:,} of {HOSTS:,} collectors, 10 %, as assigned" in shown.text
            assert f"{HOSTS - HOSTS // 10:,} of {HOSTS:,} collectors, 90 %" in shown.text

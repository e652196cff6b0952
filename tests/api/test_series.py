"""Numbers over time by the API: sums by component and pipeline, gaps, ranges, and who may read them."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pytest

from fleets.app import app
from headgate.instances.series import store
from headgate_local import streams
from series.app import handler
from tests.support.aws import read_template
from tests.support.counting_hosts import CountingHost
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.in_process import TestClient
from tests.support.members import API, Member
from tests.support.page_visitor import member_at

__all__ = ["ann", "fleet", "now"]
MINUTES = 12
NUMBERS = ("accepted", "refused", "sent", "failed", "dropped", "accepted_bytes", "sent_bytes")


@pytest.fixture
def counted(fleet: Fleet, now: Clock) -> Iterator[list[CountingHost]]:
    """Two hosts that counted for twelve minutes, and were stored every third one."""
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(2)]
    hosts = [CountingHost(int(now.at.timestamp() * 1_000)) for _ in agents]
    with streams.followed(read_template()) as (stream,):
        for agent in agents:
            agent.start()
        for minute in range(MINUTES):
            now.moves(seconds=60)
            for n, (agent, host) in enumerate(zip(agents, hosts, strict=True), 1):
                host.counts(600 * n, 60_000)
                if minute % 3 == 2:
                    host.tells(agent)
        while stream.take(handler):
            pass
        yield hosts


def series(member: Member, path: str, **query: object) -> dict[str, Any]:
    response = member.http.get(f"{API}/{path}", params={name: str(value) for name, value in query.items()})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def sums(line: dict[str, Any]) -> dict[str, int]:
    return {name: sum(point[name] or 0 for point in line["points"]) for name in NUMBERS}


def test_a_group_has_what_its_hosts_took_and_sent(ann: Member, fleet: Fleet, counted: list[CountingHost]) -> None:
    path = f"fleets/{fleet.id}/deployments/{fleet.deployment_id}/series"

    (line,) = series(ann, path, step=60)["series"]

    taken = MINUTES * 1_800
    kept = taken - taken // 10
    failed = MINUTES * (540 // 100 + 1_080 // 100)
    assert sums(line) == {
        "accepted": taken,
        "refused": 2 * MINUTES,
        "sent": kept - failed,
        "failed": failed,
        "dropped": taken // 10,
        "accepted_bytes": 20 * taken,
        "sent_bytes": 20 * kept,
    }
    assert {point["accepted"] for point in line["points"]} == {1_800}
    assert {point["hosts"] for point in line["points"]} == {2.0}
    assert max(point["queue"] for point in line["points"]) == 40
    assert len(line["points"]) == MINUTES
    assert series(ann, f"fleets/{fleet.id}/series", step=60)["series"] == [line]


def test_numbers_by_component_and_pipeline_add_up(ann: Member, fleet: Fleet, counted: list[CountingHost]) -> None:
    path = f"fleets/{fleet.id}/deployments/{fleet.deployment_id}/series"

    components = {line["name"]: line for line in series(ann, path, by="component")["series"]}
    pipelines = {line["name"]: line for line in series(ann, path, by="pipeline")["series"]}

    assert set(components) == {
        "logs, logs/audit | receiver/otlp",
        "logs | processor/filter",
        "logs | exporter/otlphttp",
    }
    assert components["logs, logs/audit | receiver/otlp"]["shared"]
    assert sums(components["logs | processor/filter"])["dropped"] == MINUTES * 180
    # Both pipelines get what their receiver takes.
    assert {name: sums(line)["accepted"] for name, line in pipelines.items()} == {"logs": 21_600, "logs/audit": 21_600}
    assert sums(pipelines["logs/audit"])["sent"] == 0


def test_a_host_has_its_own_numbers(ann: Member, fleet: Fleet, counted: list[CountingHost]) -> None:
    hosts = [one["id"] for one in fleet.instances()]

    found = [series(ann, f"fleets/{fleet.id}/instances/{host}/series")["series"][0] for host in hosts]
    by_host = series(ann, f"fleets/{fleet.id}/series", by="host")["series"]

    assert sorted(sums(line)["accepted"] for line in found) == [7_200, 14_400]
    assert {line["name"] for line in by_host} == set(hosts)
    assert sum(sums(line)["accepted"] for line in by_host) == 21_600


def test_the_list_of_collectors_draws_the_last_hour_of_each_host_by_a_single_read(
    fleet: Fleet, counted: list[CountingHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    of_hosts = store.of_hosts

    def counting(deployment_id: str, ids: Collection[str], *rest: int) -> Iterator[tuple[str, Sequence[int]]]:
        reads.append(len(ids))
        return of_hosts(deployment_id, ids, *rest)

    monkeypatch.setattr(store, "of_hosts", counting)
    organization = fleet.member.organization_id
    shown = member_at(app, organization).get(f"/organizations/{organization}/fleets/{fleet.id}/collectors").text

    assert reads == [2]
    assert "Records a minute: last 600/min, at most 600/min" in shown
    assert "Records a minute: last 1.2 K/min, at most 1.2 K/min" in shown


def test_points_say_their_resolution(ann: Member, fleet: Fleet, counted: list[CountingHost]) -> None:
    path = f"fleets/{fleet.id}/deployments/{fleet.deployment_id}/series"

    assert series(ann, path, step=60)["resolution"] == 180
    assert series(ann, path, step=3_600)["resolution"] == 3_600
    assert series(ann, path, step=3_600)["series"][0]["points"][0]["accepted"] > 0


def test_a_time_without_a_host_has_no_points(
    ann: Member, fleet: Fleet, counted: list[CountingHost], now: Clock
) -> None:
    now.moves(hours=2)
    path = f"fleets/{fleet.id}/deployments/{fleet.deployment_id}/series"

    (line,) = series(ann, path, step=300)["series"]

    assert 2 <= len(line["points"]) <= 3


def test_a_group_that_counts_nothing_has_no_series(ann: Member, fleet: Fleet) -> None:
    assert series(ann, f"fleets/{fleet.id}/deployments/{fleet.deployment_id}/series")["series"] == []


BAD = {
    "query.from: This must be before": {"from": "2026-11-21T12:00:00Z", "to": "2026-11-21T11:00:00Z"},
    "query.to: This is in the future": {"to": "2026-11-22T12:00:00Z"},
    "query.step: This must be a multiple of 60": {"step": "90"},
    "for 7 days": {"from": "2026-11-10T12:00:00Z", "step": "300"},
    "for 90 days": {"from": "2026-01-01T12:00:00Z", "step": "86400"},
    "more than 1,500 points": {"from": "2026-11-15T12:00:00Z", "step": "60"},
    "step": {"step": "a"},
    "by": {"by": "colour"},
    "from": {"from": "yesterday"},
}


@pytest.mark.parametrize("says", BAD)
def test_a_range_that_cannot_be_answered_is_refused(ann: Member, fleet: Fleet, now: Clock, says: str) -> None:
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/series"

    response = ann.http.get(path, params=BAD[says])

    assert response.status_code == 422
    assert says in response.json()["detail"]
    assert response.json()["errors"][0]["loc"][0] == "query"


def test_by_host_a_day_is_kept(ann: Member, fleet: Fleet, now: Clock) -> None:
    path = f"{API}/fleets/{fleet.id}/series"

    response = ann.http.get(path, params={"by": "host", "from": "2026-11-18T12:00:00Z"})

    assert (response.status_code, "kept for a day" in response.json()["detail"]) == (422, True)


@pytest.fixture
def browser(fleet: Fleet) -> TestClient:
    return member_at(app, fleet.member.organization_id)


def test_the_pages_draw_what_flows_through(fleet: Fleet, counted: list[CountingHost], browser: TestClient) -> None:
    home = f"/organizations/{fleet.member.organization_id}"
    host = fleet.instances()[0]["id"]

    group = browser.get(f"{home}/fleets/{fleet.id}/deployments/{fleet.deployment_id}").text
    of_host = browser.get(f"{home}/fleets/{fleet.id}/collectors/{host}").text

    assert "logs | exporter/otlphttp" in group
    assert "Records a minute: taken last 1.8 K" in group
    assert "Reported by up to 2 hosts" in group
    assert "Records a minute: taken last" in of_host
    assert "States: " in of_host
    for path in (home, f"{home}/fleets", f"{home}/fleets/{fleet.id}"):
        page = browser.get(path).text
        assert "Records a minute" in page
        assert "style=" not in page


def test_a_group_without_counters_says_so(fleet: Fleet, browser: TestClient) -> None:
    home = f"/organizations/{fleet.member.organization_id}"

    page = browser.get(f"{home}/fleets/{fleet.id}/deployments/{fleet.deployment_id}").text

    assert "Nothing was counted in the last day" in page


@pytest.mark.parametrize(
    ("reports", "dropped"),
    [
        pytest.param([(5, 4), (0, 0)], 1, id="spread over minutes"),
        pytest.param([(100, 60), (0, 30)], 10, id="passed on later"),
        pytest.param([(100, 0), (100, 200)], 0, id="passed on later, all of it"),
        pytest.param([(0, 0), (100, 0)], 100, id="all of it"),
    ],
)
def test_what_a_processor_passes_on_later_is_not_dropped(
    ann: Member, fleet: Fleet, now: Clock, reports: list[tuple[int, int]], dropped: int
) -> None:
    host, agent = CountingHost(int(now.at.timestamp() * 1_000)), fleet.agent()
    taken = passed = 0
    with streams.followed(read_template()) as (stream,):
        agent.start()
        for more_taken, more_passed in reports:
            now.moves(seconds=420)
            taken, passed = taken + more_taken, passed + more_passed
            host.milliseconds += 420_000
            host.of = {"logs|processor/batch": [taken, 0, passed]}
            host.tells(agent)
        while stream.take(handler):
            pass

    path = f"fleets/{fleet.id}/deployments/{fleet.deployment_id}/series"
    asked = [("component", 60), ("pipeline", 60), ("none", 60), ("none", 300), ("host", 300), ("none", 3_600)]
    lines = {(by, step): series(ann, path, by=by, step=step)["series"] for by, step in asked}

    assert {place: [sums(line)["dropped"] for line in found] for place, found in lines.items()} == {
        place: [dropped] for place in asked
    }
    assert all(point["dropped"] >= 0 for found in lines.values() for line in found for point in line["points"])

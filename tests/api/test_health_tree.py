"""How the pipelines and components of a collector fare: read within bounds, stored when it changes, shown as a tree."""

from typing import Any

import pytest

from fleets.app import app
from headgate.fleets import keys
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.table import fleets as table
from headgate_opamp import opamp_pb2 as wire
from tests.api.test_observed_fleets import EXTENSION, observed, without_group
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.page_visitor import member_at

__all__ = ["ann", "fleet", "now", "observed"]

_SECRET = "postgres://ada:correct-horse-battery@db/shop"


def _health(**exporter: Any) -> wire.ComponentHealth:
    """What the collector's extension reports, with one exporter that is as given."""
    health = wire.ComponentHealth(healthy=True, status="StatusOK", start_time_unix_nano=1_790_000_000_000_000_000)
    pipeline = health.component_health_map["pipeline:logs"]
    pipeline.healthy = True
    pipeline.status = "StatusOK"
    for name in ("receiver:otlp", "exporter:otlp"):
        pipeline.component_health_map[name].healthy = True
        pipeline.component_health_map[name].status = "StatusOK"
        pipeline.component_health_map[name].status_time_unix_nano = 1_790_000_000_123_000_000
    pipeline.component_health_map["exporter:otlp"].MergeFrom(wire.ComponentHealth(**exporter))
    if exporter:
        pipeline.component_health_map["exporter:otlp"].healthy = False
    return health


def _says(agent: Agent, health: wire.ComponentHealth) -> None:
    message = agent.message()
    message.health.CopyFrom(health)
    agent.send(message)


def _shown(fleet: Fleet) -> dict[str, Any]:
    (seen,) = fleet.instances()
    shown: dict[str, Any] = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances/{seen['id']}").json()["health"]
    return shown


def _stored(fleet: Fleet) -> list[Item]:
    return list(table.each(keys.of_fleet(fleet.id), keys.HEALTH))


@pytest.fixture
def agent(observed: Fleet) -> Agent:
    agent = without_group(observed, capabilities=EXTENSION)
    agent.health = _health()
    agent.start()
    return agent


def test_pipelines_and_components_are_shown_as_a_tree_with_status_time_and_error(observed: Fleet, agent: Agent) -> None:
    _says(agent, _health(status="StatusRecoverableError", last_error=f"cannot reach {_SECRET}"))

    shown = _shown(observed)
    assert (shown["healthy"], shown["status"], shown["complete"]) == (True, "OK", True)
    assert shown["started_at"] == "2026-09-21T14:13:20.000Z"
    exporter, receiver = shown["parts"][1:]
    assert [part["path"] for part in shown["parts"]] == [
        ["pipeline:logs"],
        ["pipeline:logs", "exporter:otlp"],
        ["pipeline:logs", "receiver:otlp"],
    ]
    assert (exporter["healthy"], exporter["status"]) == (False, "RecoverableError")
    assert "correct-horse" not in exporter["error"]
    assert exporter["error"].startswith("cannot reach postgres")
    assert (receiver["status"], receiver["at"]) == ("OK", "2026-09-21T14:13:20.123Z")

    visitor = member_at(app, observed.member.organization_id)
    (seen,) = observed.instances()
    path = f"/organizations/{observed.member.organization_id}/fleets/{observed.id}/collectors/{seen['id']}"
    page = visitor.get(path).text
    assert "1 of 3 not healthy" in page
    assert "RecoverableError" in page

    agent.says_health(healthy=False, error=f"cannot reach {_SECRET}")
    shown = _shown(observed)
    assert (shown["healthy"], shown["status"], shown["parts"]) == (False, None, [])
    assert "correct-horse" not in str(observed.instances())


def test_a_tree_is_written_when_it_changes_and_goes_with_its_instance(
    observed: Fleet, agent: Agent, now: Clock
) -> None:
    _says(agent, _health(status="StatusRecoverableError", last_error="dial tcp: port 53211 refused"))
    first = _stored(observed)
    for port in range(3):
        now.moves(seconds=40)
        _says(agent, _health(status="StatusRecoverableError", last_error=f"dial tcp: port {port} refused"))
    assert _stored(observed) == first

    now.moves(days=21)
    agent.start()
    _says(agent, _health(status="StatusRecoverableError", last_error="dial tcp: port 1 refused"))
    (again,) = _stored(observed)
    assert items.number(again, "expires") - items.number(first[0], "expires") == 21 * 86_400 + 120
    agent.leaves()
    (seen,) = observed.instances()
    assert observed.member.http.delete(f"{API}/fleets/{observed.id}/instances/{seen['id']}").status_code == 204
    assert _stored(observed) == []

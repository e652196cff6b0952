"""What a collector's own extension leaves out of the configuration that it reports: findings and drafts say so."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from fleets.app import app
from headgate import checker
from headgate.foundation.settings import settings
from headgate_opamp import opamp_pb2 as wire
from tests.api.test_observed_fleets import EXTENSION, observed, without_group
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.page_visitor import member_at

__all__ = ["ann", "fleet", "now", "observed"]

pytestmark = pytest.mark.collector

# What otelcol-contrib 0.139.0 reported by its `opamp` extension while it ran. Its file has an operator of `filelog`,
# the scrapers `load` and `memory`, statements of `transform` without an error_mode, `$${1}` and `$$` in one of them.
_RECORDED: Final = (Path(__file__).parent / "testdata/extension_0.139.0.yaml").read_text(encoding="utf-8")
_COLLECTORS: Final = str(settings().collectors_dir)
_LOST: Final = ["receivers::filelog::operators::0", "receivers::hostmetrics"]


@pytest.fixture(autouse=True)
def with_collector(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The collectors that this run was started with, which the fixture of the fleet hides."""
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", _COLLECTORS)
    settings.cache_clear()
    checker.close()
    yield
    checker.close()


def _running(
    observed: Fleet, *, healthy: bool = True, started: bool = True, text: str = _RECORDED, error: str = ""
) -> str:
    """The path of a collector that reports the text."""
    agent: Agent = without_group(observed, capabilities=EXTENSION)
    before = {each["id"] for each in observed.instances()}
    message: wire.AgentToServer = agent.full()
    health = wire.ComponentHealth(
        healthy=healthy, last_error=error, start_time_unix_nano=1_700_000_000_000_000_000 if started else 0
    )
    if started:
        health.component_health_map["extensions"].CopyFrom(wire.ComponentHealth(healthy=healthy, status="StatusOK"))
    message.health.CopyFrom(health)
    message.effective_config.config_map.config_map[""].body = text.encode()
    agent.send(message)
    (added,) = {each["id"] for each in observed.instances()} - before
    return f"{API}/fleets/{observed.id}/instances/{added}"


def _asked(observed: Fleet, path: str, **params: str) -> dict[str, Any]:
    response = observed.member.http.get(path, params=params)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def _places(findings: list[dict[str, Any]], **having: str) -> list[str]:
    return [each["component_path"] for each in findings if having.items() <= each.items()]


@pytest.mark.parametrize("healthy", [True, False])
def test_what_a_running_collector_leaves_out_of_its_report_is_no_error(
    observed: Fleet, now: Clock, healthy: bool
) -> None:
    path = _running(observed, healthy=healthy)
    findings = _asked(observed, f"{path}/findings", to="0.158.0")

    assert _places(findings["result"]["findings"], severity="error") == []
    assert sorted(_places(findings["result"]["findings"], code="left_out_of_report", severity="warning")) == _LOST
    # An empty value that the collector refuses was not written.
    assert 'error_mode: ""' not in findings["yaml"]
    assert _places(findings["upgrade"]["new_errors"]) == []
    of_fleet = _asked(observed, f"{API}/fleets/{observed.id}/findings", to="0.158.0")
    assert _places(of_fleet["items"], severity="error") == []
    assert sorted(_places(of_fleet["items"], code="left_out_of_report")) == _LOST
    # Each component is renamed once, and what a person has to know of the other version is there.
    renamed = ["exporters::otlp", "receivers::filelog", "receivers::hostmetrics"]
    assert sorted(_places(of_fleet["items"], code="renamed_component")) == renamed
    assert _places(of_fleet["items"], code="changed_behaviour") == ["processors::memory_limiter"]
    assert _places(of_fleet["items"], code="feature_gate")


def test_the_errors_of_a_collector_that_never_started_are_errors(observed: Fleet, now: Clock) -> None:
    runs = _running(observed, healthy=False)
    never = _running(observed, healthy=False, started=False, error="the collector exited with code 1")
    for moved in ({}, {"hours": 1}):
        # One that went away without a word of why was stopped.
        now.moves(**moved)
        for path, started in ((runs, True), (never, False)):
            findings = _asked(observed, f"{path}/findings")["result"]["findings"]
            assert set(_LOST).isdisjoint(_places(findings, severity="error")) is started
    assert _places(_asked(observed, f"{API}/fleets/{observed.id}/findings")["items"], severity="error") == []


def test_a_draft_has_what_runs_and_says_what_the_report_leaves_out(observed: Fleet, now: Clock) -> None:
    adopted = _asked(observed, f"{_running(observed)}/adoption")

    assert 'error_mode: ""' not in adopted["yaml"]
    # The report has values, in which a dollar is one; a configuration has references.
    assert 'replace_pattern(body, "^(a+)$", "$${1}-berlin")' in adopted["yaml"]
    (note,) = [note for note in adopted["notes"] if "receivers::hostmetrics" in note]
    assert all(place in note for place in _LOST)
    visitor = member_at(app, observed.member.organization_id)
    page = f"/organizations/{observed.member.organization_id}/fleets/{observed.id}"
    host = f"{page}/collectors/{observed.instances()[0]['id']}"
    assert "receivers::hostmetrics" in visitor.get(f"{host}/adopt").text
    assert "leaves out" in visitor.get(f"{host}/findings").text

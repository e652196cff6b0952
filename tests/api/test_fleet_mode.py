"""An observed fleet becomes a managed one: nothing is sent by that, and the first version comes by a rollout."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fleets.app import app
from headgate.deployments import modes
from headgate.fleets import service as fleets
from headgate.foundation import clock
from headgate.instances import first_version
from headgate.storage.retry import LostRace
from headgate.storage.table import transact
from tests.api.test_observed_fleets import EXTENSION, observed, without_group
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, now, version
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.page_visitor import csrf, member_at
from tests.support.rolling import Host, RollingGroup, no_executions

__all__ = ["ann", "fleet", "no_executions", "now", "observed"]

pytestmark = pytest.mark.usefixtures("no_executions")


def _set(fleet: Fleet, mode: str) -> Any:
    return fleet.member.http.put(f"{API}/fleets/{fleet.id}/mode", json={"mode": mode})


@pytest.fixture
def agents(now: Clock, observed: Fleet) -> tuple[Agent, Agent]:
    """A supervisor that accepts remote configuration, and a collector with the extension alone."""
    supervisor = without_group(observed, host_name="web-1")
    extension = without_group(observed, capabilities=EXTENSION, host_name="web-2")
    for agent in (supervisor, extension):
        answer = agent.start()
        assert not answer.HasField("remote_config")
    return supervisor, extension


def test_what_is_kept_and_who_stays_observed_is_told_before(observed: Fleet, agents: tuple[Agent, Agent]) -> None:
    check = observed.member.http.post(f"{API}/fleets/{observed.id}/mode-check", json={"mode": "managed"}).json()

    assert (check["reason"], check["total"], check["taking"], check["staying"]) == (None, 2, 1, 1)
    assert [(host["host_name"], host["accepts_remote_config"]) for host in check["hosts"]] == [
        ("web-2", False),
        ("web-1", True),
    ]
    assert any(note.startswith("1 of 2 collectors take no remote configuration") for note in check["notes"])
    assert observed.member.http.get(f"{API}/fleets/{observed.id}").json()["mode"] == "observed"


def test_a_managed_fleet_sends_nothing_until_a_rollout_reaches_a_host(
    observed: Fleet, agents: tuple[Agent, Agent], now: Clock
) -> None:
    extension = agents[1]
    changed = _set(observed, "managed")
    assert (changed.status_code, changed.json()["mode"]) == (200, "managed")
    assert _set(observed, "managed").status_code == 200
    group = RollingGroup(observed, now, [Host(agents[0], ours=False)])
    group.join("web-3", ours=False)
    extension.start()
    assert [host.runs for host in group.hosts] == [None, None]
    assert observed.counts() == {"total": 3, "running": 3}

    version = {"configuration_id": observed.configuration_id, "version_number": 1}
    path = f"{API}/fleets/{observed.id}/deployments/{observed.deployment_id}"
    assert observed.member.http.get(path).json()["first_by_rollout"] is True
    at_once = observed.member.http.patch(path, json=version)
    assert (at_once.status_code, at_once.json()["code"]) == (409, "first_by_rollout")
    override = {**version, "until": clock.rfc3339(clock.now() + timedelta(hours=1))}
    (taking,) = [seen["id"] for seen in observed.instances() if seen["host_name"] == "web-1"]
    of_host = f"{API}/fleets/{observed.id}/instances/{taking}/override"
    pinned = observed.member.http.put(of_host, json=override)
    assert (pinned.status_code, pinned.json()["code"]) == (409, "first_by_rollout")

    rollout = group.start(**version, accept_differences=True)
    first = group.goes_on(rollout, lambda shown: shown["hosts"]["applied"] == 1)
    assert sum(host.runs is None for host in group.hosts) == 1
    assert first["hosts"]["total"] == 2
    done = group.ends(rollout)
    assert (done["status"], done["hosts"]["applied"]) == ("completed", 2)
    assert observed.member.http.get(path).json()["first_by_rollout"] is False
    # Also before it reports again, and after.
    assert [seen["state"] for seen in observed.instances() if seen["host_name"] == "web-2"] == ["running"]
    assert not extension.heartbeat().HasField("remote_config")
    assert {seen["host_name"]: seen["state"] for seen in observed.instances()} == {
        "web-1": "applied",
        "web-2": "running",
        "web-3": "applied",
    }

    back = _set(observed, "observed")
    assert (back.status_code, back.json()["code"]) == (409, "mode_not_changeable")
    browser = member_at(app, observed.member.organization_id)
    settings = path.replace(f"{API}/", f"/organizations/{observed.member.organization_id}/") + "/settings"
    assert "They do not go back to what they ran before" in browser.get(settings).text


def test_a_first_version_is_compared_with_what_each_host_runs(observed: Fleet) -> None:
    texts = {
        "web-1": version(1).replace("nop: ", "nop: {}"),
        "web-2": version(1)
        + "extensions: {zpages: {endpoint: 'localhost:1'}, basicauth: {client_auth: {password: x}}}\n",
        "web-3": "",
    }
    for name, text in texts.items():
        agent = without_group(observed, host_name=name)
        agent.start()
        message = agent.message()
        message.effective_config.config_map.config_map[""].body = text.encode()
        if text:
            agent.send(message)
    without_group(observed, host_name="web-4", capabilities=EXTENSION).start()
    path = f"{API}/fleets/{observed.id}/deployments/{observed.deployment_id}/assignment-check"
    body: dict[str, str | int] = {"configuration_id": observed.configuration_id, "version_number": 1}
    assert _set(observed, "managed").status_code == 200

    warnings = observed.member.http.post(path, json=body).json()["warnings"]

    # The host that runs the same is not named, and the one that takes no configuration neither.
    differing = [each["message"] for each in warnings if each["code"] == "differs_from_running"]
    rollouts = path.replace("assignment-check", "rollouts")
    refused = observed.member.http.post(rollouts, json=body)
    assert (refused.status_code, refused.json()["code"]) == (409, "differs_from_running")
    assert [each["message"] for each in refused.json()["errors"]] == differing
    browser = member_at(app, observed.member.organization_id)
    page = f"/organizations/{observed.member.organization_id}/fleets/roll-out"
    form = {"csrf": csrf(browser, f"{page}?configuration_id={observed.configuration_id}"), **body, "way": "fast"}
    shown = browser.post(page, data={**form, f"group.{observed.id}.{observed.deployment_id}": "yes"}).text
    assert all(f"<li>{message}</li>" in shown for message in differing)
    review = page.replace("roll-out", f"{observed.id}/deployments/{observed.deployment_id}/review")
    assert all(f"! {message}</p>" in browser.get(review, params=body).text for message in differing)
    fields = dict(
        re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', shown.partition("not started")[2])
    )
    accepted = browser.post(page, data=fields, follow_redirects=False)
    assert re.search(r"/rollouts/rol_[0-9a-z]+$", accepted.headers["location"]), accepted.text
    started = observed.member.http.post(rollouts, json={**body, "accept_differences": True}).json()
    assert [each["message"] for each in started["warnings"] if each["code"] == "differs_from_running"] == differing
    assert sorted(differing) == [
        "The version is not what web-2 runs: only the host has "
        "extensions::basicauth::client_auth::password, extensions::zpages::endpoint",
        "The version is not what web-3 runs: only the version has "
        "service::pipelines::logs::exporters::0, service::pipelines::logs::receivers::0",
    ]


def test_texts_of_hosts_beyond_what_is_read_are_said_not_to_be_compared(
    observed: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in (1, 2):
        agent = without_group(observed, host_name=f"web-{n}")
        agent.start()
        message = agent.message()
        message.effective_config.config_map.config_map[
            ""
        ].body = f"{version(1)}extensions: {{zpages/{n}: {{endpoint: a}}}}\n".encode()
        agent.send(message)
    assert _set(observed, "managed").status_code == 200
    monkeypatch.setattr(first_version, "MOST_READ", 2 * len(version(1)))
    path = f"{API}/fleets/{observed.id}/deployments/{observed.deployment_id}/assignment-check"

    body = {"configuration_id": observed.configuration_id, "version_number": 1}
    warnings = observed.member.http.post(path, json=body).json()["warnings"]

    said = [each["message"].partition(": ")[2] for each in warnings if each["code"] == "differs_from_running"]
    assert ["was not compared" in message for message in said] == [False, True]


def test_a_first_version_that_fails_stops_no_collector(
    observed: Fleet, agents: tuple[Agent, Agent], now: Clock
) -> None:
    _set(observed, "managed")
    observed.publish_up_to(2)
    group = RollingGroup(observed, now, [Host(agents[0], fares="fails", ours=False)])
    group.join("web-3", ours=False)
    rollout = group.start(
        {"steps": [{"percent": 100, "soak_seconds": 0}]},
        configuration_id=observed.configuration_id,
        accept_differences=True,
    )
    ended = group.goes_on(rollout, lambda shown: shown["status"] in ("halted", "rolled_back"))

    assert ended["hosts"]["failed"] == 1 or ended["status"] == "rolled_back"
    # What failed stays with its supervisor, and what works goes on: nobody is sent an empty configuration.
    assert group.act(rollout, "abort").status_code in (200, 409)
    group.beats()
    assert [host.runs and host.runs.decode() for host in group.hosts] == [version(2), version(2)]
    # So no host is said to have gone back.
    shown = group.ends(rollout)
    assert sum(failure["gate"] == "rollback_failed" for failure in shown["failures"]) == 2


def test_a_fleet_that_runs_nothing_is_observed_again_and_a_kubernetes_fleet_never_managed(
    observed: Fleet, agents: tuple[Agent, Agent]
) -> None:
    assert _set(observed, "managed").status_code == 200
    assert _set(observed, "observed").json()["mode"] == "observed"
    assert not agents[0].start().HasField("remote_config")
    refused = observed.member.http.post(
        f"{API}/fleets/{observed.id}/deployments",
        json={"name": "x", "configuration_id": observed.configuration_id, "version_number": 1},
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "fleet_observed")
    body = {"label": "bridge", "type": "kubernetes-supervisor", "mode": "observed"}
    bridge = observed.member.http.post(f"{API}/fleets", json=body).json()["id"]
    refused = observed.member.http.put(f"{API}/fleets/{bridge}/mode", json={"mode": "managed"})
    assert (refused.status_code, "chart" in refused.json()["detail"]) == (409, True)


def test_a_renewed_token_and_a_new_mode_at_once_are_both_stored(observed: Fleet) -> None:
    admin, barrier = admin_of(observed), threading.Barrier(2)
    before = fleets.get(admin, observed.id)

    def sets_mode() -> None:
        barrier.wait()
        modes.change(admin, observed.id, "managed")

    def renews() -> None:
        barrier.wait()
        fleets.renew_token(admin, observed.id, "1d")

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(sets_mode), pool.submit(renews)]:
            done.result()

    after = fleets.get(admin, observed.id)
    assert (after.mode, after.token_generation) == ("managed", before.token_generation + 1)
    # Whichever was first: what was read before the mode changed is not written over it.
    with pytest.raises(LostRace):
        transact([fleets.changed(replace(after, mode="observed"), before)])


def test_clearing_what_was_never_assigned_stops_no_collector(
    observed: Fleet, agents: tuple[Agent, Agent], now: Clock
) -> None:
    _set(observed, "managed")
    path = f"{API}/fleets/{observed.id}/deployments/{observed.deployment_id}"
    assert observed.member.http.patch(path, json={"configuration_id": None}).status_code == 200
    assert not agents[0].heartbeat().HasField("remote_config")
    at_once = {"configuration_id": observed.configuration_id, "version_number": 1}
    assert observed.member.http.patch(path, json=at_once).json()["code"] == "first_by_rollout"


def test_a_host_that_is_installed_into_a_fleet_that_was_observed_runs_nothing_and_holds_no_rollout_up(
    observed: Fleet, now: Clock
) -> None:
    _set(observed, "managed")
    group = RollingGroup(observed, now, [])
    group.join("web-9", fares="fails")
    group.beats()

    assert [host["state"] for host in observed.instances()] == ["idle"]
    observed.publish_up_to(2)
    version = {"configuration_id": observed.configuration_id, "version_number": 2}
    path = f"{API}/fleets/{observed.id}/deployments/{observed.deployment_id}"
    checked = observed.member.http.post(f"{path}/assignment-check", json=version).json()
    assert [each for each in checked["warnings"] if each["code"] == "differs_from_running"] == []
    taken_back = group.ends(group.start(**version))
    assert [failure["gate"] for failure in taken_back["failures"]] == ["apply_failed"]
    assert taken_back["status"] == "rolled_back"
    assert [host["state"] for host in observed.instances()] == ["idle"]


def test_collectors_that_stay_observed_are_read_and_redacted_in_a_managed_fleet(observed: Fleet) -> None:
    agent = without_group(observed, capabilities=EXTENSION, host_name="web-2")
    agent.start()
    path = f"{API}/fleets/{observed.id}/instances/{observed.instances()[0]['id']}/configuration"
    observed.change(reads_configurations=False)
    # A change of the mode does not allow Headgate to read configurations.
    assert (_set(observed, "managed").status_code, _set(observed, "observed").status_code) == (200, 200)
    _set(observed, "managed")
    _reports(agent, "exporters: {debug: }\n")
    assert "reads_configurations is false" in observed.member.http.get(path).json()["detail"]

    observed.change(reads_configurations=True)
    _reports(agent, "exporters: {otlp: {headers: {x-api-key: pl4nted}}}\n")
    assert observed.member.http.get(path).json()["yaml"].count("[REDACTED]") == 1
    observed.change(name="Default 2")
    agent.says_health(False, "401 for https://ada:pl4nted@otlp.example.com")
    assert "pl4nted" not in json.dumps(observed.instances())

    # A version for a collector that takes none is refused, and its pages show what it runs.
    body = {
        "configuration_id": observed.configuration_id,
        "version_number": 1,
        "until": clock.rfc3339(clock.now() + timedelta(hours=1)),
    }
    refused = observed.member.http.put(path.replace("configuration", "override"), json=body)
    assert (refused.status_code, refused.json()["code"]) == (409, "takes_no_configuration")
    pages = f"/organizations/{observed.member.organization_id}/fleets/{observed.id}"
    visitor = member_at(app, observed.member.organization_id)
    shown = visitor.get(f"{pages}/collectors/{observed.instances()[0]['id']}").text
    assert "What it reports to run" in shown
    assert "a configuration of its own" in shown
    assert "What is wrong with what they run" in visitor.get(pages).text


def _reports(agent: Agent, text: str) -> None:
    message = agent.full()
    message.effective_config.config_map.config_map[""].body = text.encode()
    agent.send(message)

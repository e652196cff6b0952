"""A version that hosts of the group cannot run: warned of before it is assigned, and in the answer after."""

import hashlib
import json
from typing import Any

from headgate.fleets import keys
from headgate.instances.reported.components import with_list
from headgate.storage import table
from tests.support import configurations as cfg
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]
HAVE = ["exporter/nop", "receiver/nop"]


def warned(answer: Any) -> list[tuple[str, str]]:
    return [(one["code"], one["message"]) for one in answer["warnings"] if one["code"] != "not_checked"]


def before(fleet: Fleet, n: int) -> list[tuple[str, str]]:
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/assignment-check"
    body = {"configuration_id": fleet.configuration_id, "version_number": n}
    response = fleet.member.http.post(path, json=body)
    assert response.status_code == 200, response.text
    return warned(response.json())


def after(fleet: Fleet, n: int) -> list[tuple[str, str]]:
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    body = {"configuration_id": fleet.configuration_id, "version_number": n}
    return warned(fleet.member.http.patch(path, json=body).json())


def pinned(fleet: Fleet, collector_version: str) -> int:
    """The number of a published version for that collector."""
    assert cfg.append(fleet.member, fleet.configuration_id, yaml="receivers: {nop: }\n").status_code == 201
    fleet.published += 1
    version = f"{API}/configurations/{fleet.configuration_id}/versions/{fleet.published}"
    assert fleet.member.http.patch(version, json={"collector_version": collector_version}).status_code == 200
    assert cfg.publish(fleet.member, fleet.configuration_id, fleet.published).status_code == 200
    return fleet.published


def having(fleet: Fleet, *names: str) -> Agent:
    """A host whose collector has said that it has these components alone."""
    components_hash = hashlib.sha256("\n".join(names).encode()).hexdigest()
    for write in with_list(fleet.id, components_hash, names):
        table.write(write)
    agent = fleet.agent()
    agent.start()
    said = {"v": 1, "supervisor": {"version": "0.149.0"}, "components": {"hash": components_hash}}
    agent.tells(json.dumps(said).encode())
    return agent


def test_hosts_that_run_another_collector_are_counted_before_and_after(fleet: Fleet) -> None:
    n = pinned(fleet, "0.158.0")
    assert before(fleet, n) == []
    for _ in range(2):
        fleet.agent().start()
    fleet.agent(fleet.add_group("other", 1)).start()

    said = "The version is for collector 0.158.0; of this group's 2 collectors, 2 run 0.139.0"
    assert before(fleet, n) == [("other_collector_version", said)]
    assert after(fleet, n) == [("other_collector_version", said)]
    assert before(fleet, 1) == []


def test_hosts_whose_collector_lacks_a_component_are_counted(fleet: Fleet) -> None:
    having(fleet, *HAVE)
    having(fleet, *HAVE, "receiver/otlp")
    fleet.agent().start()
    n = fleet.publish("receivers: {nop: , otlp/a: }\nexporters: {nop: }\n")

    assert before(fleet, n) == [("component_not_on_hosts", "1 of this group's 3 collectors has no receiver otlp")]
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/assignment-check"
    body = {"configuration_id": fleet.configuration_id, "version_number": n}
    (found,) = [
        one for one in fleet.member.http.post(path, json=body).json()["warnings"] if one["code"] != "not_checked"
    ]
    assert (found["component_path"], found["severity"]) == ("receivers::otlp/a", "warning")


def test_hosts_that_are_gone_are_not_counted(now: Clock, fleet: Fleet) -> None:
    n = pinned(fleet, "0.158.0")
    fleet.agent().start()
    now.moves(minutes=16)
    assert before(fleet, n) == []


def test_a_hostile_text_is_read_in_bounded_time_and_warned_of_a_bounded_number(fleet: Fleet) -> None:
    having(fleet, *HAVE)
    names = ", ".join(f"a{n}: " for n in range(20_000))
    n = fleet.publish(f"receivers: {{{names}}}\nexporters: {'{' * 500}\n")
    assert len(before(fleet, n)) <= 50
    names = "\n".join(f"  a{n}:" for n in range(20_000))
    n = fleet.publish(f"receivers:\n{names}\n")
    assert len(before(fleet, n)) == 50


def test_hosts_that_claim_many_long_versions_make_no_long_warning(fleet: Fleet) -> None:
    for number in range(7):
        agent = fleet.agent()
        message = agent.full()
        message.agent_description.identifying_attributes[1].value.string_value = f"{number}{'x' * 10_000}"
        agent.send(message)

    ((_, said),) = before(fleet, 1)
    assert "of this group's 7 collectors, 1 run" in said
    assert said.endswith(", 2 run others")
    assert len(said) < 1_500


def test_an_assignment_check_saves_nothing(fleet: Fleet) -> None:
    kept = table.fleets.list_all(keys.of_fleet(fleet.id))
    before(fleet, 1)
    assert table.fleets.list_all(keys.of_fleet(fleet.id)) == kept


def test_hosts_that_do_not_run_with_the_versions_gates_are_counted(fleet: Fleet) -> None:
    assert cfg.append(fleet.member, fleet.configuration_id, yaml="receivers: {nop: }\n").status_code == 201
    fleet.published += 1
    version = f"{API}/configurations/{fleet.configuration_id}/versions/{fleet.published}"
    changed = fleet.member.http.patch(version, json={"feature_gates": ["+service.profilesSupport", "-a.b"]})
    assert cfg.publish(fleet.member, fleet.configuration_id, fleet.published).status_code == 200
    for labels in ({}, {"headgate.feature-gates": "service.profilesSupport,-a.b,+c.d"}, {"zone": "a"}):
        agent = fleet.agent()
        agent.start()
        agent.tells(json.dumps({"v": 1, "supervisor": {"version": "0.149.0"}, "labels": labels}).encode())

    assert changed.json()["feature_gates"] == ["+service.profilesSupport", "-a.b"]
    gates = "+service.profilesSupport,-a.b"
    said = f"2 of this group's 3 collectors do not run with the version's feature gates ({gates})"
    assert before(fleet, fleet.published) == [
        ("feature_gates_not_on_hosts", f"{said}: install again with a new command")
    ]
    assert [code for code, _ in after(fleet, fleet.published)] == ["feature_gates_not_on_hosts"]
    assert before(fleet, 1) == []

"""The bridge of the OpenTelemetry operator in an observed fleet: an agent that reports a cluster's collectors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from fleets.app import app
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.fleets import create
from tests.support.members import API
from tests.support.page_visitor import member_at

__all__ = ["ann", "fleet", "now"]

# The first message of the operator's `operator-opamp-bridge`, built from its commit be894441 (0.158.0), as it came. The
# resources that it reports were made for it: shop/gateway, with a secret and what `kubectl apply` notes, shop/edge, and
# ops/audit, whose pod waits.
_RECORDED: Final = Path(__file__).parent / "testdata/operator_bridge_0.158.0.bin"
_SECRET: Final = "pl4nted"


@dataclass
class Bridge:
    """The recorded bridge in an observed fleet of Kubernetes."""

    fleet: Fleet
    message: wire.AgentToServer

    def sends(self) -> wire.ServerToAgent:
        headers = {"authorization": f"Bearer {self.fleet.token}"}
        answer = self.fleet.http.post("/v1/opamp", content=self.message.SerializeToString(), headers=headers)
        assert answer.status_code == 200, answer.text
        self.message.sequence_num += 1
        return wire.ServerToAgent.FromString(answer.content)

    def writes(self, collector: str, before: str, after: str) -> None:
        """Change the resource of a collector."""
        file = self.message.effective_config.config_map.config_map[collector]
        assert before.encode() in file.body
        file.body = file.body.replace(before.encode(), after.encode())

    def asked(self, what: str, expected: int = 200, **params: str) -> Any:
        path = f"{API}/fleets/{self.fleet.id}/instances/{self.fleet.instances()[0]['id']}{what}"
        response = self.fleet.member.http.get(path, params=params)
        assert response.status_code == expected, response.text
        return response.json()


@pytest.fixture
def bridge(fleet: Fleet, now: Clock) -> Bridge:
    created = create(fleet.member, "Cluster", type="kubernetes-supervisor", mode="observed").json()
    bridge = Bridge(
        Fleet(fleet.member, created["id"], "", fleet.configuration_id, fleet.http),
        wire.AgentToServer.FromString(_RECORDED.read_bytes()),
    )
    bridge.sends()
    return bridge


def test_collectors_and_pods_of_a_bridge_are_parts_of_it_and_it_is_unhealthy_with_them(
    bridge: Bridge, now: Clock
) -> None:
    shown = bridge.asked("")
    parts = {"/".join(part["path"][-1:]): (part["status"], part["healthy"]) for part in shown["health"]["parts"]}

    assert parts["shop/gateway"] == ("2/2", True)
    assert parts["ops/audit-collector-a"] == ("Pending", False)
    assert (bridge.fleet.state(), shown["state_message"]) == ("unhealthy", "Not healthy: ops/audit")
    audit = bridge.message.health.component_health_map["ops/audit"]
    audit.healthy = audit.component_health_map["ops/audit-collector-a"].healthy = True
    bridge.sends()
    assert bridge.fleet.state() == "running"
    now.moves(minutes=16)
    assert bridge.fleet.state() == "unknown"


def test_of_a_bridge_s_resources_what_configures_is_kept_without_secrets(bridge: Bridge) -> None:
    reported = bridge.asked("/configuration")
    gateway = list(yaml.safe_load_all(reported["yaml"]))[2]

    assert _RECORDED.read_bytes().count(_SECRET.encode()) == 2
    assert _SECRET not in reported["yaml"]
    assert gateway["metadata"] == {"name": "gateway", "namespace": "shop"}
    assert (gateway["spec"]["replicas"], gateway["status"]) == (2, {"version": "0.158.0"})
    (listed,) = bridge.fleet.member.http.get(f"{API}/fleets/{bridge.fleet.id}/inventory").json()["items"]
    assert {"exporter/otlphttp", "receiver/otlp", "exporter/debug"} <= set(listed["components"])


def test_a_status_of_a_resource_that_changes_is_no_change_of_a_configuration(bridge: Bridge, now: Clock) -> None:
    first = bridge.asked("/configuration")
    now.moves(minutes=5)
    bridge.writes("shop/gateway", "2/2", "1/2")
    bridge.writes("shop/gateway", 'resourceVersion: "211"', 'resourceVersion: "212"')
    bridge.sends()
    assert bridge.asked("/configuration")["sha256"] == first["sha256"]

    bridge.writes("shop/gateway", "managementState: managed", "managementState: unmanaged")
    bridge.sends()
    assert "+  managementState: unmanaged" in bridge.asked("/configuration")["difference"]


def test_a_collector_of_a_bridge_is_adopted_by_its_name(bridge: Bridge) -> None:
    assert "ops/audit, shop/edge, shop/gateway" in bridge.asked("/adoption", 422)["detail"]
    assert bridge.asked("/adoption", 422, collector="shop/none")["code"] == "configuration_not_adoptable"
    adopted = bridge.asked("/adoption", collector="shop/gateway")

    assert adopted["name"] == "shop/gateway"
    assert set(yaml.safe_load(adopted["yaml"])) == {"exporters", "processors", "receivers", "service"}
    assert [each["component_path"] for each in adopted["variables"]] == ["exporters::otlphttp::headers::x-team"]
    assert adopted["difference"].count("\n-") == 1
    assert "would delete collectors that an offer leaves out" in adopted["notes"][0]
    for name in ("shop/edge", "ops/audit"):
        del bridge.message.effective_config.config_map.config_map[name]
    bridge.sends()
    assert bridge.asked("/adoption")["yaml"] == adopted["yaml"]


def test_a_bridge_is_asked_for_everything_when_its_pods_change_and_every_five_minutes(
    bridge: Bridge, now: Clock
) -> None:
    for name in ("agent_description", "effective_config", "remote_config_status"):
        bridge.message.ClearField(name)

    def asked() -> bool:
        now.moves(seconds=30)
        return bool(bridge.sends().flags & wire.ServerToAgentFlags_ReportFullState)

    assert not asked()
    edge = bridge.message.health.component_health_map["shop/edge"]
    edge.component_health_map["shop/edge-collector-b"].status = "Pending"
    assert asked()
    assert not asked()
    assert [asked() for _ in range(10)].count(True) == 1


@pytest.mark.parametrize("page", ["findings", "adopt"])
def test_a_page_about_a_bridge_lets_a_person_choose_a_collector(bridge: Bridge, page: str) -> None:
    visitor = member_at(app, bridge.fleet.member.organization_id)
    pages = f"/organizations/{bridge.fleet.member.organization_id}/fleets/{bridge.fleet.id}/collectors"
    path = f"{pages}/{bridge.fleet.instances()[0]['id']}/{page}"
    asked = visitor.get(path)

    assert asked.status_code == 200
    chosen = f"{path}?collector=shop%2Fgateway"
    assert f'<a href="{chosen}">shop/gateway</a>' in asked.text
    assert "%2Fedge" in asked.text
    assert "shop/none" not in visitor.get(f"{path}?collector=shop%2Fnone").text
    if page == "adopt":
        shown = visitor.get(chosen).text
        assert "<code>OTLPHTTP_HEADERS_X_TEAM</code>" in shown
        assert f'<a href="{path}">Another collector</a>' in shown


def test_a_bridge_is_offered_nothing_because_it_deletes_what_an_offer_leaves_out(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    managed = Bridge(fleet, wire.AgentToServer.FromString(_RECORDED.read_bytes()))
    managed.message.capabilities |= wire.AgentCapabilities_AcceptsRemoteConfig
    managed.message.capabilities |= wire.AgentCapabilities_ReportsRemoteConfig
    managed.message.remote_config_status.status = wire.RemoteConfigStatuses_UNSET
    answers = [managed.sends()]
    for _ in range(3):
        managed.message.ClearField("agent_description")
        managed.message.ClearField("effective_config")
        now.moves(seconds=30)
        answers.append(managed.sends())

    assert fleet.state() == "pending_pickup"
    assert "move it to an observed fleet" in str(fleet.instances()[0]["state_message"])
    fleet.assign(None)
    answers.append(managed.sends())
    assert not any(answer.HasField("remote_config") for answer in answers)
    assert (fleet.state(), fleet.instances()[0]["state_message"]) == ("unhealthy", "Not healthy: ops/audit")


def test_a_configuration_is_offered_under_the_name_that_an_agent_gives_its_own(fleet: Fleet, now: Clock) -> None:
    """A standalone bridge has an agent for each workload, whose configuration it calls by a name of its own."""
    fleet.assign(1)
    agent = fleet.agent(host_name="gateway")
    message = agent.full()
    del message.effective_config.config_map.config_map[""]
    message.effective_config.config_map.config_map["collector"].body = b"receivers: {nop: }"
    offered = [agent.send(message).remote_config]
    now.moves(seconds=30)
    fleet.assign(2)
    offered.append(agent.send(agent.message()).remote_config)

    assert [list(offer.config.config_map) for offer in offered] == [["collector"], ["collector"]]

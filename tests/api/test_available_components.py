"""Components that the program of an agent which is not ours can run: asked for once, stored once, used in findings."""

from typing import Any

from fleets.api.reported_findings import of_build
from headgate.fleets import keys
from headgate.instances.reported import components
from headgate.opamp import scan
from headgate.storage import items
from headgate.storage.table import fleets as table
from headgate_engine.validation.findings import ListedFinding
from headgate_opamp import anyvalue_pb2
from headgate_opamp import opamp_pb2 as wire
from tests.api.test_observed_fleets import EXTENSION, observed, without_group
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now", "observed"]

LISTING = EXTENSION | wire.AgentCapabilities_ReportsAvailableComponents
_TEXT = b"""\
receivers: {nop: }
exporters: {nop: , own: }
service: {pipelines: {logs: {receivers: [nop], exporters: [nop, own]}}}
"""


class _Listing(Agent):
    """Sends the hash of its components at the start, and the list where it is asked, as opamp-go does."""

    def full(self) -> wire.AgentToServer:
        message = super().full()
        message.effective_config.config_map.config_map[""].body = _TEXT
        message.available_components.hash = b"own hash"
        return message

    def lists(self, **types: str) -> wire.ServerToAgent:
        message = self.message()
        message.available_components.hash = b"own hash"
        for section, named in types.items():
            details = message.available_components.components[section].sub_component_map
            for type_ in named.split():
                details[type_].metadata.append(anyvalue_pb2.KeyValue(key="code.namespace"))
        return self.send(message)


def _listing(observed: Fleet, **fields: Any) -> _Listing:
    return _Listing(without_group(observed).post, capabilities=LISTING, **fields)


def _asked(answer: wire.ServerToAgent) -> bool:
    return bool(answer.flags & wire.ServerToAgentFlags_ReportAvailableComponents)


def _stored(fleet: Fleet) -> dict[str, object]:
    item = table.get(keys.components(fleet.id))
    return dict(items.mapping(item, "lists")) if item else {}


def test_an_agent_is_asked_for_its_components_once_and_a_list_is_stored_once(observed: Fleet, now: Clock) -> None:
    first, second = _listing(observed), _listing(observed, host_name="edge-2")
    assert [_asked(agent.start()) for agent in (first, second)] == [True, True]
    assert not _asked(first.heartbeat())
    for agent in (first, second):
        assert not _asked(agent.lists(receivers="nop otlp", exporters="nop"))
    now.moves(hours=2)
    assert not _asked(first.start())

    names = ["exporter/nop", "receiver/nop", "receiver/otlp"]
    assert list(_stored(observed)) == [components.hash_of(names)]
    (row, other) = observed.member.http.get(f"{API}/fleets/{observed.id}/inventory").json()["items"]
    assert row["available"] == other["available"] == components.hash_of(names)
    csv = observed.member.http.get(f"{API}/fleets/{observed.id}/inventory.csv").text
    assert csv.count(components.hash_of(names)) == 2
    having = f"{API}/fleets/{observed.id}/instances?component=receiver/otlp"
    assert len(observed.member.http.get(having).json()["items"]) == 2

    # Another build under the same hash of its own.
    first.lists(receivers="nop", exporters="nop own")
    assert len(_stored(observed)) == 2
    assert len(observed.member.http.get(having).json()["items"]) == 1


def test_an_agent_that_sends_no_list_is_asked_again_after_an_hour(observed: Fleet, now: Clock) -> None:
    agent = _listing(observed)
    agent.start()
    now.moves(minutes=30)
    assert not _asked(agent.start())
    now.moves(minutes=31)
    assert _asked(agent.start())
    agent.capabilities = EXTENSION
    now.moves(hours=2)
    assert not _asked(agent.start())


def test_findings_are_about_the_program_of_the_host() -> None:
    unknown = [
        ListedFinding("error", "collector", "unknown_component", "unknown type", "mend it", f"exporters::{name}")
        for name in ("own/a", "lost")
    ]
    text = "receivers: {nop: , otlp/a: }\nexporters: {own/a: , lost: }\n"

    listed = list(of_build(unknown, text, frozenset({"receiver/nop", "exporter/own"})))

    assert [(each.severity, each.code, each.component_path) for each in listed] == [
        ("warning", "component_not_checked", "exporters::own/a"),
        ("error", "unknown_component", "exporters::lost"),
        ("error", "component_not_in_build", "receivers::otlp/a"),
    ]
    assert listed[2].message == "The program of the host has no receiver otlp"


def test_a_hostile_list_of_components_is_passed_over(observed: Fleet) -> None:
    agent = _listing(observed)
    agent.start()
    many = " ".join(f"t{n}" for n in range(scan.MOST_OF_COMPONENTS))
    answer = agent.lists(receivers=many)
    assert answer.instance_uid == agent.uid
    agent.lists(receivers="no=type -x", toppings="otlp")
    assert _stored(observed) == {}
    (row,) = observed.member.http.get(f"{API}/fleets/{observed.id}/inventory").json()["items"]
    assert row["available"] is None

"""`headgate demo`: what its simulated hosts send, and that `--remove` takes away only what a demo made."""

import json
from pathlib import Path
from typing import Any

import pytest

from headgate_cli.demo import hosts
from headgate_cli.demo.agent import Agent
from headgate_cli.demo.content import FLEET, HOSTS, LABEL, MARK
from headgate_cli.demo.remove import uid_of_id
from headgate_cli.errors import Failed
from headgate_opamp import opamp_pb2 as wire
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

FLEET_ID = "flt_0123456789abcdefghjkmnpq0r"
CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
REAL = {"id": "ins_0123456789abcdefghjkmnpq0r", "labels": {}, "state": "applied"}


class Organization:
    """A server with a fleet that is called as a demo's, its collectors, and configurations."""

    def __init__(self, instances: list[dict[str, Any]], configurations: list[dict[str, Any]]) -> None:
        self.instances = instances
        self.configurations = configurations
        self.fleets = [{"id": FLEET_ID, "label": FLEET}]
        self.groups: list[dict[str, Any]] = []

    def __call__(self, asked: str) -> Answer:
        method, _, path = asked.partition(" ")
        path = path.partition("?")[0].removeprefix("/api/v1/public")
        if method != "GET":
            return (200, {}, {"id": "x"}) if method == "POST" else (204, {}, None)
        lists: dict[str, list[dict[str, Any]]] = {
            "/fleets": self.fleets,
            f"/fleets/{FLEET_ID}/instances": self.instances,
            f"/fleets/{FLEET_ID}/deployments": self.groups,
            "/configurations": self.configurations,
        }
        return 200, {}, {"items": lists[path], "next_cursor": None}


def changes(server: Server) -> list[str]:
    """What was asked for that changes something."""
    return [asked.replace("/api/v1/public", "") for asked, _, _ in server.requests if not asked.startswith("GET ")]


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def test_a_fleet_with_a_collector_that_no_demo_made_stays(run: Run, server: Server) -> None:
    server.answering = Organization([REAL], [])

    code, _, err = run("demo --remove")

    assert (code, changes(server)) == (1, [])
    assert "has 1 collector that no demo made, so it stays" in err


def test_a_fleet_with_a_group_that_no_demo_made_stays(run: Run, server: Server) -> None:
    organization = Organization([], [])
    organization.groups = [{"id": f"dep_{n}", "name": name} for n, name in enumerate(("Default", "payments", "batch"))]
    server.answering = organization

    code, _, err = run("demo --remove")

    assert (code, changes(server)) == (1, [])
    assert "groups that no demo made, so it stays" in err
    assert "payments" in err


def test_a_configuration_that_somebody_made_their_own_stays(run: Run, server: Server) -> None:
    organization = Organization(
        [],
        [
            {"id": f"{CONFIGURATION[:-1]}{n}", "name": name, "description": described, "published_version": published}
            for n, (name, described, published) in enumerate(
                [
                    ("demo: shop logs", MARK, 2),
                    ("demo: host metrics", MARK, None),
                    ("demo: trace gateway", "ours now", 1),
                    ("our shop logs", MARK, 1),
                ]
            )
        ],
    )
    organization.fleets = []
    server.answering = organization

    code, out, _ = run("demo --remove")

    assert code == 0
    assert changes(server) == [
        f"POST /configurations/{CONFIGURATION[:-1]}0/archive",
        f"DELETE /configurations/{CONFIGURATION[:-1]}1",
    ]
    assert "what was published is never deleted" in out


def test_where_no_demo_was_nothing_is_taken_away(run: Run, server: Server) -> None:
    organization = Organization([], [])
    organization.fleets = []
    server.answering = organization

    code, out, _ = run("demo --remove")

    assert (code, out.strip(), changes(server)) == (0, "There is nothing of a demo", [])


def test_detaching_what_is_removed_is_a_mistake_in_usage(run: Run) -> None:
    code, _, err = run("demo --remove --detach")

    assert (code, "exclude each other" in err) == (2, True)


def test_an_instance_is_known_by_the_bytes_of_its_id() -> None:
    assert uid_of_id("ins_7zzzzzzzzzzzzzzzzzzzzzzzzz") == b"\xff" * 16
    assert uid_of_id("ins_00000000000000000000000001") == b"\x00" * 15 + b"\x01"


def test_every_full_message_of_a_simulated_host_has_its_labels() -> None:
    """The service forgets the labels of a host whose full message has none."""
    sent: list[wire.AgentToServer] = []

    def post(message: bytes) -> bytes:
        sent.append(wire.AgentToServer.FromString(message))
        asks_again = wire.ServerToAgentFlags_ReportFullState if len(sent) == 1 else 0
        return wire.ServerToAgent(flags=asks_again).SerializeToString()

    Agent(post, HOSTS[0], bytes(16), "0.139.0").start()

    assert [one.HasField("agent_description") for one in sent] == [True, True]
    assert [json.loads(one.custom_message.data)["labels"] for one in sent] == [dict([LABEL])] * 2


def test_the_id_of_a_fleet_names_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.demo").write_text("mine")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "state" / "headgate").mkdir(parents=True)

    with pytest.raises(Failed, match="as a fleet's id: is it a Headgate server"):
        hosts.end("../../mine")
    assert (tmp_path / "mine.demo").read_text() == "mine"

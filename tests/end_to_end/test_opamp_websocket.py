"""An agent that is connected to the local service by WebSocket is asked to report when a person changed something."""

from pathlib import Path

import pytest
from websockets.sync.client import ClientConnection, connect

from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import version
from tests.support.opamp_agent import Agent
from tests.support.service import running_service

pytestmark = pytest.mark.end_to_end


def _answer(connection: ClientConnection) -> bytes:
    frame = connection.recv(timeout=120)
    assert isinstance(frame, bytes)
    return frame[1:]


def test_an_assignment_reaches_a_connected_agent_without_waiting_for_its_next_message(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="600") as service:
        http = service.client()
        fleet = http.post("/fleets", json={"label": "Edge", "type": "server-supervisor", "expires_in": "1y"}).json()
        (group,) = http.get(f"/fleets/{fleet['id']}/deployments").json()["items"]
        install = http.post(f"/fleets/{fleet['id']}/install", json={"platform": "docker"}).json()
        configuration = http.post("/configurations", json={"name": "Edge", "yaml": version(1)}).json()
        http.post(f"/configurations/{configuration['id']}/versions/1/publish").raise_for_status()
        address = service.base_url.replace("http", "ws", 1) + "/v1/opamp"
        headers = {"Authorization": f"Bearer {install['connection']['token']}"}
        with connect(address, additional_headers=headers) as connection:

            def post(message: bytes) -> bytes:
                connection.send(b"\0" + message)
                return _answer(connection)

            agent = Agent(post)
            agent.start()
            assert not agent.config
            body = {"configuration_id": configuration["id"], "version_number": 1}
            http.patch(f"/fleets/{fleet['id']}/deployments/{group['id']}", json=body).raise_for_status()
            asked = wire.ServerToAgent.FromString(_answer(connection))
            assert asked.flags & wire.ServerToAgentFlags_ReportFullState
            assert agent.send(agent.full()).HasField("remote_config")
        assert agent.config == version(1).encode()

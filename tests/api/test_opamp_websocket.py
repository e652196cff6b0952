"""OpAMP over WebSocket, on the server of the local service: the fleet service's own answers, and limits of its own."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from functools import partial

import pytest
import uvicorn
from starlette.types import ASGIApp, Message
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from headgate.fleets import service as fleets
from headgate.instances import service as instances
from headgate.instances.counting import admission
from headgate.opamp import pace
from headgate.opamp.messages import MAX_MESSAGE_BYTES
from headgate_local import service, streams
from headgate_local.limits import Limited, RequestTurns
from headgate_local.opamp_websocket import WithWebSocket
from headgate_opamp import opamp_pb2 as wire
from opamp.app import app
from tests.support.fleet_of_agents import Fleet, admin_of, ann, fleet, now
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]

Connect = Callable[[], AbstractContextManager[ClientConnection]]


@contextmanager
def _address(application: ASGIApp = app, **limits: float) -> Iterator[str]:
    """Where the fleet service takes connections; `ping` seconds pass before an agent that is silent is gone."""
    ping = limits.pop("ping", 20.0)
    connected = WithWebSocket(application, most=int(limits.pop("most", 10)), **limits)
    config = service.server_config(connected)
    config.ws_ping_interval = config.ws_ping_timeout = ping
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            streams.followers.pop()


def _connect(address: str, token: str, group: str = "", path: str = "/v1/opamp") -> ClientConnection:
    headers = {"Authorization": f"Bearer {token}"} | ({"X-Deployment-Id": group} if group else {})
    return connect(address + path, additional_headers=headers, compression=None)


def _send(connection: ClientConnection, frame: str | bytes) -> bytes:
    connection.send(frame)
    return _received(connection)


def _post(connection: ClientConnection, message: bytes) -> bytes:
    return _send(connection, b"\0" + message)


def _received(connection: ClientConnection) -> bytes:
    frame = connection.recv(timeout=60)
    assert isinstance(frame, bytes)
    assert frame[:1] == b"\0"
    return frame[1:]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with _address() as at:
        yield at


@pytest.fixture
def opened(address: str, fleet: Fleet) -> Connect:
    return partial(_connect, address, fleet.token)


def _refused(address: str, token: str, path: str = "/v1/opamp") -> InvalidStatus:
    with pytest.raises(InvalidStatus) as refused:
        _connect(address, token, path=path)
    return refused.value


def test_a_version_is_offered_and_applied_over_one_connection(opened: Connect, fleet: Fleet) -> None:
    fleet.assign(1)
    with opened() as connection:
        agent = Agent(partial(_post, connection))
        assert agent.start().HasField("remote_config")
        agent.applies()
        assert fleet.state() == "applied"
        assert fleet.running() == 1


def test_a_message_without_the_header_is_understood(opened: Connect, fleet: Fleet) -> None:
    with opened() as connection:
        connection.send(Agent(lambda body: body).full().SerializeToString())
        assert wire.ServerToAgent.FromString(_received(connection)).capabilities
    assert len(fleet.instances()) == 1


@pytest.mark.parametrize("token", ["", "ft_x", "ft_" + "x" * 43])
def test_a_connection_without_a_fleets_token_is_refused_with_401_and_the_reason(
    address: str, fleet: Fleet, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    response = _refused(address, token).response

    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert json.loads(response.body or b"")["code"] == "unauthenticated"
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_no_connection_is_opened_at_another_path(address: str, fleet: Fleet) -> None:
    assert _refused(address, fleet.token, "/api/v1/public/identity").response.status_code == 403


@pytest.mark.parametrize(
    ("frame", "codes"),
    # While a large frame is being sent, the end of the connection may arrive before its reason.
    [("text", {1003}), (b"\0" * (MAX_MESSAGE_BYTES + 2), {1009, None})],
    ids=["text", "too large"],
)
def test_a_frame_that_no_agent_sends_ends_the_connection(
    opened: Connect, frame: str | bytes, codes: set[int | None]
) -> None:
    with opened() as connection, pytest.raises(ConnectionClosed) as closed:
        _send(connection, frame)
    assert (closed.value.rcvd.code if closed.value.rcvd else None) in codes


def test_a_malformed_message_is_refused_in_words_and_the_connection_goes_on(opened: Connect) -> None:
    with opened() as connection:
        for bad in (b"", b"\1", b"\xff" * 100, wire.AgentToServer(instance_uid=b"x").SerializeToString()):
            error = wire.ServerToAgent.FromString(_post(connection, bad)).error_response
            assert error.type == wire.ServerErrorResponseType_BadRequest
            assert error.error_message
        assert Agent(partial(_post, connection)).start().capabilities


def test_a_token_that_is_renewed_ends_its_connections(opened: Connect, fleet: Fleet) -> None:
    with opened() as connection:
        agent = Agent(partial(_post, connection))
        agent.start()
        fleets.renew_token(admin_of(fleet), fleet.id, "none")
        assert agent.heartbeat().error_response.type == wire.ServerErrorResponseType_BadRequest
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=60)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


def test_a_message_over_the_share_waits_for_its_turn_and_is_answered(
    opened: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened() as connection:
        agent = Agent(partial(_post, connection))
        agent.start()
        asked = iter([pace.TooManyMessages("instance", -1.0)])

        def first_refused(*_: object) -> None:
            for refusal in asked:
                raise refusal

        monkeypatch.setattr(pace, "require_turn_of_instance", first_refused)
        assert not agent.heartbeat().HasField("error_response")


def test_under_overload_a_heartbeat_is_refused_with_a_time_and_what_says_more_waits_and_the_connection_stays(
    fleet: Fleet,
) -> None:
    overloaded = threading.Event()

    class Overloaded(RequestTurns):
        def wait(self) -> float:
            return 60.0 if overloaded.is_set() else 0.0

    limited = Limited(app, environments=2, patience=5.0, refused=pace.refused_before)
    limited._turns = Overloaded(2, time.monotonic)
    with _address(limited) as address, _connect(address, fleet.token, fleet.deployment_id) as connection:
        agent = Agent(partial(_post, connection))
        agent.start()
        overloaded.set()
        error = agent.heartbeat().error_response
        assert error.type == wire.ServerErrorResponseType_Unavailable
        assert error.retry_info.retry_after_nanoseconds >= 60 * 10**9
        assert not agent.says_health(False, "disk full").HasField("error_response")
        with pytest.raises(InvalidStatus) as refused:
            _connect(address, fleet.token, fleet.deployment_id)
        assert refused.value.response.status_code == 429
        assert int(refused.value.response.headers["retry-after"]) >= 60
        overloaded.clear()
        assert not agent.heartbeat().HasField("error_response")
    noted = instances.refusals(fleet.id)
    assert noted.until - noted.since >= timedelta(seconds=60)


def test_a_passing_fault_is_said_with_a_time_and_the_agent_comes_back(
    opened: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened() as connection:
        agent = Agent(partial(_post, connection))
        agent.start()
        monkeypatch.setattr(pace, "require_turn_of_instance", _too_many)
        error = agent.heartbeat().error_response
        assert error.type == wire.ServerErrorResponseType_Unavailable
        assert error.retry_info.retry_after_nanoseconds >= 200 * 10**9
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=60)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013


def _too_many(*_: object) -> None:
    raise pace.TooManyMessages("instance", 200.0)


def test_connections_are_bounded_in_all_and_by_token(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    with _address(most=2) as address, _connect(address, fleet.token):
        with _connect(address, fleet.token):
            response = _refused(address, fleet.token).response
            assert (response.status_code, response.headers["retry-after"]) == (503, "30")
        monkeypatch.setattr(admission, "most_instances", lambda: 1)
        assert _refused(address, fleet.token).response.status_code == 503


def test_a_silent_agent_is_asked_to_report_and_its_connection_ends_if_it_does_not(fleet: Fleet) -> None:
    with _address(idle_seconds=0.2) as address, _connect(address, fleet.token) as connection:
        agent = Agent(partial(_post, connection))
        agent.start()
        asked = wire.ServerToAgent.FromString(_received(connection))
        assert asked.flags & wire.ServerToAgentFlags_ReportFullState
        assert asked.instance_uid == agent.uid
        with pytest.raises(ConnectionClosed):
            connection.recv(timeout=60)


@contextmanager
def _silent(address: str, token: str) -> Iterator[socket.socket]:
    """A connection that answers no pings."""
    request = (
        "GET /v1/opamp HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as silent:
        silent.sendall(request.encode())
        yield silent


def _until_the_end(silent: socket.socket, received: bytes = b"") -> bytes:
    while not received.endswith(b"keepalive ping timeout") and (part := silent.recv(4096)):
        received += part
    return received


def test_a_half_open_connection_is_noticed_by_its_missing_pongs(fleet: Fleet) -> None:
    with _address(ping=0.1, most=1) as address:
        with _silent(address, fleet.token) as silent:
            received = _until_the_end(silent)
            assert silent.recv(4096) == b""
        assert b" 101 " in received.splitlines()[0]
        assert received.endswith(b"keepalive ping timeout")
        with _connect(address, fleet.token) as after:
            assert Agent(partial(_post, after)).start().capabilities


def test_a_message_that_took_too_long_is_said_with_a_time_to_come_back(fleet: Fleet) -> None:
    with _address(Limited(app, seconds=0)) as address:
        response = _refused(address, fleet.token).response

    # Not as API Gateway says it, 500 without a time: an agent would forget the message and not come back with it.
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0


def test_an_answer_to_a_connection_that_was_ended_meanwhile_is_no_fault_of_the_service(fleet: Fleet) -> None:
    events = [{"type": "websocket.connect"}, {"type": "websocket.receive", "bytes": b"\0"}]
    sent: list[str] = []

    async def receive() -> Message:
        return events.pop(0)

    async def send(message: Message) -> None:
        sent.append(message["type"])
        if message["type"] == "websocket.send":
            # uvicorn's words after pings that were not answered.
            raise RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close'.")

    headers = [(b"authorization", f"Bearer {fleet.token}".encode())]
    scope = {"type": "websocket", "scheme": "ws", "path": "/v1/opamp", "query_string": b"", "headers": headers}
    asyncio.run(WithWebSocket(app)(scope, receive, send))
    streams.followers.pop()

    assert sent == ["websocket.accept", "websocket.send"]

"""Connections to the local service, which collectors keep open between their heartbeats."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from fastapi import FastAPI

from headgate.foundation.settings import settings
from headgate_local import service
from headgate_local.options import HOST, listen

_HEARTBEAT_SECONDS = 5


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A server as the local service has it, of nothing."""
    monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", str(_HEARTBEAT_SECONDS))
    settings.cache_clear()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with listen(HOST, port) as listener:
        server = uvicorn.Server(service.server_config(FastAPI()))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield "127.0.0.1", port
        server.should_exit = True
        thread.join()


def test_a_connection_takes_another_request_after_a_heartbeats_interval(address: tuple[str, int]) -> None:
    connection = http.client.HTTPConnection(*address)
    connection.request("GET", "/")
    connection.getresponse().read()
    first = connection.sock
    time.sleep(_HEARTBEAT_SECONDS + 1)

    connection.request("GET", "/")

    assert connection.getresponse().status == 404
    assert connection.sock is first
    connection.close()


@pytest.mark.parametrize(("heartbeat", "idle"), [("1", 75), ("30", 90), ("600", 1800)])
def test_connections_outlive_heartbeats_of_any_interval(
    heartbeat: str, idle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", heartbeat)
    settings.cache_clear()

    assert service.server_config(FastAPI()).timeout_keep_alive == idle

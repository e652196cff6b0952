"""A body over the limit is refused when that is known, not when the body has arrived."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end

MEGABYTE = 1_048_576


def connected(service: LocalService) -> socket.socket:
    address = urlsplit(service.base_url)
    return socket.create_connection((str(address.hostname), int(address.port or 80)), timeout=120)


def head(service: LocalService, *headers: str) -> bytes:
    lines = ["POST /api/v1/public/configurations HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += [f"Authorization: Bearer {service.read_write_token}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def status_of(connection: socket.socket) -> int:
    return int(connection.recv(4096).split()[1])


def test_an_announced_length_is_enough(service: LocalService) -> None:
    with connected(service) as connection:
        connection.sendall(head(service, f"Content-Length: {MEGABYTE + 1}"))

        assert status_of(connection) == 413


def test_without_an_announced_length_it_is_refused_in_the_middle(service: LocalService) -> None:
    with connected(service) as connection:
        connection.sendall(head(service, "Transfer-Encoding: chunked"))
        for _ in range(17):
            connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")

        assert status_of(connection) == 413


def test_a_body_of_exactly_the_limit_is_taken(service: LocalService) -> None:
    empty = json.dumps({"name": "large", "yaml": ""})
    body = json.dumps({"name": "large", "yaml": "x" * (MEGABYTE - len(empty))})
    with service.client() as client:
        response = client.post("/configurations", content=body, headers={"Content-Type": "application/json"})

    assert (len(body), response.status_code) == (MEGABYTE, 201)


def test_one_client_that_sends_slowly_holds_up_nobody(service: LocalService) -> None:
    slow = [connected(service) for _ in range(60)]
    for connection in slow:
        connection.sendall(head(service, "Content-Length: 1000") + b'{"name": ')
    with service.client() as client:
        assert client.get("/identity").status_code == 200
    for connection in slow:
        connection.close()

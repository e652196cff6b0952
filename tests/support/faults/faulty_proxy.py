"""A TCP proxy before an HTTP server, which breaks a connection as networks do, at the request that asks for it.

A request asks by the header `X-Fault`, which names the way; without it, it is handed on and answered. A second address
refuses connections. Nothing here waits for a time: what is to be too late is held until whoever asked has hung up.
"""

import http.client
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from typing import Final, Literal, get_args
from urllib.parse import urlsplit

HEADER: Final = "X-Fault"
GARBAGE: Final = b"\x16\x03\x01 \xff\xfe<planted-garbage-of-something-in-between>\r\n\r\n"

Break = Literal[
    "hang up", "reset", "silent", "unheard", "late", "half a head", "half a body", "stalled", "short", "garbage"
]
BREAKS: Final[tuple[Break, ...]] = get_args(Break)
# What is not handed on: the server never sees it.
NOT_HANDED_ON: Final[tuple[Break, ...]] = ("hang up", "reset", "silent")
# What ends only when the client's time-out does.
UNTIL_TIME_OUT: Final[tuple[Break, ...]] = ("silent", "late", "stalled")

_HOST: Final = "127.0.0.1"
_OF_THE_CONNECTION: Final = ("connection", "content-length", "transfer-encoding")
_RESET: Final = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class _Request:
    head: bytes
    body: bytes
    fault: str


@dataclass(frozen=True)
class _Answer:
    head: bytes
    body: bytes

    def with_length(self, length: int) -> bytes:
        return self.head + f"Content-Length: {length}\r\n\r\n".encode()


class FaultyProxy:
    """Listens on a port of its own from its making on; a connection has a thread, and stays open between requests."""

    def __init__(self, upstream: str) -> None:
        split = urlsplit(upstream)
        self._upstream = (str(split.hostname), split.port or 80)
        self._listener = socket.create_server((_HOST, 0), backlog=64)
        # Bound and never listened on: nobody else gets the port, and whoever connects to it is refused.
        self._deaf = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._deaf.bind((_HOST, 0))
        self._handed_on = 0
        self._change = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self._listener.getsockname()[1]}"

    @property
    def refusing_url(self) -> str:
        """Where connections are refused."""
        return f"http://{_HOST}:{self._deaf.getsockname()[1]}"

    def settle(self) -> None:
        """Return once the server has answered all that was handed on to it, whoever still waits for that."""
        with self._change:
            self._change.wait_for(lambda: self._handed_on == 0)

    def close(self) -> None:
        # Unlike close, this ends an accept that waits.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._deaf.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with client, client.makefile("rb") as reader:
                while (request := _read_request(client, reader)) is not None:
                    if not self._answered(client, request):
                        break
        except OSError:
            pass  # Whoever asked is gone.

    def _answered(self, client: socket.socket, request: _Request) -> bool:
        """Whether the connection stays open."""
        if request.fault in ("hang up", "reset"):
            _reset(client)
            return False
        if request.fault == "silent":
            _wait_until_gone(client)
            return False
        answer = self._hand_on(request)
        half = len(answer.body) // 2
        match request.fault:
            case "unheard":
                _reset(client)
            case "late":
                _wait_until_gone(client)
                with suppress(OSError):
                    client.sendall(answer.with_length(len(answer.body)) + answer.body)
            case "half a head":
                client.sendall(answer.head[: len(answer.head) // 2])
            case "half a body":
                client.sendall(answer.with_length(len(answer.body)) + answer.body[:half])
            case "stalled":
                client.sendall(answer.with_length(len(answer.body) + 1) + answer.body[:half])
                _wait_until_gone(client)
            case "short":
                client.sendall(answer.with_length(half) + answer.body[:half])
            case "garbage":
                client.sendall(GARBAGE)
            case _:
                client.sendall(answer.with_length(len(answer.body)) + answer.body)
                return True
        return False

    def _hand_on(self, request: _Request) -> _Answer:
        with self._change:
            self._handed_on += 1
        try:
            with socket.create_connection(self._upstream) as server:
                server.sendall(request.head + request.body)
                method = request.head.partition(b" ")[0].decode()
                with http.client.HTTPResponse(server, method=method) as response:
                    response.begin()
                    body = response.read()
                    lines = [f"HTTP/1.1 {response.status} {response.reason}"]
                    found = [one for one in response.getheaders() if one[0].lower() not in _OF_THE_CONNECTION]
                    lines += [f"{name}: {value}" for name, value in found]
                    return _Answer("".join(f"{line}\r\n" for line in lines).encode("latin-1"), body)
        finally:
            with self._change:
                self._handed_on -= 1
                self._change.notify_all()


@contextmanager
def running(upstream: str) -> Iterator[FaultyProxy]:
    proxy = FaultyProxy(upstream)
    try:
        yield proxy
    finally:
        proxy.close()


def _read_request(client: socket.socket, reader: BufferedReader) -> _Request | None:
    """None when the client has ended the connection. The body of a request to hang up on is left unread."""
    line = reader.readline()
    if not line:
        return None
    headers = http.client.parse_headers(reader)
    fault = headers.get(HEADER, "")
    if fault == "hang up":
        return _Request(b"", b"", fault)
    if headers.get("Expect", "").lower() == "100-continue":
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert "Transfer-Encoding" not in headers, "a body in chunks is not handed on here"
    length = int(headers.get("Content-Length", "0"))
    kept = [f"{name}: {value}\r\n" for name, value in headers.items() if name.lower() not in ("expect", "connection")]
    head = line + "".join(kept).encode("latin-1") + b"Connection: close\r\n\r\n"
    body = reader.read(length)
    return _Request(head, body, fault) if len(body) == length else None


def _reset(client: socket.socket) -> None:
    """The next close of it sends a reset, and throws away what was not sent or read."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


def _wait_until_gone(client: socket.socket) -> None:
    with suppress(OSError):
        while client.recv(4096):
            pass

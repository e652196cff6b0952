"""A server that answers what a test wants, and remembers what it was asked."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from headgate_cli.api import Api, HttpApi
from headgate_cli.login.credentials import Credential
from tests.support.listening import listening

# Status (0: hang up), headers, and the body: bytes, or what is written as JSON.
Answer = tuple[int, dict[str, str], object]


@dataclass
class Server:
    """A server: `answers` in order, the last one again and again, or what `answering` says; and what was asked."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    answering: Callable[[str], Answer] | None = None
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def api(self, value: str = "sv_x", organization_id: str = "") -> Api:
        return HttpApi(Credential(self.url, value, organization_id))


@contextmanager
def serving() -> Iterator[Server]:
    described = Server()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            asked = f"{self.command} {self.path}"
            described.requests.append((asked, dict(self.headers), body))
            if described.answering is not None:
                status, headers, answer = described.answering(asked)
            else:
                status, headers, answer = described.answers[min(len(described.requests), len(described.answers)) - 1]
            if not status:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            try:
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):
                # Whoever asked has enough.
                self.close_connection = True

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    described.url = f"http://127.0.0.1:{server.server_port}"
    with listening(server):
        yield described

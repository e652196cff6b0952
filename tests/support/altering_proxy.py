"""A server before a server, which changes what one or the other says: a deployment that is broken as a test wants."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from tests.support.listening import listening


@dataclass
class Answered:
    """An answer on its way back, to be changed."""

    status: int
    headers: httpx.Headers
    content: bytes


@dataclass(frozen=True)
class Fault:
    """`name` says what is broken, `fails` which checks find it; `only` are the sections or checks that are run.

    `alter` changes the answers to requests, `METHOD /path`, that begin with `asked`. `loses` are headers of requests
    that do not arrive.
    """

    name: str
    only: str
    fails: str
    asked: str = ""
    alter: Callable[[Answered], None] = lambda _: None
    loses: tuple[str, ...] = ()


@contextmanager
def altering(url: str, fault: Fault) -> Iterator[str]:
    """The address of a proxy of `url`, until the block ends."""
    # What belongs to a connection, and what is counted anew.
    own = ("connection", "host", "transfer-encoding", "content-length", "date", "server")
    http = httpx.Client(base_url=url, timeout=120)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            headers = {name: one for name, one in self.headers.items() if name.lower() not in (*own, *fault.loses)}
            response = http.request(self.command, self.path, content=body, headers=headers)
            answered = Answered(response.status_code, response.headers, response.content)
            if f"{self.command} {self.path}".startswith(fault.asked):
                fault.alter(answered)
            self.send_response(answered.status)
            for name, value in answered.headers.multi_items():
                if name.lower() not in own:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answered.content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answered.content)

        do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = _answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with http, listening(server):
        yield f"http://127.0.0.1:{server.server_port}"


def says(found: str, instead: str) -> Callable[[Answered], None]:
    """Replaces a text in the answer."""

    def alter(answered: Answered) -> None:
        answered.content = answered.content.replace(found.encode(), instead.encode())

    return alter


def answers(found: int, instead: int) -> Callable[[Answered], None]:
    """Replaces a status."""

    def alter(answered: Answered) -> None:
        if answered.status == found:
            answered.status = instead

    return alter


def drops(header: str) -> Callable[[Answered], None]:
    """Removes a header of the answer."""

    def alter(answered: Answered) -> None:
        answered.headers.pop(header, None)

    return alter

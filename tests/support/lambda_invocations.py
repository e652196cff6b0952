"""Lambda's Invoke, over functions that really run: what `aws.functions()` asks when AWS_ENDPOINT_URL_LAMBDA says so.

https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html describes the API.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from tests.support.listening import listening

MAX_BYTES = 6_291_556


@dataclass(frozen=True)
class Answer:
    """What Invoke answers: a payload, the error of a function, or a status of Lambda itself with its code."""

    payload: bytes = b""
    function_error: str = ""
    status: int = 200
    code: str = ""
    declared_bytes: int | None = None


@dataclass
class Invocations:
    """A running stand-in. `invoked` are the functions' names, the tenants and the sizes of the payloads."""

    url: str
    answer: Callable[[str, bytes], Answer]
    invoked: list[tuple[str, str, int]] = field(default_factory=list)


def answering(handle: Callable[[dict[str, object]], object]) -> Callable[[str, bytes], Answer]:
    """Whatever the function `handle` returns, as Lambda's runtime would send it."""

    def answer(_: str, payload: bytes) -> Answer:
        returned = json.dumps(handle(json.loads(payload))).encode()
        if len(returned) > MAX_BYTES:
            return Answer(b'{"errorType": "Function.ResponseSizeTooLarge"}', function_error="Unhandled")
        return Answer(returned)

    return answer


@contextmanager
def running(answer: Callable[[str, bytes], Answer]) -> Iterator[Invocations]:
    """Serve until the block ends."""

    class Invoke(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            payload = self.rfile.read(int(self.headers["Content-Length"]))
            name = unquote(self.path.split("/")[3])
            served.invoked.append((name, self.headers["X-Amz-Tenant-Id"], len(payload)))
            if len(payload) > MAX_BYTES:
                found = Answer(status=413, code="RequestEntityTooLargeException")
            else:
                found = served.answer(name, payload)
            self.send_response(found.status)
            if found.function_error:
                self.send_header("X-Amz-Function-Error", found.function_error)
            if found.code:
                self.send_header("X-Amzn-ErrorType", found.code)
            body = found.payload or b"{}"
            self.send_header("Content-Length", str(found.declared_bytes or len(body)))
            self.end_headers()
            self.wfile.write(body)
            if found.declared_bytes:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Invoke)
    server.daemon_threads = True
    served = Invocations(f"http://127.0.0.1:{server.server_port}", answer)
    with listening(server):
        yield served

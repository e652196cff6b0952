"""A stand-in of the address where CloudFormation takes the answers of custom resources."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.listening import listening

Answers = list[dict[str, Any]]


@contextmanager
def taking_answers() -> Iterator[tuple[str, Answers]]:
    """Yield the address, and the answers that it got."""
    answers: Answers = []

    class Taking(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}/", answers

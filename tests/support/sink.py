"""A backend for OTLP/JSON that takes, hangs, answers late or is gone: what keeps a collector from stopping."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from tests.support.listening import listening

LATE_SECONDS: Final = 8
_BODY: Final = re.compile(rb'"stringValue":"([a-z0-9-]+ [0-9]+)"')


@dataclass
class Sink:
    """`taken` are the bodies of log records that it answered for; `reached` counts requests, by the way they came.

    Addresses: `good` takes at once, `hangs` accepts and never answers, `late` answers after eight seconds.
    """

    address: str = ""
    taken: set[bytes] = field(default_factory=set)
    reached: dict[str, int] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def good(self) -> str:
        return f"{self.address}/good"

    @property
    def hangs(self) -> str:
        return f"{self.address}/hangs"

    @property
    def late(self) -> str:
        return f"{self.address}/late"


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A collector that is killed leaves its connections open."""


@contextmanager
def sink() -> Iterator[Sink]:
    one = Sink()

    class Taking(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            way = self.path.split("/")[1]
            one.reached[way] = one.reached.get(way, 0) + 1
            if way == "hangs":
                one.ended.wait()
                return
            if way == "late":
                one.ended.wait(LATE_SECONDS)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b"{}")
            one.taken.update(_BODY.findall(content))

        def log_message(self, *_: object) -> None:
            pass

    server = _Quiet(("127.0.0.1", 0), Taking)
    one.address = f"http://127.0.0.1:{server.server_port}"
    with listening(server):
        try:
            yield one
        finally:
            one.ended.set()


@contextmanager
def slow_names(address: str, name: str) -> Iterator[None]:
    """A name server at that address which answers for the name, with this machine, after eight seconds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind((address, 53))
        listener.settimeout(0.2)
        ended = threading.Event()

        def answer(question: bytes, sender: tuple[str, int]) -> None:
            time.sleep(LATE_SECONDS)
            is_ipv4 = question[-4:-2] == b"\0\1"
            head = question[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_ipv4 else b"\0\0") + b"\0\0\0\0"
            record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" if is_ipv4 else b""
            if not ended.is_set():
                listener.sendto(head + question[12:] + record, sender)

        def serve() -> None:
            while not ended.is_set():
                try:
                    question, sender = listener.recvfrom(512)
                except TimeoutError:
                    continue
                threading.Thread(target=answer, args=(question, sender), daemon=True).start()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

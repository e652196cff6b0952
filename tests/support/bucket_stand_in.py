"""What stands in for S3 where a signed URL is followed: it can answer what S3 would not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.listening import listening

Reply = tuple[int, dict[str, str], bytes]


class Bucket:
    """`answers` by path, each a status, headers and a body; `asked` are the paths with their queries."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, Reply] = {}
        self.asked: list[str] = []
        self.while_asked: Callable[[], None] = lambda: None


@contextmanager
def running() -> Iterator[Bucket]:
    """Serve until the block ends."""

    class Get(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            bucket.asked.append(self.path)
            bucket.while_asked()
            status, headers, body = bucket.answers[self.path.partition("?")[0]]
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Get)
    bucket = Bucket(f"http://127.0.0.1:{server.server_port}")
    with listening(server):
        yield bucket

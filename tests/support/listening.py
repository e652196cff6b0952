"""A server of a test, answering in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer

# How long the end of a test waits for its server. The standard library's half second adds up over hundreds of tests.
_POLL_SECONDS = 0.01


@contextmanager
def listening(server: ThreadingHTTPServer) -> Iterator[None]:
    """The server answers until the block ends, and is closed then.

    Each connection has a thread: one that a client leaves idle would keep a server without them from all others.
    """
    assert isinstance(server, ThreadingHTTPServer)
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

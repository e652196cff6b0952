"""A way to the service that loses answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_CHUNK = 1 << 16


@dataclass
class Way:
    """Connections from `port` to the service, which carry all requests, and no answer once it `swallows` them.

    With `last`, an answer with these bytes is the last one to arrive.
    """

    port: int
    swallows: bool = False
    last: bytes = b""


@contextmanager
def way_to(port: int) -> Iterator[Way]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        way = Way(int(listener.getsockname()[1]))
        accepting = threading.Thread(target=_accept, args=(listener, port, way))
        accepting.start()
        try:
            yield way
        finally:
            # Only this wakes a thread that waits for a connection.
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()


def _accept(listener: socket.socket, port: int, way: Way) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            service = socket.create_connection(("127.0.0.1", port))
            for source, target, answers in ((client, service, False), (service, client, True)):
                threading.Thread(target=_carry, args=(source, target, way, answers), daemon=True).start()


def _carry(source: socket.socket, target: socket.socket, way: Way, answers: bool) -> None:
    with suppress(OSError):
        while content := source.recv(_CHUNK):
            if not (answers and way.swallows):
                target.sendall(content)
            if answers and way.last and way.last in content:
                way.swallows = True
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)

"""Ports for servers of tests that run beside each other."""

import fcntl
import itertools
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Below the range from which Linux takes ports for outgoing connections, so that none of those takes one meanwhile.
_FIRST, _LAST = 20_000, 32_000
_next = itertools.count(os.getpid() * 97)


def free_port() -> int:
    """A port that nothing listens on just now. This process gives it out once."""
    for number in _next:
        port = _FIRST + number % (_LAST - _FIRST)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise AssertionError("unreachable: the count has no end")


@contextmanager
def alone_with(port: int) -> Iterator[None]:
    """Wait until no other test of this machine uses the port, which a program takes unless it is told another."""
    with Path(f"/tmp/headgate-tests-port-{port}").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

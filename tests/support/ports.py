"""Ports for servers of tests that run beside each other."""

import fcntl
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

# Below the range from which Linux takes ports for outgoing connections, so that none of those takes one meanwhile.
_FIRST: Final = 20_000
_BLOCKS: Final = 240
_PORTS_OF_BLOCK: Final = 50
_asking: Final = threading.Lock()


def free_port() -> int:
    """A port that nothing listens on just now. Only this process gives it out, and once."""
    with _asking:
        for port in _ports(os.getpid()):
            try:
                with socket.create_server(("127.0.0.1", port)):
                    return port
            except OSError:
                continue
    raise AssertionError(f"the tests of this machine have all ports from {_FIRST} on")


@cache
def _ports(pid: int) -> Iterator[int]:
    """The ports of the blocks that the process of this id reserves, one after the other, until it ends."""
    return (port for block in _reserved_blocks(pid) for port in block)


def _reserved_blocks(pid: int) -> Iterator[range]:
    for place in range(_BLOCKS):
        number = (pid + place) % _BLOCKS
        try:
            lock = _opened_lock(f"ports-{number}")
        except PermissionError:
            continue  # another user's
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        # The lock stays open until this process ends.
        first = _FIRST + number * _PORTS_OF_BLOCK
        yield range(first, first + _PORTS_OF_BLOCK)


@contextmanager
def alone_with(port: int) -> Iterator[None]:
    """Wait until no other test of this machine uses the port, which a program takes unless it is told another."""
    lock = _opened_lock(f"port-{port}")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _opened_lock(name: str) -> int:
    return os.open(f"/tmp/headgate-tests-{name}", os.O_RDWR | os.O_CREAT, 0o666)

"""Processes of this machine as tests look at them: one that ends meanwhile is gone, not an error."""

import time
from collections.abc import Callable
from contextlib import suppress

import psutil


def children(pid: int, word: str, *, recursive: bool = False) -> list[int]:
    """The processes that `pid` started whose command line has `word` as a part of one of its arguments."""
    with suppress(psutil.NoSuchProcess):
        started = psutil.Process(pid).children(recursive=recursive)
        return [child.pid for child in started if any(word in part for part in command_line(child.pid))]
    return []


def command_line(pid: int) -> list[str]:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return psutil.Process(pid).cmdline()
    return []


def resident_bytes(pid: int) -> int:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).memory_info().rss
    return 0


def has_ended(pid: int) -> bool:
    """Whether it runs no more; one that nobody has waited for has ended."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what comes in well under a second, and a minute at most: a test that waits on hides why it fails."""
    for _ in range(12_000):
        if holds():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come to that within a minute")


def wait_until_ended(pid: int) -> None:
    while not has_ended(pid):
        time.sleep(0.005)

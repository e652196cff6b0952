"""Facts of the whole local service for its parts (parts.py)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from headgate_local.handlers import Handler, imported
from headgate_local.template import Function, Template


@dataclass(frozen=True, slots=True)
class Local:
    """The running local service. AWS clients find moto by the environment. `handler` is how a function is called."""

    template: Template
    aws_url: str
    base_url: str
    data: Path
    collectors: Path
    handler: Callable[[Function], Handler] = imported


@contextmanager
def in_background(*tasks: tuple[str, Callable[[Event], None]]) -> Iterator[None]:
    """Run each task in a thread of that name until the end of the `with` block, at which their event is set."""
    ended = Event()
    threads = [Thread(target=task, args=(ended,), name=name) for name, task in tasks]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()

"""The local service calls functions at the rates of the template."""

import threading
from pathlib import Path
from typing import cast

from headgate_local import schedules
from headgate_local.running import Local
from headgate_local.template import Function, Node, Schedule, Template

CALLED = threading.Semaphore(0)
EVENTS: list[Node] = []


def handler(event: Node, _context: object) -> Node:
    EVENTS.append(event)
    CALLED.release()
    raise LookupError("an error of a function")


class Described:
    """A template with one schedule."""

    def schedules(self) -> list[Schedule]:
        return [Schedule(Function("Sweeper", f"{__name__}.handler"), 0, {"step": "sweep"})]


def test_a_function_is_called_again_after_an_error_until_the_service_ends(tmp_path: Path) -> None:
    local = Local(cast("Template", Described()), "", "", tmp_path, tmp_path)

    with schedules.part(local):
        assert [CALLED.acquire(timeout=60) for _ in range(3)] == [True] * 3
    called = len(EVENTS)

    assert [{"step": "sweep"}] * called == EVENTS
    assert not [thread for thread in threading.enumerate() if thread.name == "schedule of Sweeper"]

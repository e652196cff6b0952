"""Calls functions at the rates of the template, in the place of EventBridge."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from headgate_local.handlers import FunctionError, Handler, invoke
from headgate_local.running import Local
from headgate_local.template import Schedule

logger: Final = logging.getLogger("headgate_local")


@contextmanager
def part(local: Local) -> Iterator[None]:
    """The template's schedules are in force until the end of the `with` block."""
    ended = threading.Event()
    threads = [
        threading.Thread(
            target=_call,
            args=(schedule, local.handler(schedule.function), ended),
            name=f"schedule of {schedule.function.logical_id}",
        )
        for schedule in local.template.schedules()
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _call(schedule: Schedule, handler: Handler, ended: threading.Event) -> None:
    while not ended.wait(schedule.seconds):
        try:
            invoke(handler, schedule.event)
        except FunctionError:
            logger.exception(
                "schedule_failed", extra={"function": schedule.function.logical_id, "schedule": schedule.event}
            )

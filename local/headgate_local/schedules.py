"""Calls functions at the rates of the template, in the place of EventBridge."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import Final

from headgate_local.handlers import FunctionError, Handler, invoke
from headgate_local.running import Local, in_background
from headgate_local.template import Schedule

logger: Final = logging.getLogger("headgate_local")


@contextmanager
def part(local: Local) -> Iterator[None]:
    """The template's schedules are in force until the end of the `with` block."""
    tasks = [
        (f"schedule of {schedule.function.logical_id}", partial(_call, schedule, local.handler(schedule.function)))
        for schedule in local.template.schedules()
    ]
    with in_background(*tasks):
        yield


def _call(schedule: Schedule, handler: Handler, ended: Event) -> None:
    while not ended.wait(schedule.seconds):
        try:
            invoke(handler, schedule.event)
        except FunctionError:
            logger.exception(
                "schedule_failed", extra={"function": schedule.function.logical_id, "schedule": schedule.event}
            )

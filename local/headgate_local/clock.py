"""A clock that runs ahead, so that a test does not have to wait for what happens after a quarter of an hour."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from headgate.foundation import clock
from headgate_local.errors import CannotStart
from headgate_local.patching import patched
from headgate_local.running import Local

_VARIABLE: Final = "HEADGATE_CLOCK_AHEAD_SECONDS"


@contextmanager
def ahead(_: Local) -> Iterator[None]:
    """Move the clock by HEADGATE_CLOCK_AHEAD_SECONDS, perhaps negative. Raises CannotStart if it is not a number."""
    text = os.environ.get(_VARIABLE, "")
    if not text:
        yield
        return
    if not (text.isascii() and text.removeprefix("-").isdigit()):
        raise CannotStart(f"{_VARIABLE} is {text!r}, but must be a whole number")
    by, true = timedelta(seconds=int(text)), clock.now

    def moved() -> datetime:
        return true() + by

    with patched([(clock, "now", moved)]):
        yield

"""A clock that is ahead, so that a test need not wait a quarter of an hour to see what time alone brings about."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from headgate.foundation import clock
from headgate_local.errors import CannotStart
from headgate_local.running import Local

_VARIABLE: Final = "HEADGATE_CLOCK_AHEAD_SECONDS"


@contextmanager
def ahead(_: Local) -> Iterator[None]:
    """As many seconds as HEADGATE_CLOCK_AHEAD_SECONDS says, if it does. Raises CannotStart if that is no number."""
    text = os.environ.get(_VARIABLE, "")
    if not text:
        yield
        return
    if not (text.isascii() and text.isdigit()):
        raise CannotStart(f"{_VARIABLE} is {text!r}; it has to be a whole number")
    by, true = timedelta(seconds=int(text)), clock.now

    def moved() -> datetime:
        return true() + by

    clock.now = moved
    try:
        yield
    finally:
        clock.now = true

"""Changes that several make at once: read, decide, write on a condition, and decide again where another was first."""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from headgate.foundation import errors

_Result = TypeVar("_Result")
# Well inside the 29 seconds that a function has.
_RACE_SECONDS: Final = 15.0


class LostRace(Exception):
    """Something that the change was based on has changed meanwhile: read again, and decide again."""


def settle(once: Callable[[], _Result]) -> _Result:
    """Do it until no other change comes between. Raises Contention when that takes too long."""
    deadline = time.monotonic() + _RACE_SECONDS
    for attempt in range(1_000):
        try:
            return once()
        except LostRace:
            if time.monotonic() > deadline:
                break
            # Growing and random, so that many writers spread out.
            time.sleep(random.uniform(0, min(0.4, 0.005 * 2 ** min(attempt, 10))))  # noqa: S311  no secret
    raise errors.Contention("Too many changes at once; nothing was saved, try again shortly")

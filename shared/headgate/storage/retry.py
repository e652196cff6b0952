"""Changes that race: read, decide, write on a condition, and repeat all of it if another change was first."""

import random
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from headgate.foundation import errors

_Result = TypeVar("_Result")
# Well inside the 29 seconds that a function has.
_SECONDS: Final = 15.0


class LostRace(errors.Contention):
    """Something that the change was based on has changed: read and decide again.

    This is the one signal of a lost race. If nobody retries, the response is that of Contention.
    """

    detail = "Too many changes at once; nothing was saved, try again shortly"


def retry(once: Callable[[], _Result]) -> _Result:
    """Call `once` until it does not raise LostRace. Raises Contention after 15 seconds."""
    lost = LostRace()
    for pause in pauses():
        try:
            return once()
        except LostRace as error:
            lost = error
            time.sleep(pause)
    raise lost


def pauses() -> Iterator[float]:
    """Seconds to wait after each attempt, as long as there is time for another one.

    They grow and are random, so that many writers spread out.
    """
    deadline = time.monotonic() + _SECONDS
    attempt = 0
    while time.monotonic() <= deadline:
        yield random.uniform(0, min(0.4, 0.005 * 2 ** min(attempt, 10)))  # noqa: S311  not a secret
        attempt += 1

"""Changes that race: read, decide, write on a condition, and repeat all of it if another change was first."""

import random
import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from headgate.foundation import errors

_Parameters = ParamSpec("_Parameters")
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


def retried(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Run the function by `retry`: all of it again after a lost race, so that it reads what it decides on itself."""

    @wraps(function)
    def run(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return retry(lambda: function(*args, **kwargs))

    return run


def pauses() -> Iterator[float]:
    """Seconds to wait after each attempt, as long as there is time for another one.

    They grow and are random, so that many writers spread out.
    """
    deadline = time.monotonic() + _SECONDS
    attempt = 0
    while time.monotonic() <= deadline:
        yield random.uniform(0, min(0.4, 0.005 * 2 ** min(attempt, 10)))  # noqa: S311  not a secret
        attempt += 1

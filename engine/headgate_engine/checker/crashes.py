"""Reports that the Go runtime writes to standard error when it ends a process that has crashed."""

import re
from typing import Final

_BEGINNING: Final = re.compile(r"^(?:panic|fatal error): ", re.MULTILINE)
# A process that came to its limit of memory or threads did not crash on the text.
_OF_LIMITS: Final = ("out of memory", "cannot allocate memory", "pthread_create failed", "newosproc")
_LONGEST: Final = 1 << 16


def report(said: str) -> str:
    """The last report of a crash in a standard error, without what is beyond 64 KB; empty if there is none."""
    begins = [beginning.start() for beginning in _BEGINNING.finditer(said)]
    crash = said[begins[-1] :][:_LONGEST] if begins else ""
    if "\ngoroutine " not in crash or any(words in said for words in _OF_LIMITS):
        return ""
    return crash

"""TypeIDs, version 0.3: a prefix, `_`, and a UUIDv7 in 26 characters of lower-case base32 (Crockford's alphabet).

Source: the TypeID specification, github.com/jetify-com/typeid, and RFC 9562 for UUIDv7.
"""

import secrets
import threading
from datetime import datetime
from typing import Final, Literal

from headgate.foundation import clock

Prefix = Literal[
    "org",
    "usr",
    "sva",
    "tok",
    "cfg",
    "rul",
    "run",
    "flt",
    "dep",
    "ins",
    "ses",
    "aud",
    "inv",
    "job",
    "evt",
    "whk",
    "dlv",
    "rol",
    "ord",
    "cap",
]

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH: Final = 26
_RANDOM_BITS: Final = 74
# Steps are random, so that nobody can compute the next id from one that they know.
_STEP_BITS: Final = 56


class _Last:
    """The time and the random bits of this process's last id. In a millisecond they rise: RFC 9562, 6.2, method 2."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._number = 0

    def next(self, milliseconds: int) -> int:
        with self._lock:
            if self._number >> _RANDOM_BITS == milliseconds:
                self._number += 1 + secrets.randbits(_STEP_BITS)
            else:
                # The highest bit leaves room for 100,000 steps.
                self._number = milliseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS - 1)
            return self._number


_last: Final = _Last()


def new_id(prefix: Prefix, at: datetime | None = None) -> str:
    """Returns an id that sorts after those of earlier milliseconds, and after this process's last one of the same."""
    return encode_id(prefix, new_uuid(at or clock.now()))


def new_uuid(at: datetime) -> int:
    """A UUIDv7 as its 128-bit number."""
    number = _last.next(int(at.timestamp() * 1000))
    return number >> 74 << 80 | 0x7 << 76 | (number >> 62 & 0xFFF) << 64 | 0b10 << 62 | number & (1 << 62) - 1


def encode_id(prefix: Prefix, number: int) -> str:
    """The id that holds this 128-bit number."""
    return f"{prefix}_" + "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def is_id(prefix: Prefix, text: str) -> bool:
    """True if `text` has the shape of such an id; the thing may not exist."""
    start, _, suffix = text.rpartition("_")
    # 26 characters hold 130 bits, so the first one can be 7 at the most.
    return start == prefix and len(suffix) == _LENGTH and suffix[0] in "01234567" and set(suffix) <= set(ALPHABET)


def id_pattern(prefix: Prefix) -> str:
    """The same shape as a regular expression, for the API's documentation."""
    return f"^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$"


def number_of(some_id: str) -> int:
    """The 128-bit number that the id holds."""
    number = 0
    for letter in some_id.rpartition("_")[2]:
        number = number << 5 | ALPHABET.index(letter)
    return number

"""Requests that are right, by the endpoint or the page that they are for."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tests.support.world import World

ONCE: Final = {"Idempotency-Key": "once"}
_NUMBERS: Final = itertools.count()


@dataclass(frozen=True)
class Row:
    """A request that is right. `body` is made anew for each; `ids` are those of the world unless given here."""

    endpoint: str
    status: int
    body: Callable[[World], object] | None = None
    ids: dict[str, str] = field(default_factory=dict)
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    form: bool = False
    name: str = ""
    # Whether doing it again, after it was done and nobody heard of it, is refused as a repetition.
    repeated: tuple[int, ...] = ()
    # Whether it is done in several steps, of which the same request again does the rest.
    in_steps: bool = False
    # Whether what was made is taken back where nobody knows of it, and the same request is refused after.
    taken_back: bool = False
    # Whether the same request again, after it was done or not, comes to what it comes to alone.
    settles: bool = False
    # Whether it is a browser that asks, and whether nobody is signed in there.
    page: bool = False
    stranger: bool = False
    # Which of the bench's messages a collector sends.
    message: str = ""
    # The status when S3 denies what it reads, which may as well be missing; 0 where that has to be there.
    denied: int = 0
    # The fields that only the first answer has: secrets.
    shown_once: tuple[str, ...] = ()
    # Whether the answer says when it was asked for.
    timed: bool = False
    # The path that tells what became of it, if it is not told by the names of what was changed.
    look: str = ""

    def __str__(self) -> str:
        return f"{self.endpoint} {self.name}".strip()

    @property
    def reads(self) -> bool:
        """Whether the same request always gets the same answer."""
        return self.endpoint.startswith("GET ") and self.status == 200


def always(body: object) -> Callable[[World], object]:
    return lambda _: body


def new_address() -> str:
    """An address that nobody has yet."""
    return f"new{next(_NUMBERS)}@example.com"

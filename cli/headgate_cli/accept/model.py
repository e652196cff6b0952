"""A check, its outcome, and the errors by which one ends that does not pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from headgate_cli.accept.bench import Bench

Status = Literal["passed", "failed", "not checked"]
Act = Callable[["Bench"], "str | None"]


class Broken(Exception):
    """The server does not keep the promise; the message says what it did instead."""


class CheckSkipped(Exception):
    """The check could not be made here; the message says why."""


@dataclass(frozen=True, slots=True)
class PromiseCheck:
    """`id` is `section.name`; `promise` is the sentence that it proves. `act` raises Broken or CheckSkipped.

    It may return what is worth knowing of a server that keeps the promise.
    """

    id: str
    promise: str
    act: Act

    @property
    def section(self) -> str:
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class PromiseOutcome:
    """`seconds` is how long it took, with all waits; `message` says why it did not pass, or what is worth knowing."""

    check: PromiseCheck
    status: Status
    seconds: float
    message: str = ""


def check(check_id: str, promise: str) -> Callable[[Act], PromiseCheck]:
    """Make a check of a function."""
    return lambda act: PromiseCheck(check_id, promise, act)

"""A check, its outcome, and what to do about one that does not pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from headgate_cli.accept.bench import Bench

Status = Literal["passed", "failed", "not checked"]
Act = Callable[["Bench"], "str | None"]

# Advice for failed checks, by section; docs/acceptance.md has a section of the same name with more.
PAGE: Final = "docs/acceptance.md"
REMEDIES: Final = {
    "identity": "Check that the tokens are of this server, and that the clock of the stack is right.",
    "verdicts": "Look at `make logs FUNCTION=Checker` and at CheckerFunctionAlarm; publish a missing collector.",
    "lint": "Look at `make logs FUNCTION=Checker`.",
    "rules": "Look at `make logs FUNCTION=Configurations`, then at the Checker's.",
    "runs": "Look at the reason that the run gives, then at RunStepsFailedAlarm.",
    "configurations": "Look at `make logs FUNCTION=Configurations` and at TableThrottlesAlarm.",
    "versions": "Look at `make logs FUNCTION=Configurations`; report repeated numbers as a fault.",
    "flows": "Publish the gallery again with `make deploy`; check the role's right to list the bucket.",
    "fleets": "Check the parameter FleetEndpoint, and publish the programs with `make publish-install`.",
    "hosts": "Look at the supervisor's log in the message; check that the host reaches FleetEndpoint and S3.",
    "admin": "Look at `make logs FUNCTION=Application`, and at `make logs FUNCTION=Deliver` for webhooks.",
    "http": "Look for a proxy, a firewall or a cache in front of the API that changes requests or answers.",
    "cli": "Install the command line of the same release as the server.",
    "endpoints": "Deploy this release completely; look for a proxy that answers in place of the API.",
    "limits": "Check the parameter RateLimitPerMinute, and for a proxy that removes headers.",
}


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

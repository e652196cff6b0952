"""How much of each large test runs on every change, and how much in `make trust`: the one place that decides.

`make trust` sets HEADGATE_FULL=1 and runs every module that is marked `sized`. Without it, a test makes fewer requests,
or takes a part of its table that is the same on every machine. Each kind of case is in that part. docs/trust.md has the
table of promises, with what runs where.

The one large test in Go reads the same variable (layers/collector/internal/reference/oracle_test.go, `partOfPlaces`).

A number can be given by itself: HEADGATE_TRUST_REQUESTS, _TEXTS, _ROLLOUTS, _STEPS, _SOAK, _ARCHIVES, and _DAY_MINUTES
and _DAY_INTERVAL of the simulated day.
"""

import os
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

FULL: Final = "HEADGATE_FULL" in os.environ


def number(name: str, on_change: int, full: int) -> int:
    return int(os.environ.get(f"HEADGATE_TRUST_{name}") or (full if FULL else on_change))


def either(on_change: T, full: T) -> T:
    return full if FULL else on_change


def turn(ways: Sequence[T], at: int) -> Sequence[T]:
    """All ways, or the one whose turn it is: `at` counts the places where one of them is tried."""
    return ways if FULL else [ways[at % len(ways)]]


# Requests made from the OpenAPI document, over seven kinds of credential.
REQUESTS: Final = number("REQUESTS", 350, 24_000)
# Texts that are tried as a configuration.
TEXTS: Final = number("TEXTS", 20, 4_000)
# Rollouts held against their specification.
ROLLOUTS: Final = number("ROLLOUTS", 25, 400)
# Operations held against the model: one after the other, and of several clients at once.
STEPS: Final = number("STEPS", 60, 6_000)
# Requests of the soak. Four credentials at their limit of 60 a minute make 14,400 an hour.
SOAK: Final = number("SOAK", 48, 14_400)
# Archives that are changed at random, and read.
ARCHIVES: Final = number("ARCHIVES", 40, 20_000)

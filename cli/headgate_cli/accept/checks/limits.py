"""The request limit of a credential, looked at last: it uses up a minute's requests."""

from __future__ import annotations

from functools import partial
from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import Bench
from headgate_cli.accept.caller import Requester
from headgate_cli.accept.errors import CheckSkipped
from headgate_cli.accept.model import check
from headgate_cli.responses import HttpAnswer

_AT_ONCE: Final = 8
# Reaching a higher limit takes too long.
_HIGHEST: Final = 600


def _number(answer: HttpAnswer, name: str) -> int:
    said = answer.headers.get(name, "")
    expect.that(said.isascii() and said.isdigit(), f"{name} is {said!r}, not a whole number")
    return int(said)


@check("limits.headers", "Each answer says the limit of the credential, what is left of it, and until when it counts.")
def headers(bench: Bench) -> None:
    # The first may be the last of its minute.
    for _ in range(2):
        first, second = (bench.write.get("/identity") for _ in range(2))
        left = [_number(answer, "RateLimit-Remaining") for answer in (first, second)]
        if left[1] < left[0]:
            break
    expect.equal(
        "RateLimit-Limit of the second answer", *(_number(answer, "RateLimit-Limit") for answer in (second, first))
    )
    expect.that(left[1] < left[0], f"RateLimit-Remaining went from {left[0]} to {left[1]} with a request")
    expect.that(_number(second, "RateLimit-Reset") <= 60, "RateLimit-Reset is over 60 seconds")


@check("limits.rate", "A credential over its limit is 429 with Retry-After, and the others are not.")
def rate(bench: Bench) -> None:
    limited, unlimited = _spent(bench)
    limit = _number(limited.get("/identity"), "RateLimit-Limit")
    if limit > _HIGHEST:
        raise CheckSkipped(f"the limit is {limit} requests a minute, and over {_HIGHEST} are not tried")
    # A minute may begin meanwhile, so that nearly twice as many are let through.
    for _ in range(2 * limit // _AT_ONCE + 1):
        answers = bench.at_once([partial(limited.send, "GET", "/identity", waits=False)] * _AT_ONCE)
        refused = next((answer for answer in answers if answer.status == 429), None)
        if refused:
            break
    else:
        expect.that(False, f"over {2 * limit} requests were answered, and the limit is {limit} a minute")
        return
    expect.problem(refused, 429, code="rate_limited")
    expect.that(1 <= _number(refused, "Retry-After") <= 60, "Retry-After is not within the minute")
    if unlimited:
        expect.entity(unlimited.send("GET", "/identity"))


def _spent(bench: Bench) -> tuple[Requester, Requester | None]:
    """The credential whose limit is used up, and another: the read-only token is needed for nothing else by then."""
    try:
        return bench.read, bench.write
    except CheckSkipped:
        return bench.write, None

"""The limits of API Gateway and Lambda around a function, so that what they would refuse is refused here as well.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html and
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headgate.http import bearer

MOST_HEADERS: Final = 10_240
"""Bytes of the request line and all headers."""
MOST_PAYLOAD: Final = 6 * 1_048_576
"""Bytes of an event, and of an answer, as JSON: bodies that are not text travel in base64."""
SECONDS: Final = 29
"""The functions' timeout; API Gateway would give up a second later."""
A_SECOND: Final = 200
AT_ONCE: Final = 500
_SECONDS_OF_REQUEST: Final = 0.05
"""The time of a request until some were measured."""
_WEIGHT: Final = 0.05
"""The part that the last request has in the mean of those that were measured."""
OVERLOADED: Final = "overloaded"
"""The code of what is refused because it would wait too long."""
WAITS: Final = "waits_for_its_turn"
"""Set in the state of a request that is not refused for that: there are no more of them than open connections."""
_TEXT: Final = (b"text/", b"application/json", b"application/problem+json")
# Beside a body, an event has its headers twice at most, and some 700 bytes of API Gateway.
_ENVELOPE: Final = 2 * MOST_HEADERS + 1_024


class Throttle:
    """So many requests a second, and so many at once; a bucket that fills with time."""

    def __init__(self, a_second: float = A_SECOND, at_once: float = AT_ONCE) -> None:
        self._rate, self._most = a_second, at_once
        self._left, self._at = at_once, time.monotonic()

    def lets_in(self, now: float) -> bool:
        """Count a request that comes now, unless it is too much."""
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class RequestTurns:
    """So many requests at once, the others in the order in which they came."""

    def __init__(self, at_once: int, clock: Callable[[], float]) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._at_once = at_once
        self._clock = clock
        self._waiting = 0
        self._seconds = _SECONDS_OF_REQUEST

    def wait(self) -> float:
        """The seconds that a request which comes now would wait, by how long those before it took."""
        return self._waiting * self._seconds / self._at_once

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn, which ends with the `async with` block."""
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        began = self._clock()
        try:
            yield
        finally:
            self._seconds += (self._clock() - began - self._seconds) * _WEIGHT
            self._free.release()


class _TooLarge(Exception):
    """The request's body does not fit into an event."""


class _TooSlow(Exception):
    """The request's body does not arrive in time."""


class Limited:
    """ASGI middleware: a function behind API Gateway's and Lambda's limits.

    With `environments` it handles so many requests at once, as a function with as many execution environments does;
    others wait for their turn. With `patience`, who would wait for more seconds is refused at once, with the time of
    their turn, of which `refused` is told with their credential. With `throttle` what is too much is refused, as the
    stage does. `sends_files`: it sends programs as read from the disk; on AWS it redirects to S3, without such limits.
    """

    def __init__(
        self,
        application: ASGIApp,
        *,
        environments: int | None = None,
        patience: float = math.inf,
        refused: Callable[[str, float], None] = lambda _credential, _wait: None,
        throttle: Throttle | None = None,
        sends_files: bool = False,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._turns = RequestTurns(environments, clock) if environments else None
        self._patience = patience
        self._refused = refused
        self._throttle = throttle
        self._sends_files = sends_files
        self._seconds = seconds
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
        elif _head_bytes(scope) > MOST_HEADERS:
            await _refuse(send, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._throttle is not None and not self._throttle.lets_in(self._clock()):
            await _refuse(send, HTTPStatus.TOO_MANY_REQUESTS)
        else:
            await self._invoke(scope, receive, send)

    async def _invoke(self, scope: Scope, receive: Receive, send: Send) -> None:
        messages: list[Message] = []
        size, is_file = 0, False
        # True while the body has more parts, and while the function waits for one of them.
        more, awaited = True, False
        grows = _growth(dict(scope["headers"]).get(b"content-type", b""))

        async def receive_within() -> Message:
            nonlocal size, more, awaited
            awaited = more
            message = await receive()
            more, awaited = bool(message.get("more_body")), False
            size += grows(message.get("body", b""))
            if size + _ENVELOPE > MOST_PAYLOAD:
                raise _TooLarge
            return message

        async def hold(message: Message) -> None:
            nonlocal is_file
            is_file = is_file or (self._sends_files and _is_program(message))
            if is_file:
                await send(message)
                return
            # Lambda answers when the function has, and not before.
            messages.append(message)

        receives: Receive = receive_within
        try:
            async with AsyncExitStack() as stack:
                if self._turns is not None:
                    # As API Gateway does, so that a sender which is slow, or unknown, has no turn meanwhile.
                    receives = await _arrived(receive_within, self._seconds)
                    wait = self._turns.wait()
                    if wait > self._patience and not scope.get("state", {}).get(WAITS):
                        # Spread, so that they do not come back together.
                        seconds = math.ceil(wait * (1 + random.random()))  # noqa: S311  a pause: who guesses it gains nothing
                        authorization = dict(scope["headers"]).get(b"authorization", b"")
                        self._refused(bearer.credential(authorization.decode(errors="replace")), seconds)
                        await _refuse_for(send, seconds)
                        return
                    await stack.enter_async_context(self._turns.turn())
                async with asyncio.timeout(None if self._sends_files else self._seconds):
                    await self._application(scope, receives, hold)
        except _TooSlow:
            await _refuse(send, HTTPStatus.REQUEST_TIMEOUT)
        except _TooLarge:
            await _refuse(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except TimeoutError:
            # API Gateway invokes a function with the whole body: a slow sender takes none of its time.
            await _refuse(send, HTTPStatus.REQUEST_TIMEOUT if awaited else HTTPStatus.INTERNAL_SERVER_ERROR)
        else:
            if _answer_bytes(messages) > MOST_PAYLOAD:
                await _refuse(send, HTTPStatus.INTERNAL_SERVER_ERROR)
                return
            for message in messages:
                await send(message)


async def _arrived(receive: Receive, seconds: float) -> Receive:
    """Wait for the whole body, and return what gives it to the function. Raises _TooSlow."""
    messages: list[Message] = []
    try:
        async with asyncio.timeout(seconds):
            while not messages or messages[-1].get("more_body", False):
                messages.append(await receive())
    except TimeoutError as error:
        raise _TooSlow from error
    rest = iter(messages)

    async def next_part() -> Message:
        part = next(rest, None)
        return await receive() if part is None else part

    return next_part


def _head_bytes(scope: Scope) -> int:
    query = scope.get("query_string", b"")
    line = len(scope["method"]) + len(scope.get("raw_path") or scope["path"].encode()) + len(query) + len(" ? HTTP/1.1")
    return line + sum(len(name) + len(value) + len(": ") for name, value in scope["headers"])


def _growth(content_type: bytes) -> Callable[[bytes], int]:
    """The bytes that a part of a body of that type has in JSON."""
    if content_type.startswith(_TEXT):
        return lambda body: len(json.dumps(body.decode(errors="replace"), ensure_ascii=False).encode()) if body else 0
    return lambda body: (len(body) + 2) // 3 * 4


def _is_program(message: Message) -> bool:
    return dict(message.get("headers") or ()).get(b"content-type") == b"application/octet-stream"


def _answer_bytes(messages: list[Message]) -> int:
    start = next((message for message in messages if message["type"] == "http.response.start"), None)
    headers = list(start["headers"]) if start else []
    grows = _growth(dict(headers).get(b"content-type", b""))
    body = b"".join(message.get("body", b"") for message in messages if message["type"] == "http.response.body")
    return grows(body) + sum(len(name) + len(value) + 6 for name, value in headers) + 64


async def _refuse_for(send: Send, seconds: int) -> None:
    status = HTTPStatus.TOO_MANY_REQUESTS
    problem = {
        "type": f"urn:headgate:problem:{OVERLOADED}",
        "title": status.phrase,
        "status": status,
        "detail": f"The service has more messages than it can answer; send this one again in {seconds} s",
        "code": OVERLOADED,
    }
    await _answer(send, status, problem, b"application/problem+json", (b"retry-after", str(seconds).encode()))


async def _refuse(send: Send, status: HTTPStatus) -> None:
    """Refuse in API Gateway's own words."""
    await _answer(send, status, {"message": status.phrase.title()}, b"application/json")


async def _answer(
    send: Send, status: HTTPStatus, body: Mapping[str, object], content_type: bytes, *more: tuple[bytes, bytes]
) -> None:
    content = json.dumps(body).encode()
    headers = [(b"content-type", content_type), (b"content-length", str(len(content)).encode()), *more]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": content})

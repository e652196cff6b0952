"""OpAMP over WebSocket: each binary frame goes to the fleet service as a message over HTTP, its answer comes back.

The fleet service alone decides about messages and senders. Here is what a connection adds: its limits, frames, and
asking a connected agent to report when a person changed what concerns it, so that it need not wait for its heartbeat.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.foundation.settings import settings
from headgate.installs.commands import OPAMP_PATH
from headgate.instances.counting import admission
from headgate.instances.model import instance_id
from headgate.opamp import messages
from headgate_local import callers, limits, streams

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from headgate_local.database import DatabaseChange

FUNCTION: Final = "OpampFunction"
MOST_CONNECTIONS: Final = 10_000
_MOST_AGENTS: Final = 100
"""Agents that one connection may report for; more of them are answered, and not asked to report."""
_LEAST_IDLE_SECONDS: Final = 60.0
_LONGEST_WAIT: Final = 30
"""Seconds for which a message waits for its turn; meanwhile its connection is not read."""
_SECONDS_TO_END: Final = 5
_PAUSE: Final = b"30"
"""Seconds after which an agent comes back that was not answered."""
_ASKED_A_SECOND: Final = 200
_PASSED_ON: Final = (b"authorization", b"x-deployment-id", b"x-request-id")
_GOING, _UNSUPPORTED, _REFUSED, _LATER = 1001, 1003, 1008, 1013


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer of the fleet service over HTTP."""

    status: int
    headers: Mapping[bytes, bytes]
    body: bytes

    @property
    def problem(self) -> Mapping[str, object]:
        return cast("Mapping[str, object]", json.loads(self.body)) if self.status != HTTPStatus.OK else {}

    @property
    def retry_after(self) -> int:
        """Seconds; 0 if the message is not to be sent again."""
        return int(self.headers.get(b"retry-after", b"0"))


@dataclass(eq=False, slots=True)
class _Connection:
    """An open connection; `agents` are the uids that report through it."""

    credential: bytes
    fleet_id: str
    loop: asyncio.AbstractEventLoop
    agents: set[bytes] = field(default_factory=set)
    wake: asyncio.Event = field(default_factory=asyncio.Event)


class WithWebSocket:
    """An ASGI application that takes OpAMP's connections, and passes every request over HTTP on."""

    def __init__(
        self, application: ASGIApp, *, most: int = MOST_CONNECTIONS, idle_seconds: float | None = None
    ) -> None:
        self._application = application
        self._most = most
        self._idle_seconds = idle_seconds
        self._open: set[_Connection] = set()
        self._of_credential: Counter[bytes] = Counter()
        streams.followers.append(self._note)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._application(scope, receive, send)
            return
        await receive()
        if scope["path"] != OPAMP_PATH:
            await send({"type": "websocket.close"})
            return
        # An empty message shows whether its sender may send: only then it is refused for what it is.
        answer = await self._ask(scope, b"")
        credential = dict(scope["headers"]).get(b"authorization", b"")
        if answer.problem.get("code") != messages.NotOpamp.code:
            await _refuse(receive, send, answer)
        elif len(self._open) >= self._most or self._of_credential[credential] >= admission.most_instances():
            problem = {"status": 503, "code": "too_many_connections", "detail": "Too many connections are open"}
            more = {b"retry-after": b"30", b"content-type": b"application/problem+json"}
            await _refuse(receive, send, _Answer(HTTPStatus.SERVICE_UNAVAILABLE, more, json.dumps(problem).encode()))
        else:
            await self._hold(scope, credential, receive, send)

    async def _hold(self, scope: Scope, credential: bytes, receive: Receive, send: Send) -> None:
        connection = _Connection(credential, "", asyncio.get_running_loop())
        self._open.add(connection)
        self._of_credential[credential] += 1
        try:
            connection.fleet_id = await asyncio.to_thread(_fleet_of, credential)
            await send({"type": "websocket.accept"})
            open_send = partial(_send_if_open, send)
            with suppress(_Ended):
                code, reason = await self._converse(scope, connection, receive, open_send)
                if code:
                    await open_send({"type": "websocket.close", "code": code, "reason": reason})
        finally:
            self._open.discard(connection)
            self._of_credential[credential] -= 1
            self._of_credential += Counter()

    async def _converse(self, scope: Scope, connection: _Connection, receive: Receive, send: Send) -> tuple[int, str]:
        """Answer messages until the end. Returns the code and reason to close with, 0 if the agent went away."""
        idle = self._idle_seconds or max(_LEAST_IDLE_SECONDS, 3.0 * settings().fleet_heartbeat_seconds)
        asked = False
        receiving = asyncio.ensure_future(receive())
        waking = asyncio.ensure_future(connection.wake.wait())
        try:
            while True:
                done, _ = await asyncio.wait({receiving, waking}, timeout=idle, return_when=asyncio.FIRST_COMPLETED)
                if receiving in done:
                    event = receiving.result()
                    if event["type"] != "websocket.receive":
                        return 0, ""
                    frame = event.get("bytes")
                    if frame is None:
                        return _UNSUPPORTED, "OpAMP takes binary frames"
                    code, reason = await self._exchange(scope, connection, frame, send)
                    if code:
                        return code, reason
                    asked = False
                    # Only now, so that the connection is not read before the message was answered.
                    receiving = asyncio.ensure_future(receive())
                elif waking in done or not asked:
                    if waking in done:
                        # Agents of a fleet are asked one after the other.
                        pause = random.random()  # noqa: S311  a pause that spreads load: who guesses it gains nothing
                        await asyncio.sleep(pause * len(self._open) / _ASKED_A_SECOND)
                        connection.wake.clear()
                        waking = asyncio.ensure_future(connection.wake.wait())
                    else:
                        asked = True
                    for uid in list(connection.agents):
                        await send({"type": "websocket.send", "bytes": messages.framed(messages.report_again(uid))})
                else:
                    return _GOING, "No message came"
        finally:
            receiving.cancel()
            waking.cancel()

    async def _exchange(self, scope: Scope, connection: _Connection, frame: bytes, send: Send) -> tuple[int, str]:
        """Answer a message. Returns the code and reason to close with, 0 to go on."""
        body = messages.unframed(frame)
        answer = await self._ask(scope, body)
        if answer.problem.get("code") == limits.OVERLOADED:
            if messages.is_heartbeat(body):
                # It says nothing that could be lost, and a connection that ends now would cost more than it.
                await send({"type": "websocket.send", "bytes": messages.framed(_refusal(answer))})
                return 0, ""
            answer = await self._ask(scope, body, waits=True)
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS and answer.retry_after <= _LONGEST_WAIT:
            await asyncio.sleep(answer.retry_after)
            answer = await self._ask(scope, body)
        if answer.status == HTTPStatus.OK:
            before, uid = messages.addressed(answer.body)
            if uid != before:
                connection.agents.discard(before)
            if len(connection.agents) < _MOST_AGENTS:
                connection.agents.add(uid)
            await send({"type": "websocket.send", "bytes": messages.framed(answer.body)})
            return 0, ""
        await send({"type": "websocket.send", "bytes": messages.framed(_refusal(answer))})
        if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return _REFUSED, "The token is not accepted"
        # A client that comes back reports everything: nothing is lost if it forgets the message.
        return (_LATER, "Come back later") if answer.retry_after else (0, "")

    async def _ask(self, scope: Scope, body: bytes, *, waits: bool = False) -> _Answer:
        """Ask the fleet service over HTTP about a message, which `waits` for its turn however long that takes."""
        passed = [(name, value) for name, value in scope["headers"] if name in _PASSED_ON]
        inner = {
            **scope,
            "type": "http",
            "method": "POST",
            "scheme": "https" if scope["scheme"] == "wss" else "http",
            "headers": [*passed, (b"content-type", b"application/x-protobuf")],
            "state": {limits.WAITS: waits},
        }
        status, headers, parts = 0, {}, []

        async def receive() -> Message:
            return {"type": "http.request", "body": body}

        async def send(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status, headers = message["status"], dict(message["headers"])
            else:
                parts.append(message.get("body", b""))

        await self._application(inner, receive, send)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR and b"retry-after" not in headers:
            # Also what took too long, as API Gateway says it: an agent that comes back reports everything.
            status, headers = HTTPStatus.SERVICE_UNAVAILABLE, {**headers, b"retry-after": _PAUSE}
        return _Answer(status, headers, b"".join(parts))

    def _note(self, change: DatabaseChange) -> None:
        """Wake the agents whose group, or whose own entry, somebody else than the fleet service changed."""
        if not self._open or callers.current() == FUNCTION or change.place != f"table/{settings().fleets_table}":
            return
        key = json.loads(change.key)
        partition, (kind, _, entry) = key["pk"]["S"], key["sk"]["S"].partition("#")
        for connection in list(self._open) if kind in ("deployment", "instance", "selectors") else ():
            concerned = kind != "instance" or entry in map(instance_id, list(connection.agents))
            if partition == f"fleet#{connection.fleet_id}" and concerned:
                connection.loop.call_soon_threadsafe(connection.wake.set)


def _refusal(answer: _Answer) -> bytes:
    detail = str(answer.problem.get("detail", "The message was not accepted"))
    return messages.refusal(detail, answer.retry_after)


class _Ended(Exception):
    """The agent ended the connection, or did not answer pings, before it got its answer."""


async def _send_if_open(send: Send, message: Message) -> None:
    """Raises _Ended."""
    try:
        await send(message)
    except RuntimeError as error:
        # So uvicorn says that it has closed the connection meanwhile.
        raise _Ended from error


def _fleet_of(credential: bytes) -> str:
    with callers.acting(FUNCTION):
        token_hash = tokens.hash_of_credential(credential.decode().partition(" ")[2].strip())
        return tokens.require_found(fleets.token(token_hash)).fleet_id


async def _refuse(receive: Receive, send: Send, answer: _Answer) -> None:
    """Answer the request for a connection as over HTTP."""
    headers = [(name, value) for name, value in answer.headers.items() if name != b"content-length"]
    await send({"type": "websocket.http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": answer.body})
    # uvicorn logs a fault if this returns while the connection is open; it tells of both ends.
    with suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS_TO_END):
            await receive()
            await receive()

"""A client of an application in this process, for the tests that make tens of thousands of requests.

Starlette's test client starts a thread and an event loop for each request, and passes messages between them: 2 ms of
processor time, where the rest of a short request takes 0.3. Here each thread of the tests has one event loop, and waits
for its own request in it, which is alone there as in a function on Lambda.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from urllib.parse import unquote

import httpx2
from starlette import testclient
from starlette.types import ASGIApp, Message

from headgate.http import threads

_PORTS: Final = {"http": 80, "https": 443}


class TestClient(testclient.TestClient):
    """Starlette's, with another transport. The answer is read whole before a request returns."""

    def __init__(
        self,
        app: ASGIApp,
        base_url: str = "http://testserver",
        raise_server_exceptions: bool = True,
        client: tuple[str, int] = ("testclient", 50000),
        **named: Any,
    ) -> None:
        super().__init__(app, base_url, raise_server_exceptions, client=client, **named)
        self._transport = _Transport(app, raise_server_exceptions, client)


class _Transport(httpx2.BaseTransport):
    def __init__(self, app: ASGIApp, raise_server_exceptions: bool, client: tuple[str, int]) -> None:
        self._app: Final = app
        self._raise: Final = raise_server_exceptions
        self._client: Final = client

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "path": unquote(url.path),
            "raw_path": url.raw_path.split(b"?", 1)[0],
            "root_path": "",
            "scheme": url.scheme,
            "query_string": url.query,
            "headers": [(key.lower().encode(), value.encode()) for key, value in request.headers.multi_items()],
            "client": self._client,
            "server": [url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]],
            "extensions": {},
            "state": {},
        }
        sent: list[Message] = []
        try:
            self._wait(self._answer(scope, request.read(), sent))
        except Exception:
            # What the application raised comes out of Starlette after its answer with 500.
            if self._raise or not sent:
                raise
        start, *parts = sent
        body = b"".join(part.get("body", b"") for part in parts) if request.method != "HEAD" else b""
        headers = [(key.decode(), value.decode()) for key, value in start.get("headers", [])]
        return httpx2.Response(start["status"], headers=headers, stream=httpx2.ByteStream(body), request=request)

    @staticmethod
    def _wait(answer: Coroutine[None, None, None]) -> None:
        if not _here.loop.is_running():
            _here.loop.run_until_complete(answer)
            return
        # A test asks from inside of a request: another client would do so from elsewhere.
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(lambda: _here.loop.run_until_complete(answer)).result()

    async def _answer(self, scope: dict[str, Any], body: bytes, sent: list[Message]) -> None:
        complete = asyncio.Event()
        received: list[Message] = [{"type": "http.request", "body": body}]

        async def receive() -> Message:
            if received:
                return received.pop()
            await complete.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                complete.set()

        with threads.alone():
            await self._app(scope, receive, send)
        assert complete.is_set(), "the application has not completed its response"


class _OfThread(threading.local):
    def __init__(self) -> None:
        self._runner: Final = _Runner()
        self.loop: Final = self._runner.loop


class _Runner:
    """An event loop that is closed when its thread ends."""

    def __init__(self) -> None:
        self.loop: Final = asyncio.new_event_loop()

    def __del__(self) -> None:
        self.loop.close()


_here: Final = _OfThread()

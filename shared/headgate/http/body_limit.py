"""The limit on request bodies. A `Content-Length` over it is refused before anything is read."""

from typing import Final

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES: Final = 1_048_576


class BodyLimit:
    """ASGI middleware. Reading a body over the limit raises a 413, so an error that needs no body, such as a 401, wins.

    Starlette's own middleware answers in plain text, and before such errors.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        refused = announced.isascii() and announced.isdigit() and int(announced) > self.max_bytes
        received = 0

        async def limited() -> Message:
            nonlocal received
            if refused:
                raise HTTPException(413)
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.max_bytes:
                raise HTTPException(413)
            return message

        await self.app(scope, limited, send)

"""The limit on request bodies: refused by the announced length before anything is read, else once it is over."""

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """ASGI middleware. Who reads a body over the limit gets a 413 raised; an earlier error, such as a 401, goes first.

    Starlette's own middleware of this kind answers in plain text, in the place of those earlier errors as well.
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

"""Additions to every request: its id, its log line, the rate limit's headers, and HEAD as a GET without the body."""

import re
import time
import uuid
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headgate.foundation import metrics
from headgate.foundation.log import logger
from headgate.identity.model import RateWindow

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


class RequestContext:
    """ASGI middleware. Puts `request_id` into the request's state; the credential check adds `rate_window`.

    The fleet service adds `without_news` to heartbeats that nobody has to read of: they have no line in the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        presented = Headers(scope=scope).get("x-request-id", "")
        request_id = presented if _REQUEST_ID.fullmatch(presented) else uuid.uuid4().hex
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        without_body = scope["method"] == "HEAD"
        if without_body:
            scope = {**scope, "method": "GET"}
        started = time.perf_counter()
        status = 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                # An answer is for one caller; nothing on the way may cache it.
                headers.setdefault("Cache-Control", "no-store")
                window = state.get("rate_window")
                if isinstance(window, RateWindow):
                    headers["RateLimit-Limit"] = str(window.limit)
                    headers["RateLimit-Remaining"] = str(window.remaining)
                    headers["RateLimit-Reset"] = str(window.reset)
            elif without_body:
                message = {**message, "body": b""}
            await send(message)

        logger.thread_safe_append_keys(request_id=request_id)
        try:
            await self.app(scope, receive, send_with_headers)
        finally:
            if not state.get("without_news"):
                logger.info(
                    "request",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    milliseconds=round((time.perf_counter() - started) * 1000, 1),
                    credential_id=state.get("credential_id"),
                    extra=metrics.of_request(status, state.get("blame", "ours")),
                )
            logger.thread_safe_clear_keys()

"""A function's web application, and the handler that turns API Gateway's events into requests."""

import base64
import gzip
import json
import sys
from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, FastAPI

from headgate.foundation.log import logger
from headgate.http import problems
from headgate.http.body_limit import MAX_BODY_BYTES, BodyLimit
from headgate.http.browser import Console
from headgate.http.parameters import accepts_gzip
from headgate.http.parts import ImportParts, Part
from headgate.http.request_context import RequestContext
from headgate.http.threads import OneAtATime

# Lambda's limit on what a function returns, envelope included.
LARGEST_ANSWER: Final = 6 * 1_048_576
# Its runtime for earlier versions of Python writes other characters than ASCII as escapes.
_ESCAPES: Final = sys.version_info < (3, 12)


def create_app(title: str, members: Sequence[APIRouter | Part]) -> FastAPI:
    """The application with the routes of these, the first that matches a path before the others."""
    app = FastAPI(
        title=title,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    # The last one is the outermost: paths of the console are rewritten before they are compared with those of parts.
    app.add_middleware(ImportParts, parts=[member for member in members if isinstance(member, Part)])
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.add_middleware(Console)
    app.add_middleware(RequestContext)
    problems.install(app)
    app.state.members = members
    for member in members:
        app.include_router(member.router if isinstance(member, Part) else member)
    return app


class Handler(OneAtATime):
    """Turns events of API Gateway into requests. An answer that Lambda would refuse is compressed if the client takes
    that, or else replaced by one that says so."""

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        answer = super().__call__(event, context)
        # A character takes at most twelve bytes in JSON, so nearly every answer is known to fit.
        if len(answer["body"]) * 12 < LARGEST_ANSWER or _size(answer) <= LARGEST_ANSWER:
            return answer
        if accepts_gzip(event["headers"].get("accept-encoding")) and not answer["isBase64Encoded"]:
            compressed = _compressed(answer)
            if _size(compressed) <= LARGEST_ANSWER:
                return compressed
        return _too_large(answer, _size(answer))


def _size(answer: dict[str, Any]) -> int:
    return len(json.dumps(answer, ensure_ascii=_ESCAPES).encode(errors="surrogatepass"))


def _compressed(answer: dict[str, Any]) -> dict[str, Any]:
    content = gzip.compress(answer["body"].encode(), 6, mtime=0)
    about = {"content-encoding": "gzip", "content-length": str(len(content)), "vary": "Accept-Encoding"}
    body = base64.b64encode(content).decode()
    return {**answer, "headers": {**answer["headers"], **about}, "body": body, "isBase64Encoded": True}


def _too_large(answer: dict[str, Any], size: int) -> dict[str, Any]:
    logger.error("answer_too_large", bytes=size)
    request_id = answer["headers"].get("x-request-id", "")
    detail = (
        f"The answer has {size:,} bytes, and at most {LARGEST_ANSWER:,} can be sent. The request was carried out. "
        "Ask for less of it (a smaller `limit`, or one entry), or send `Accept-Encoding: gzip`"
    )
    body = problems.Problem(
        type="urn:headgate:problem:answer_too_large",
        title="Internal Server Error",
        status=500,
        detail=detail,
        code="answer_too_large",
        request_id=request_id,
    )
    headers = {"content-type": "application/problem+json", "x-request-id": request_id}
    text = body.model_dump_json(exclude_none=True)
    return {"statusCode": 500, "headers": headers, "body": text, "isBase64Encoded": False}


def lambda_handler(app: FastAPI) -> Handler:
    # Mangum sends these types as text and anything else as base64.
    return Handler(app, lifespan="off", text_mime_types=["text/", "application/json", "application/problem+json"])

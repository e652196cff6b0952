"""A function's web application, and the handler that turns API Gateway's events into requests."""

import json
from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from mangum import Mangum

from headgate.foundation.log import logger
from headgate.http import problems
from headgate.http.body_limit import MAX_BODY_BYTES, BodyLimit
from headgate.http.browser import Console
from headgate.http.parts import ImportParts, Part
from headgate.http.request_context import RequestContext

# Lambda's limit on what a function returns, envelope included.
_LARGEST_ANSWER: Final = 6 * 1_048_576


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


class Handler(Mangum):
    """Turns events of API Gateway into requests. An answer that Lambda would refuse is replaced by one that says so."""

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        answer: dict[str, Any] = super().__call__(event, context)
        # A character takes at most six in JSON, so nearly every answer is known to fit.
        if len(answer["body"]) * 6 < _LARGEST_ANSWER:
            return answer
        size = len(json.dumps(answer, ensure_ascii=False).encode(errors="surrogatepass"))
        return answer if size <= _LARGEST_ANSWER else _too_large(answer, size)


def _too_large(answer: dict[str, Any], size: int) -> dict[str, Any]:
    logger.error("answer_too_large", bytes=size)
    request_id = answer["headers"].get("x-request-id", "")
    detail = (
        f"The answer has {size:,} bytes, and at most {_LARGEST_ANSWER:,} can be sent. The request was carried out. "
        "Ask for less of it: a smaller `limit`, or one entry"
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

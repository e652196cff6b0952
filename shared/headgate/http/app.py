"""A function's web application, and the handler that turns API Gateway's events into requests."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from mangum import Mangum

from headgate.http import problems
from headgate.http.body_limit import MAX_BODY_BYTES, BodyLimit
from headgate.http.browser import Console
from headgate.http.parts import ImportParts, Part
from headgate.http.request_context import RequestContext


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


def lambda_handler(app: FastAPI) -> Mangum:
    # Mangum sends these types as text and anything else as base64.
    return Mangum(app, lifespan="off", text_mime_types=["text/", "application/json", "application/problem+json"])

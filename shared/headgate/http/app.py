"""A function's web application, and the handler that turns API Gateway's events into requests."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from mangum import Mangum

from headgate.http import problems
from headgate.http.body_limit import MAX_BODY_BYTES, BodyLimit
from headgate.http.browser import Console
from headgate.http.request_context import RequestContext


def create_app(title: str, routers: Sequence[APIRouter]) -> FastAPI:
    app = FastAPI(
        title=title,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.add_middleware(Console)
    app.add_middleware(RequestContext)
    problems.install(app)
    # One flat list: in `app.routes` they are nested in their routers.
    app.state.routes = [route for router in routers for route in router.routes]
    for router in routers:
        app.include_router(router)
    return app


def lambda_handler(app: FastAPI) -> Mangum:
    # Mangum sends these types as text and anything else as base64.
    return Mangum(app, lifespan="off", text_mime_types=["text/", "application/json", "application/problem+json"])

"""The application: its pages, its API under /api/v1/app, and what answers where there is nothing."""

from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from application import api, login_pages, oauth, organization_pages, sign_in_pages
from application.html import html
from application.layout import STYLE_PATH, Frame, page
from headgate.http import problems
from headgate.http.app import create_app, lambda_handler

static = APIRouter(include_in_schema=False)


@static.get(STYLE_PATH)
def style() -> Response:
    return Response(
        _style(),
        media_type="text/css",
        headers={"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"},
    )


@cache
def _style() -> bytes:
    return (Path(__file__).parent / "style.css").read_bytes()


app = create_app(
    "Headgate application",
    [
        api.router,
        oauth.router,
        static,
        sign_in_pages.router,
        login_pages.router,
        organization_pages.router,
    ],
)


def _nowhere(request: Request, error: Exception) -> Response:
    """A person gets a page, a program a problem."""
    assert isinstance(error, HTTPException)
    if error.status_code != 404 or request.url.path.startswith(("/api/", "/v1/")):
        return problems.framework_error(request, error)
    content = html('<div class="card"><p><a href="/">To the start</a></p></div>')
    return page(Frame(""), "Not found", content, problem="There is nothing at this address", status=404)


app.add_exception_handler(HTTPException, _nowhere)
handler = lambda_handler(app)

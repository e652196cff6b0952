"""The application: its pages, its API under /api/v1/app, and what answers where there is nothing."""

from functools import cache
from pathlib import Path

from fastapi import APIRouter, Response

from application import (
    account_pages,
    api,
    change_pages,
    login_pages,
    oauth,
    organization_pages,
    service_account_pages,
    settings_pages,
    sign_in_pages,
    style_pages,
)
from headgate.http.app import create_app, lambda_handler
from web import assets, pages
from web.layout import STYLE_PATH

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
        assets.router,
        sign_in_pages.router,
        login_pages.router,
        organization_pages.router,
        change_pages.router,
        service_account_pages.router,
        settings_pages.router,
        account_pages.router,
        style_pages.router,
    ],
)


pages.install(app)
handler = lambda_handler(app)

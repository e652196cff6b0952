"""The application: its pages, its API under /api/v1/app, and what answers where there is nothing.

Each part is imported at its first request.
"""

from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Response

from headgate.http.app import create_app, lambda_handler
from web import assets, pages
from web.layout import STYLE_PATH
from web.routes import part

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


_PAGES: Final = ("sign_in", "login", "organization", "change", "service_account", "settings", "account", "style")
app = create_app(
    "Headgate application",
    [
        part("application.api"),
        part("application.oauth"),
        static,
        assets.router,
        *(part(f"application.{name}_pages") for name in _PAGES),
    ],
)


pages.install(app)
handler = lambda_handler(app)

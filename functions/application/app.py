"""The application: its pages, its API under /api/v1/app, and what answers where there is nothing.

Each part is imported at its first request.
"""

from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Response

from headgate.http.app import create_app, lambda_handler
from headgate.http.parts import Part
from headgate.http.paths import APPLICATION
from web import assets, pages
from web.layout import STYLE_PATH

_ORGANIZATION: Final = "/organizations/*"

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
        Part("application.api", f"{APPLICATION}/**"),
        Part("application.oauth", f"{APPLICATION}/device_authorization", f"{APPLICATION}/token"),
        static,
        assets.router,
        Part("application.sign_in_pages", "/sign-in/**", "/sign-out", "/forgot-password", "/reset-password"),
        Part("application.login_pages", "/device", "/login"),
        Part("application.organization_pages", "/", "/invitations/**", f"{_ORGANIZATION}/members/**"),
        Part("application.change_pages", f"{_ORGANIZATION}/changes"),
        Part(
            "application.service_account_pages",
            f"{_ORGANIZATION}/service-accounts/**",
            f"{_ORGANIZATION}/expiring-tokens",
        ),
        Part(
            "application.settings_pages",
            f"{_ORGANIZATION}/settings",
            f"{_ORGANIZATION}/rename",
            f"{_ORGANIZATION}/create",
        ),
        Part("application.account_pages", "/account/**"),
        Part("application.style_pages", "/style"),
    ],
)


pages.install(app)
handler = lambda_handler(app)

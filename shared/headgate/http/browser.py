"""The API as the console in a browser calls it: `/api/v1/app/public/…` has the routes of `/api/v1/public/…`.

Only the session cookie counts there, with a header that another site cannot send, also for reading.
"""

from __future__ import annotations

import secrets
from typing import Final

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from headgate.foundation import errors
from headgate.foundation.settings import settings
from headgate.http.paths import BROWSER, PUBLIC
from headgate.identity import signing
from headgate.identity.model import Session

# With the prefix __Host-, browsers refuse the cookie from other hosts of the domain, and over plain HTTP.
SESSION_COOKIE: Final = "__Host-headgate-session"
CSRF_HEADER: Final = "X-CSRF-Token"
_FROM_CONSOLE: Final = "from_console"


class ForeignRequest(errors.Forbidden):
    """A request that no page of this person's session made (cross-site request forgery)."""

    code = "foreign_request"
    detail = (
        f"Only pages of this site may use this address: send the page's token in {CSRF_HEADER}, or call "
        f"{PUBLIC} with a token of your own"
    )


class Console:
    """ASGI middleware. Passes a request of the console on to the public route of the same name, and marks it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(f"{BROWSER}/"):
            path = PUBLIC + scope["path"].removeprefix(BROWSER)
            scope.setdefault("state", {})[_FROM_CONSOLE] = True
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await self.app(scope, receive, send)


def from_console(request: Request) -> bool:
    return getattr(request.state, _FROM_CONSOLE, False)


def csrf_of(tied_to: str) -> str:
    """The token of pages that were made for a session, or before a sign-in for a visit, by its id."""
    return signing.sign("csrf", tied_to.encode()).hex()


def is_csrf(presented: str, tied_to: str) -> bool:
    return secrets.compare_digest(presented.encode(), csrf_of(tied_to).encode())


def is_of_this_site(request: Request, *, typed: bool = False) -> bool:
    """True if the headers that a browser adds by itself allow the request; `typed` allows one typed into the address.

    Old browsers send none with a read: the token decides there.
    """
    origin = request.headers.get("origin")
    if origin is not None and origin not in (public_url(request), str(request.base_url).rstrip("/")):
        return False
    site = request.headers.get("sec-fetch-site", "same-origin")
    return site == "same-origin" or (typed and site == "none")


def require_this_site(request: Request) -> None:
    """Raises ForeignRequest for a request that another site made."""
    if not is_of_this_site(request):
        raise ForeignRequest


def require_own_page(request: Request, session: Session) -> None:
    """Raises ForeignRequest unless a page of this session asks."""
    if not is_csrf(request.headers.get(CSRF_HEADER, ""), session.id):
        raise ForeignRequest


def public_url(request: Request) -> str:
    """The public address of the service, without a slash at the end.

    Without a setting it comes from the request: a stack's address is known only after its creation, and API Gateway
    forwards requests for its own hosts only.
    """
    return settings().public_url.rstrip("/") or str(request.base_url).rstrip("/")

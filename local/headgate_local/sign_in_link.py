"""A link that signs in once, which `make dev` prints. Only the local service has it, and no deployed function.

It is in this process's memory, as a hash, so a start of the service ends the link of the start before.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final

from headgate.foundation import clock
from headgate.foundation.hashing import hash_of
from headgate.identity import member_store, sessions

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH: Final = "/sign-in-link"
LIFETIME: Final = timedelta(minutes=15)

_FOREIGN: Final = "This link was opened by another site or ahead of time, so it was not used"
_UNKNOWN: Final = "This link is not one of this start of the service, or it was not copied as a whole"
_USED: Final = "This link was used already: it signs in once"
_EXPIRED: Final = f"This link has expired: it was valid for {int(LIFETIME.total_seconds()) // 60} minutes"
_REFUSED: Final = """\
<div class="card"><h1>This link does not sign you in</h1>
<p>{way_out}</p>
<p class="last"><a class="button" href="/sign-in">Sign in with a password</a></p></div>"""
_PASTE: Final = "Copy it from the terminal and paste it into the address bar."
_ANOTHER: Final = """\
Stop the service and start it again with <code>make dev</code> for another link, or sign in with the address and the
password that it printed below the link."""


class SignInLink:
    """The link of one person, by their address."""

    def __init__(self, email: str, at: datetime) -> None:
        self._email = email
        self._expires_at = at + LIFETIME
        self._used = False
        self._lock = Lock()
        code = secrets.token_urlsafe(32)
        self._hash = hash_of(code)
        self.path: Final = f"{PATH}?code={code}"

    def use(self, code: str, at: datetime) -> str:
        """Use the link up. Returns why it does not sign in; empty if it does."""
        if not secrets.compare_digest(hash_of(code), self._hash):
            return _UNKNOWN
        with self._lock:
            if self._used:
                return _USED
            if at >= self._expires_at:
                return _EXPIRED
            self._used = True
        return ""

    def session(self, at: datetime) -> str:
        """The value of a new browser session of the person."""
        user = member_store.user_by_email(self._email)
        assert user is not None, "the person is created before the link"
        return sessions.begin(user, "browser", at)[1]


class WithLink:
    """An ASGI application that answers at the link's address, and passes everything else on."""

    def __init__(self, application: ASGIApp, link: SignInLink) -> None:
        self._application = application
        self._page = page_of(link)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        at_link = scope["type"] == "http" and scope["path"] == PATH
        await (self._page if at_link else self._application)(scope, receive, send)


def page_of(link: SignInLink) -> ASGIApp:
    """The application that answers at the link's address."""
    # Imported only now, because the pages read their settings from the environment.
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from headgate.http.browser import is_of_this_site
    from web import visitor
    from web.html import Html, html
    from web.layout import Frame, page, redirect

    def refused(reason: str, way_out: str, status: int) -> Response:
        return page(Frame(""), "Sign in", html(_REFUSED, way_out=Html(way_out)), problem=reason, status=status)

    def sign_in(request: Request) -> Response:
        # A browser that loads pages ahead, or looks at a link's headers, must not use it up.
        ahead = "sec-purpose" in request.headers or request.method == "HEAD"
        if ahead or not is_of_this_site(request, typed=True):
            return refused(_FOREIGN, _PASTE, 403)
        at = clock.now()
        reason = link.use(request.query_params.get("code", ""), at)
        if reason:
            return refused(reason, _ANOTHER, 410)
        return visitor.sign_in(redirect("/"), link.session(at))

    return Starlette(routes=[Route(PATH, sign_in)])

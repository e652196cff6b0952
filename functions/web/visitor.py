"""Who sent a request for a page: the session of its cookie, and whether a form of ours sent it."""

import re
import secrets
from dataclasses import dataclass
from typing import Final

from fastapi import Request
from starlette.responses import Response

from headgate.foundation import errors
from headgate.http import credentials
from headgate.identity import sessions, signing
from headgate.identity.model import NotAuthenticated, Session
from web.addresses import public_url
from web.forms import read_form

# The prefix makes browsers refuse the cookie from other hosts of the domain, and over plain HTTP.
SESSION_COOKIE: Final = "__Host-headgate-session"
VISIT_COOKIE: Final = "__Host-headgate-visit"
KNOWN_COOKIE: Final = "__Host-headgate-known"
_KNOWN_SECONDS: Final = 180 * 86_400
_VISIT: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class ForeignForm(errors.Forbidden):
    """A form that this person's page did not hold (cross-site request forgery), or that is too old."""

    code = "foreign_form"

    def __init__(self) -> None:
        super().__init__("This form is no longer valid; go back, load the page again, and repeat what you did")


@dataclass(frozen=True, slots=True)
class Visitor:
    """`session` of who is signed in. `visit` is a random value that ties the forms of who is not to their browser."""

    session: Session | None
    visit: str

    @property
    def csrf(self) -> str:
        of = self.session.id if self.session else self.visit
        return signing.sign("csrf", of.encode()).hex()

    @property
    def email(self) -> str:
        return self.session.user.email if self.session else ""


def visitor(request: Request) -> Visitor:
    """Raises RateLimited for a session over its limit; a session that ended is as none."""
    session: Session | None = None
    value = request.cookies.get(SESSION_COOKIE, "")
    if value.startswith(sessions.PREFIX):
        try:
            found = credentials.admit(request, value)
        except NotAuthenticated:
            found = None
        session = found if isinstance(found, Session) and found.kind == "browser" else None
    visit = request.cookies.get(VISIT_COOKIE, "")
    return Visitor(session, visit if _VISIT.fullmatch(visit) else secrets.token_urlsafe(32))


async def posted(request: Request, who: Visitor) -> dict[str, str]:
    """The fields of a form of ours. Raises ForeignForm, Invalid."""
    origin = request.headers.get("origin")
    if origin is not None and origin not in (public_url(request), str(request.base_url).rstrip("/")):
        raise ForeignForm
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ForeignForm
    form = await read_form(request)
    if not secrets.compare_digest(form.get("csrf", "").encode(), who.csrf.encode()):
        raise ForeignForm
    return form


def sign_in(response: Response, value: str) -> Response:
    """Give the browser its new session, and forget the visit before it."""
    _set(response, SESSION_COOKIE, value, int(sessions.LIFETIME.total_seconds()))
    _set(response, VISIT_COOKIE, "", 0)
    return response


def known_at(request: Request) -> str:
    """The proof that somebody's account was signed in in this browser before."""
    return request.cookies.get(KNOWN_COOKIE, "")


def know(response: Response, proof: str) -> Response:
    """Let the browser keep the proof; it gives no access."""
    _set(response, KNOWN_COOKIE, proof, _KNOWN_SECONDS)
    return response


def sign_out(response: Response) -> Response:
    _set(response, SESSION_COOKIE, "", 0)
    return response


def remember(response: Response, who: Visitor) -> Response:
    """Tie the forms of the page to the browser of somebody who is not signed in."""
    if who.session is None and "set-cookie" not in response.headers:
        _set(response, VISIT_COOKIE, who.visit, None)
    return response


def _set(response: Response, name: str, value: str, seconds: int | None) -> None:
    response.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="lax")

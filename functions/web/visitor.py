"""The visitor of a page: the session of the cookie, and the protection of forms against other sites (CSRF)."""

import re
import secrets
from dataclasses import dataclass
from typing import Final

from fastapi import Request
from starlette.responses import Response

from headgate.foundation import errors
from headgate.http import credentials
from headgate.http.browser import SESSION_COOKIE, csrf_of, is_csrf, is_of_this_site
from headgate.identity import sessions
from headgate.identity.model import NotAuthenticated, Session
from web import look
from web.forms import read_form
from web.look import DEFAULT, Look

VISIT_COOKIE: Final = "__Host-headgate-visit"
KNOWN_COOKIE: Final = "__Host-headgate-known"
_KNOWN_SECONDS: Final = 180 * 86_400
_VISIT: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class ForeignForm(errors.Forbidden):
    """A form that no page of this person contained (cross-site request forgery), or that is too old.

    `form` has the fields if the browser says that a page of this site posted them in a session of this person, unless
    one is a password.
    """

    code = "foreign_form"
    detail = "This form is no longer valid: go back, reload the page and send the form again"

    def __init__(self, form: dict[str, str] | None = None) -> None:
        super().__init__("You signed in again after this form was opened: send it again" if form else self.detail)
        self.form = form


@dataclass(frozen=True, slots=True)
class Visitor:
    """`session` is None if nobody is signed in; then the random `visit` ties forms to the browser."""

    session: Session | None
    visit: str
    look: Look = DEFAULT

    @property
    def csrf(self) -> str:
        return csrf_of(self.tied_to)

    @property
    def tied_to(self) -> str:
        return self.session.id if self.session else self.visit

    @property
    def email(self) -> str:
        return self.session.user.email if self.session else ""


def visitor(request: Request) -> Visitor:
    """The visitor; a session that has ended counts as none. Raises RateLimited for a session over its limit."""
    session: Session | None = None
    value = request.cookies.get(SESSION_COOKIE, "")
    if value.startswith(sessions.PREFIX):
        try:
            admitted = credentials.admit(request, value)
        except NotAuthenticated:
            admitted = None
        session = admitted if isinstance(admitted, Session) and admitted.kind == "browser" else None
    visit = request.cookies.get(VISIT_COOKIE, "")
    return Visitor(session, visit if _VISIT.fullmatch(visit) else secrets.token_urlsafe(32), look.read(request))


async def posted(request: Request, who: Visitor) -> dict[str, str]:
    """The fields of a form of this site. Raises ForeignForm, Invalid."""
    if not is_of_this_site(request, typed=True):
        raise ForeignForm
    form = await read_form(request)
    if not is_csrf(form.get("csrf", ""), who.tied_to):
        may_show = who.session and "origin" in request.headers and "password" not in form
        raise ForeignForm(form if may_show else None)
    return form


def sign_in(response: Response, value: str) -> Response:
    """Set the cookie of the new session, and delete that of the visit before it."""
    _set(response, SESSION_COOKIE, value, int(sessions.LIFETIME.total_seconds()))
    _set(response, VISIT_COOKIE, "", 0)
    return response


def known_at(request: Request) -> str:
    """The proof that an account was signed in with this browser before; empty if there is none."""
    return request.cookies.get(KNOWN_COOKIE, "")


def know(response: Response, proof: str) -> Response:
    """Store the proof in the browser; it gives no access."""
    _set(response, KNOWN_COOKIE, proof, _KNOWN_SECONDS)
    return response


def sign_out(response: Response) -> Response:
    _set(response, SESSION_COOKIE, "", 0)
    return response


def remember(response: Response, who: Visitor) -> Response:
    """Tie the page's forms to the browser of a visitor who is not signed in."""
    if who.session is None and "set-cookie" not in response.headers:
        _set(response, VISIT_COOKIE, who.visit, None)
    return response


def _set(response: Response, name: str, value: str, seconds: int | None) -> None:
    response.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="lax")

"""The credential of a request, and the types by which a route says what access it needs."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Final

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.http import browser
from headgate.identity import service as identity
from headgate.identity import sessions
from headgate.identity.model import NotAuthenticated, RateLimited, Session, SessionRequired, WriteAccessRequired

# Only for the OpenAPI document; `enter` reads the header itself, before the body is read. Each name says what
# the route needs, and scripts/openapi.py writes it as the credentials that have it.
_to_read: Final = HTTPBearer(auto_error=False, scheme_name="read")
_to_write: Final = HTTPBearer(auto_error=False, scheme_name="write")
_of_person: Final = HTTPBearer(auto_error=False, scheme_name="session")
_of_admin: Final = HTTPBearer(auto_error=False, scheme_name="admin")


ORGANIZATION_HEADER: Final = "X-Service-Org"


def enter(request: Request, *, to_write: bool) -> None:
    """Find the caller, for the request's state, and count the request against the credential's rate limit.

    One read and one write, and another read for a session.

    Raises NotAuthenticated, RateLimited, WriteAccessRequired for a read-only token when `to_write`, and for a session
    OrganizationHeaderRequired or NotAnActiveMember.
    """
    authenticated = _presented(request)
    caller = (
        sessions.caller(authenticated, request.headers.get(ORGANIZATION_HEADER))
        if isinstance(authenticated, Session)
        else authenticated
    )
    if to_write and not caller.can_write:
        raise WriteAccessRequired
    request.state.caller = caller


def enter_as_person(request: Request) -> None:
    """Find the person, for the request's state. Raises as `enter` does, and SessionRequired for a token."""
    request.state.session = _session(request)


def enter_as_member(request: Request, *, as_admin: bool) -> None:
    """Find the person in the organization. Raises as `enter_as_person` does, and AdminRequired."""
    caller = sessions.caller(_session(request), request.headers.get(ORGANIZATION_HEADER))
    if as_admin:
        caller.require_admin()
    request.state.caller = caller


def _session(request: Request) -> Session:
    authenticated = _presented(request)
    if not isinstance(authenticated, Session):
        raise SessionRequired
    return authenticated


def _presented(request: Request) -> Caller | Session:
    if browser.from_console(request):
        return _person_at_console(request)
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise NotAuthenticated
    return admit(request, credential.strip())


def _person_at_console(request: Request) -> Session:
    """By the cookie alone. Raises NotAuthenticated, RateLimited, ForeignRequest."""
    browser.require_this_site(request)
    session = admit(request, request.cookies.get(browser.SESSION_COOKIE, ""), of_person=True)
    if not isinstance(session, Session) or session.kind != "browser":
        raise NotAuthenticated
    browser.require_own_page(request, session)
    return session


def admit(request: Request, credential: str, *, of_person: bool = False) -> Caller | Session:
    """Find whose credential this is, and count the request against its limit. Raises NotAuthenticated, RateLimited.

    With `of_person`, a session's request counts against the limit of its person at the console.
    """
    authenticated, window = identity.authenticate(credential, clock.now(), of_person=of_person)
    request.state.rate_window = window
    request.state.credential_id = (
        authenticated.id if isinstance(authenticated, Session) else authenticated.credential_id
    )
    if window.used > window.limit:
        raise RateLimited(window)
    return authenticated


def admit_anonymous(request: Request) -> None:
    """Count a request without a credential against the limit of the client's address; one write. Raises RateLimited.

    At the console, a person counts instead, and a session is needed as everywhere there. The address is the one that
    API Gateway reports; headers of the client are not trusted.
    """
    if browser.from_console(request):
        _person_at_console(request)
        return
    window = identity.admit_anonymous(request.client.host if request.client else "unknown", clock.now())
    request.state.rate_window = window
    if window.used > window.limit:
        raise RateLimited(window)


async def anonymous() -> None:
    """Marks a route: the address is counted before anything of the request is looked at."""


def _let_in(scheme: HTTPBearer) -> Callable[..., Coroutine[None, None, Caller]]:
    """The dependency by which a route says what access it needs, and gets the caller who was let in."""

    async def let_in(request: Request, _: Annotated[object, Depends(scheme)]) -> Caller:
        caller = request.state.caller
        assert isinstance(caller, Caller)
        return caller

    return let_in


reader = _let_in(_to_read)
writer = _let_in(_to_write)
member = _let_in(_of_person)
admin = _let_in(_of_admin)


async def signed_in(request: Request, _: Annotated[object, Depends(_of_person)]) -> Session:
    session = request.state.session
    assert isinstance(session, Session)
    return session


Anonymous = Depends(anonymous)
"""No credential, in `dependencies` of a route: each client's address has the limit of a credential."""
Reader = Annotated[Caller, Depends(reader)]
"""Any credential."""
Writer = Annotated[Caller, Depends(writer)]
"""A credential with write access: a read-only token gets 403 before the body is read."""
SessionMember = Annotated[Caller, Depends(member)]
"""A session in one of its person's organizations: tokens get 403."""
SessionAdmin = Annotated[Caller, Depends(admin)]
"""A session of an Admin: Contributors get 403 as well."""
SignedIn = Annotated[Session, Depends(signed_in)]
"""A session, whichever organization it names."""

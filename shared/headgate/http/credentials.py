"""The credential of a request, and the types by which a route says what access it needs."""

from typing import Annotated, Final

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from headgate import clock
from headgate.identity import service as identity
from headgate.identity.model import Caller, NotAuthenticated, RateLimited, WriteAccessRequired

# Only for the OpenAPI document; `authenticate` reads the header itself, before the body is looked at.
_scheme: Final = HTTPBearer(auto_error=False, description="An API token (`sv_…`) or a session (`ss_…`)")


def authenticate(request: Request, *, to_write: bool) -> Caller:
    """Find the caller and take from the credential's rate limit; one write.

    Raises NotAuthenticated, RateLimited, or WriteAccessRequired for a read-only token when `to_write`.
    """
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise NotAuthenticated
    caller, window = identity.authenticate(credential.strip(), clock.now())
    request.state.rate_window = window
    request.state.credential_id = caller.credential_id
    if window.used > window.limit:
        raise RateLimited(window)
    if to_write and not caller.can_write:
        raise WriteAccessRequired
    return caller


def reader(request: Request, _: Annotated[object, Depends(_scheme)]) -> Caller:
    return _caller(request)


def writer(request: Request, _: Annotated[object, Depends(_scheme)]) -> Caller:
    return _caller(request)


def _caller(request: Request) -> Caller:
    caller = request.state.caller
    assert isinstance(caller, Caller)
    return caller


Reader = Annotated[Caller, Depends(reader)]
"""Any credential."""
Writer = Annotated[Caller, Depends(writer)]
"""A credential with write access: a read-only token gets 403 before the body is read."""

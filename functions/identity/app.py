"""Whom a credential acts as, and the description of the whole public API."""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated

from fastapi import Header, Response
from pydantic import AliasPath
from starlette.status import HTTP_304_NOT_MODIFIED

from headgate.foundation.caller import Access, Role
from headgate.foundation.principal import PrincipalKind
from headgate.http.app import create_app, lambda_handler
from headgate.http.credentials import Anonymous, Reader
from headgate.http.parameters import accepts_gzip, matches
from headgate.http.routing import router as group
from headgate.http.wire import Answer, at, beyond

router = group("", "Identity")


class Identity(Answer):
    """Whom the presented credential acts as."""

    organization_id: str
    organization_name: str
    kind: Annotated[PrincipalKind, at("principal", "kind")]
    id: Annotated[str, beyond(validation_alias=AliasPath("principal", "id"))]
    name: str
    role: Role
    access: Access


@router.get("/identity")
def get_identity(caller: Reader) -> Identity:
    """Confirm the credential."""
    return Identity.of(caller)


@router.get("/openapi.json", include_in_schema=False, dependencies=[Anonymous])
def openapi(
    accept_encoding: Annotated[str | None, Header()] = None, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """The public API as OpenAPI 3.1, without a credential. `make openapi` writes it from the routes."""
    compressed = accepts_gzip(accept_encoding)
    content, etag = _openapi(compressed=compressed)
    headers = {"ETag": etag, "Cache-Control": "public, max-age=300", "Vary": "Accept-Encoding"}
    if matches(if_none_match, etag):
        return Response(status_code=HTTP_304_NOT_MODIFIED, headers=headers)
    if compressed:
        headers["Content-Encoding"] = "gzip"
    return Response(content, media_type="application/json", headers=headers)


@cache
def _openapi(*, compressed: bool) -> tuple[bytes, str]:
    """The document in one of its forms, and its tag, which is of these bytes."""
    plain = (Path(__file__).parent / "openapi.json").read_bytes()
    content = gzip.compress(plain, mtime=0) if compressed else plain
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


app = create_app("Headgate identity", [router])
handler = lambda_handler(app)

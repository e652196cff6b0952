"""Whom a credential acts as, and the description of the whole public API."""

from functools import cache
from pathlib import Path
from typing import Annotated

from fastapi import Response
from pydantic import BaseModel, Field

from headgate.foundation.caller import Access, Role
from headgate.foundation.principal import PrincipalKind
from headgate.http.app import create_app, lambda_handler
from headgate.http.credentials import Reader
from headgate.http.routing import router as group

router = group("", "Identity")


class Identity(BaseModel):
    """Whom the presented credential acts as."""

    organization_id: str
    organization_name: str
    kind: PrincipalKind
    id: Annotated[str, Field(json_schema_extra={"x-extension": True})]
    name: str
    role: Role
    access: Access


@router.get("/identity", operation_id="getIdentity")
def identity(caller: Reader) -> Identity:
    """Confirm the credential."""
    return Identity(
        organization_id=caller.organization_id,
        organization_name=caller.organization_name,
        kind=caller.principal.kind,
        id=caller.principal.id,
        name=caller.name,
        role=caller.role,
        access=caller.access,
    )


@router.get("/openapi.json", include_in_schema=False)
def openapi() -> Response:
    """The public API as OpenAPI 3.1, without a credential. `make openapi` writes it from the routes."""
    return Response(_openapi(), media_type="application/json", headers={"Cache-Control": "public, max-age=300"})


@cache
def _openapi() -> bytes:
    return (Path(__file__).parent / "openapi.json").read_bytes()


app = create_app("Headgate identity", [router])
handler = lambda_handler(app)

"""The identity endpoints."""

from typing import Literal

from pydantic import BaseModel

from headgate.http.app import create_app, lambda_handler
from headgate.http.credentials import Reader
from headgate.http.routing import router as group

router = group("", "Identity")


class Identity(BaseModel):
    """Whom the presented credential acts as."""

    organization_id: str
    organization_name: str
    kind: Literal["service_account", "user"]
    name: str
    role: Literal["contributor", "admin"]
    access: Literal["read", "read_write"]


@router.get("/identity")
def identity(caller: Reader) -> Identity:
    """Confirm the credential."""
    return Identity(
        organization_id=caller.organization_id,
        organization_name=caller.organization_name,
        kind=caller.principal.kind,
        name=caller.name,
        role=caller.role,
        access=caller.access,
    )


app = create_app("Headgate identity", [router])
handler = lambda_handler(app)

"""Models and types that the bodies of several functions share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
)

from headgate.foundation.errors import NotFound
from headgate.foundation.ids import id_pattern
from headgate.foundation.principal import Principal, PrincipalKind
from headgate_engine.wire.inputs import refused_as


@contextmanager
def ids_in_body(**fields: type[NotFound]) -> Iterator[None]:
    """A NotFound inside the block names the field of the body: `with ids_in_body(fleet_id=FleetNotFound)`."""
    try:
        yield
    except NotFound as error:
        for field, kind in fields.items():
            if isinstance(error, kind):
                error.named_by(field)
        raise


ConfigurationId = Annotated[
    str,
    StringConstraints(pattern=id_pattern("cfg")),
    refused_as("This must be the id of a configuration: `cfg_` and 26 characters"),
]


_Managing = Annotated[
    str,
    StringConstraints(pattern=r"^[!-~]([ -~]{0,98}[!-~])?$"),
    refused_as("This must be 1 to 100 ASCII letters, digits, signs and spaces, without a space at the ends"),
]
ManagedBy = Annotated[_Managing | None, Field(json_schema_extra={"x-extension": True})]


class PrincipalOut(BaseModel):
    """A user, or a service account whichever of its tokens was used."""

    kind: PrincipalKind
    id: str
    name: str

    @classmethod
    def of(cls, principal: Principal) -> Self:
        return cls(kind=principal.kind, id=principal.id, name=principal.name)

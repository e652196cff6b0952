"""Models and types that the bodies of several functions share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from headgate.foundation.clock import rfc3339
from headgate.foundation.collector import VARIABLE_NAME, VERSION
from headgate.foundation.errors import NotFound
from headgate.foundation.ids import id_pattern
from headgate.foundation.principal import Principal, PrincipalKind

MAX_VARIABLES: Final = 100

_Value = TypeVar("_Value")


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


def _present(value: _Value | None) -> _Value:
    if value is None:
        raise ValueError("This cannot be null; leave it out to keep it")
    return value


def _version_number(value: str) -> str:
    if not VERSION.fullmatch(value):
        raise ValueError("This must be a version X.Y.Z, such as 0.139.0")
    return value


def refused_as(message: str) -> WrapValidator:
    """For a type whose own message would be a regular expression, or one message for each type of a union."""

    def check(value: object, validate: ValidatorFunctionWrapHandler) -> object:
        try:
            return validate(value)
        except ValidationError:
            raise ValueError(message) from None

    return WrapValidator(check)


PRESENT = AfterValidator(_present)
"""For a field that may be left out of a PATCH, and may not be null."""
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
ConfigurationId = Annotated[
    str,
    StringConstraints(pattern=id_pattern("cfg")),
    refused_as("This must be the id of a configuration: `cfg_` and 26 characters"),
]
Yaml = Annotated[str, StringConstraints(min_length=1)]
VariableName = Annotated[
    str,
    StringConstraints(pattern=f"^{VARIABLE_NAME}$"),
    refused_as("This must be letters, digits and `_`, a digit not first"),
]
Variables = Annotated[dict[VariableName, str], Field(max_length=MAX_VARIABLES)]
CollectorVersion = Annotated[str, AfterValidator(_version_number)]
Time = Annotated[
    datetime,
    PlainSerializer(rfc3339, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A time in an answer: RFC 3339, UTC, milliseconds."""


_Managing = Annotated[
    str,
    StringConstraints(pattern=r"^[!-~]([ -~]{0,98}[!-~])?$"),
    refused_as("This must be 1 to 100 ASCII letters, digits, signs and spaces, without a space at the ends"),
]
ManagedBy = Annotated[_Managing | None, Field(json_schema_extra={"x-extension": True})]


class Input(BaseModel):
    """Takes exactly its fields, of exactly their types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Patch(Input):
    """Changes the fields that are given, at least one."""

    @model_validator(mode="after")
    def _some_field(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"At least one of {', '.join(type(self).model_fields)} is needed")
        return self


class PrincipalOut(BaseModel):
    """A user, or a service account whichever of its tokens was used."""

    kind: PrincipalKind
    id: str
    name: str

    @classmethod
    def of(cls, principal: Principal) -> Self:
        return cls(kind=principal.kind, id=principal.id, name=principal.name)

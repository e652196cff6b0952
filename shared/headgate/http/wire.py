"""Models and types that the bodies of several functions share."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Self

from annotated_types import GroupedMetadata
from pydantic import AliasPath, BaseModel, ConfigDict, Field, StringConstraints, field_validator

from headgate.foundation.errors import NotFound
from headgate.foundation.ids import Prefix, id_pattern
from headgate.foundation.principal import PrincipalKind
from headgate_engine.wire.inputs import refused_as


def beyond(description: str | None = None, **bounds: Any) -> Any:
    """A field that the specification of the API does not have."""
    return Field(description=description, json_schema_extra={"x-extension": True}, **bounds)


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


@dataclass(frozen=True)
class IdOf(GroupedMetadata):
    """Makes a text of a body an id with that prefix, of a thing by its noun: `a fleet`."""

    prefix: Prefix
    noun: str

    def __iter__(self) -> Iterator[object]:
        yield from StringConstraints(strict=True, pattern=id_pattern(self.prefix))
        yield refused_as(f"This must be the id of {self.noun}: `{self.prefix}_` and 26 characters")


ConfigurationId = Annotated[str, IdOf("cfg", "a configuration")]


_Managing = Annotated[
    str,
    StringConstraints(pattern=r"^[!-~]([ -~]{0,98}[!-~])?$"),
    refused_as("This must be 1 to 100 ASCII letters, digits, signs and spaces, without a space at the ends"),
]
ManagedBy = Annotated[_Managing | None, beyond()]


def at(*path: str) -> Any:
    """A field at this path of the shown object, instead of the attribute of its own name."""
    return Field(validation_alias=AliasPath(path[0], *path[1:]))


class Answer(BaseModel):
    """A part of an answer, whose fields are the attributes of the same names of what it shows."""

    # By name, too, to make an answer again from its JSON.
    model_config = ConfigDict(from_attributes=True, validate_by_alias=True, validate_by_name=True)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_secret(cls, value: object) -> object:
        """Refuse bytes: sealed values are stored as bytes, and their attribute may have the name of a field."""
        if isinstance(value, bytes):
            raise ValueError("an answer shows no bytes")
        return value

    @classmethod
    def of(cls, *shown: object, **more: object) -> Self:
        """Each field from `more`, or from the first of the objects that has it."""
        return cls.model_validate(shown[0] if len(shown) == 1 and not more else Together(*shown, **more))


class Together:
    """The attributes `more`, and those of several objects, as the attributes of one: of the first that has them."""

    def __init__(self, *shown: object, **more: object) -> None:
        self._shown = shown
        self.__dict__ |= more

    def __getattr__(self, name: str) -> object:
        for each in self._shown:
            if hasattr(each, name):
                return getattr(each, name)
        raise AttributeError(name)


class PrincipalOut(Answer):
    """A user, or a service account whichever of its tokens was used."""

    kind: PrincipalKind
    id: str
    name: str

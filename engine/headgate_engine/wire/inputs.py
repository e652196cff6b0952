"""Models and types that the bodies of requests share."""

import posixpath
from typing import Annotated, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from headgate_engine.checker import host_variables
from headgate_engine.collector import VARIABLE_NAME, VERSION
from headgate_engine.wire.bounds import Bounded

MAX_VARIABLES: Final = 100
MAX_TEXT: Final = 1_048_576
"""Characters of a text that may be as large as a whole body."""
MAX_DOCUMENTS: Final = 10_000
"""OTLP/JSON documents of a sample, and fields of one."""


_Value = TypeVar("_Value")


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


Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]


Yaml = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]


VariableName = Annotated[
    str,
    StringConstraints(pattern=f"^{VARIABLE_NAME}$"),
    refused_as("This must be letters, digits and `_`, a digit not first"),
]


def _settable(values: dict[str, str]) -> dict[str, str]:
    for name in host_variables.NAMES & values.keys():
        if not host_variables.fits(values[name]):
            raise ValueError(
                f"`{name}` is set in the collector's environment: it may have up to {host_variables.LONGEST} bytes, "
                "and no character NUL"
            )
    return values


Variables = Annotated[dict[VariableName, Text], Field(max_length=MAX_VARIABLES), AfterValidator(_settable)]


MAX_FILES: Final = 20
MAX_FILE: Final = 65_536
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
FileText = Annotated[str, StringConstraints(max_length=MAX_FILE)]


def _of_different_paths(texts: dict[str, str]) -> dict[str, str]:
    paths: dict[str, str] = {}
    for path in texts:
        first = paths.setdefault(_cleaned(path), path)
        if first != path:
            raise ValueError(f"{first[:100]!r} and {path[:100]!r} are paths of the same file: leave out one of them")
    return texts


def _cleaned(path: str) -> str:
    """The path without `.`, `..` and `//`. Python keeps two slashes at the beginning."""
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned


Files = Annotated[
    dict[FilePath, FileText],
    Field(
        max_length=MAX_FILES,
        description="Texts that stand for `${file:PATH}`, by path; they are not stored",
        json_schema_extra={"x-extension": True},
    ),
    AfterValidator(_of_different_paths),
]


CollectorVersion = Annotated[str, AfterValidator(_version_number)]


class Input(Bounded):
    """Takes exactly its fields, of exactly their types, each within a bound."""


class Patch(Input):
    """Changes the fields that are given, at least one."""

    @model_validator(mode="after")
    def _some_field(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"At least one of {', '.join(type(self).model_fields)} is needed")
        return self


FeatureGate = Annotated[str, StringConstraints(min_length=1, max_length=200)]
GATES: Final = "`+name` or `name` enables a feature gate of the collector, `-name` disables it"
StoredGate = Annotated[
    str,
    StringConstraints(pattern=r"^[+-]?[0-9A-Za-z][0-9A-Za-z.]*$", max_length=200),
    refused_as("This must be the name of a feature gate, with + to enable or - to disable it"),
]
MAX_STORED_GATES: Final = 255
"""Characters of a version's gates with commas between them, as a host has them in one setting and one label."""


def _of_a_host(gates: list[str]) -> list[str]:
    size = len(",".join(gates))
    if size > MAX_STORED_GATES:
        raise ValueError(
            f"These have {size} characters together, with commas between them, but a host takes up to "
            f"{MAX_STORED_GATES}: leave out those that this text does not need"
        )
    return gates


StoredGates = Annotated[list[StoredGate], Field(max_length=20, description=GATES), AfterValidator(_of_a_host)]
FeatureGates = Annotated[
    list[FeatureGate], Field(max_length=20, description=GATES, json_schema_extra={"x-extension": True})
]

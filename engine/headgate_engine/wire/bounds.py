"""Bounds of every input, which are checked before its entries are, and an end of its list of errors.

pydantic compares a list's or an object's length after it has validated the entries, and reports every entry and every
unknown field that is wrong: a megabyte of them is 500,000 errors, which take seconds in which nobody else is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ModelWrapValidatorHandler, ValidationError
from pydantic import model_validator as validator_of_model
from pydantic_core import CoreSchema, PydanticKnownError, PydanticOmit, core_schema

MOST_ERRORS: Final = 100
"""Errors that an answer lists at most, whatever is in the body."""
MOST_UNKNOWN: Final = 10
"""Unknown fields of an object that are named one by one."""
MOST_CHARACTERS: Final = 1_000
"""Length of a text whose type names no other bound."""
_BOUNDED: Final = "headgate_bounded"
# Of which nothing is wrong, so that there is nothing to count: a sample has half a million.
_ANY_JSON: Final = "pydantic.types.JsonValue"
# The object in which the last of these errors is may have more: one a field, and those of unknown fields.
_ENOUGH: Final = MOST_ERRORS // 2

_Check = Callable[[object], object]
_Valid = TypeVar("_Valid")


@dataclass(slots=True)
class _ErrorCount:
    """The errors of one body so far."""

    errors: int = 0

    @property
    def enough(self) -> bool:
        return self.errors >= _ENOUGH

    def require_room(self) -> None:
        if self.enough:
            raise ValueError("This was not looked at: too much of the rest is wrong")

    def validated(self, value: object, validate: Callable[[object], _Valid]) -> _Valid:
        """The value, validated; its errors are added, but those that a part of it has added already."""
        before = self.errors
        try:
            return validate(value)
        except ValidationError as error:
            self.errors = max(self.errors, before + error.error_count())
            raise


_made: Final[ContextVar[_ErrorCount | None]] = ContextVar("errors_made", default=None)


@contextmanager
def _counting() -> Iterator[_ErrorCount]:
    """The count of the body that is validated; the outermost object begins it."""
    count = _made.get()
    if count is not None:
        yield count
        return
    token = _made.set(_ErrorCount())
    try:
        yield cast("_ErrorCount", _made.get())
    finally:
        _made.reset(token)


def _counted(value: object, validate: core_schema.ValidatorFunctionWrapHandler) -> object:
    """An entry of a list or an object. Once there are enough errors, it is left out unseen."""
    count = _made.get()
    if count is None:
        return validate(value)
    if count.enough:
        raise PydanticOmit
    return count.validated(value, validate)


def _at_most(limit: int, kind: str) -> _Check:
    def check(value: object) -> object:
        count = _made.get()
        if count is not None:
            count.require_room()
        if isinstance(value, list | dict) and len(value) > limit:
            lengths = {"field_type": kind, "max_length": limit, "actual_length": len(value)}
            raise PydanticKnownError("too_long", lengths)
        return value

    return check


def _bound_fields(schema: CoreSchema, name: str) -> None:
    """Change the schema of a model's class, once."""
    inner: dict[str, Any] = cast("dict[str, Any]", schema)
    while inner["type"] != "model-fields":
        if "schema" not in inner:
            # A reference to a class that this was done for.
            return
        inner = inner["schema"]
    metadata = inner.setdefault("metadata", {})
    if _BOUNDED not in metadata:
        metadata[_BOUNDED] = True
        for field, of_field in inner["fields"].items():
            of_field["schema"] = _bounded(of_field["schema"], f"{name}.{field}")


def _bounded(schema: dict[str, Any], place: str) -> dict[str, Any]:
    """The schema of a value, its lists and objects compared with their bounds first. Not of other models."""
    match schema["type"]:
        case "list" | "dict" as kind:
            return _bounded_entries(schema, kind, place)
        case "str":
            schema.setdefault("max_length", MOST_CHARACTERS)
        case "union":
            schema["choices"] = [
                (_bounded(choice[0], place), choice[1]) if isinstance(choice, tuple) else _bounded(choice, place)
                for choice in schema["choices"]
            ]
        case "tagged-union":
            schema["choices"] = {tag: _bounded(choice, place) for tag, choice in schema["choices"].items()}
        case "set" | "frozenset" | "tuple" | "generator" | "typed-dict" | "dataclass" as kind:
            raise TypeError(f"{place}: an input takes lists, objects and models of ours, not a {kind}")
        case "model":
            pass
        case _ if "schema" in schema:
            schema["schema"] = _bounded(schema["schema"], place)
    return schema


def _bounded_entries(schema: dict[str, Any], kind: str, place: str) -> dict[str, Any]:
    if "max_length" not in schema:
        # Caught where the class is defined, so no input can be without one.
        raise TypeError(f"{place}: this needs a `max_length`")
    for part in ("items_schema", "keys_schema", "values_schema"):
        entries = schema.get(part)
        if entries is None or _ANY_JSON in entries.get("schema_ref", ""):
            continue
        entries = _bounded(entries, place)
        schema[part] = core_schema.no_info_wrap_validator_function(_counted, cast("CoreSchema", entries))
    named = "List" if kind == "list" else "Dictionary"
    check = _at_most(schema["max_length"], named)
    return cast("dict[str, Any]", core_schema.no_info_before_validator_function(check, cast("CoreSchema", schema)))


class Bounded(BaseModel):
    """Takes exactly its fields, of exactly their types, each within a bound.

    A list or an object without `max_length` is a TypeError where the class is defined; a text without one gets 1,000
    characters.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _bound_fields(schema, cls.__name__)
        return schema

    @validator_of_model(mode="wrap")
    @classmethod
    def _within_bounds(cls, value: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        with _counting() as count:
            count.require_room()
            if isinstance(value, dict):
                cls._refuse_many_unknown(value)
            validated = count.validated(value, validate)
            # Entries after so many errors were left out, so this may not be the whole of what was sent.
            count.require_room()
            return validated

    @classmethod
    def _refuse_many_unknown(cls, value: Mapping[object, object]) -> None:
        known = {field.validation_alias or field.alias or name for name, field in cls.model_fields.items()}
        if len(value) <= len(known) + MOST_UNKNOWN and len(value.keys() - known) <= MOST_UNKNOWN:
            return
        unknown = [str(name) for name in value if name not in known]
        if len(unknown) > MOST_UNKNOWN:
            raise ValueError(f"There are {len(unknown):,} unknown fields, the first is `{unknown[0][:100]}`")

"""Values of any class by its type hints, the same on every run, and values as JSON."""

import dataclasses
import types
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from zlib import crc32

from pydantic import BaseModel, JsonValue

Made = TypeVar("Made")
_BEGIN: Final = datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)


Maker = Callable[..., Any]


def full(cls: type[Made], start: str = "full", **fixed: object) -> Made:
    """A value of the class in which every field has something, which depends on its name alone."""
    made: Made = _filled(cls, start, full, fixed)
    return made


def shallow(cls: type[Made], start: str = "shallow", **fixed: object) -> Made:
    """The same, but what is in its fields has little in its own."""
    return _filled(cls, start, bare, fixed)


def bare(cls: type[Made], start: str = "bare", **fixed: object) -> Made:
    """A value of the class in which only those fields have something that must."""
    hints = get_type_hints(cls)
    needed = {
        field.name: _least(hints[field.name], f"{start}-{field.name}")
        for field in _fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    return cls(**{**needed, **fixed})


def _filled(cls: type[Made], start: str, inner: Maker, fixed: Mapping[str, object]) -> Made:
    hints = get_type_hints(cls)
    names = [field.name for field in _fields(cls)]
    return cls(
        **{name: fixed[name] if name in fixed else _value(hints[name], f"{start}-{name}", inner) for name in names}
    )


def _fields(cls: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cls)


def _least(hint: Any, name: str) -> object:
    if type(None) in get_args(hint):
        return None
    return () if get_origin(hint) in (Sequence, tuple) else _value(hint, name, bare)


def _value(hint: Any, name: str, inner: Maker) -> Any:
    number, origin, arguments = crc32(name.encode()), get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _value(next(each for each in arguments if each is not type(None)), name, inner)
    if origin is Literal:
        # Not by its name: a later release may have more.
        return arguments[0]
    if origin in (Sequence, tuple):
        return (_value(arguments[0], f"{name}.0", inner), _value(arguments[0], f"{name}.1", inner))
    if origin in (Mapping, dict):
        return {_value(arguments[0], f"{name}.key", inner): _value(arguments[1], f"{name}.value", inner)}
    if dataclasses.is_dataclass(hint):
        return inner(hint, name)
    if issubclass(hint, BaseModel):
        fields = hint.model_fields.items()
        return hint(**{each: _value(field.annotation, f"{name}.{each}", inner) for each, field in fields})
    if issubclass(hint, tuple):
        return hint(*(_value(each, f"{name}.{part}", inner) for part, each in get_type_hints(hint).items()))
    plain: dict[type, object] = {
        str: name,
        int: number % 1_000 + 1,
        float: number % 1_000 / 1_000,
        bool: True,
        bytes: name.encode(),
        datetime: _BEGIN + timedelta(minutes=number % 500_000),
    }
    return plain[hint]


def as_json(value: object) -> JsonValue:
    """The value as JSON: classes as their compared and other fields, maps as pairs unless their keys are texts."""
    if dataclasses.is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    match value:
        case BaseModel():
            return {name: as_json(each) for name, each in value}
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat(timespec="milliseconds")
        case bytes():
            return {"base64": b64encode(value).decode()}
        case Mapping() if all(isinstance(key, str) for key in value):
            return {key: as_json(each) for key, each in value.items()}
        case Mapping():
            return [[as_json(key), as_json(each)] for key, each in value.items()]
        case Set():
            return [*sorted(map(str, value))]
        case Sequence():
            return [as_json(each) for each in value]
    raise TypeError(f"{type(value).__name__} is not stored")

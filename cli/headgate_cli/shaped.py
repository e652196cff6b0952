"""Answers with the types of `headgate_cli.shapes`: a field is checked against its type when it is read.

A server may be older or newer than the command line, so that only the fields that a command reads have to be right.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Final, TypeVar, cast

from headgate_cli.errors import Failed

T = TypeVar("T")

_ABSENT: Final = object()
_OPTIONAL: Final = "NotRequired["
_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "None": (type(None),),
    "object": (object,),
}


class _Annotated(type):
    def __call__(cls, name: str, fields: Mapping[str, str]) -> type:
        return type(name, (), {"__annotations__": dict(fields)})


class TypedDict(metaclass=_Annotated):
    """Stands for `typing.TypedDict` at run time: its classes have nothing but annotations."""


def shaped(shape: type[T], entity: Mapping[str, object]) -> T:
    """Give the answer its type. Reading a field that is absent or of another type raises Failed."""
    return cast("T", PlainAnswer(entity, shape))


def listed(shape: type[T], answer: Mapping[str, object], name: str = "items") -> list[T]:
    """Give the objects of an answer's list their type; an answer without the list has none."""
    entries = answer.get(name)
    return [shaped(shape, entry) for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def checked(value: T) -> T:
    """Read every field that an answer has, at any depth. Raises Failed for one of another type."""
    if isinstance(value, list):
        for entry in value:
            checked(entry)
    elif isinstance(value, Mapping):
        for name in value:
            checked(value[name])
    return value


class PlainAnswer(dict[str, object]):
    """An object of an answer. Written as JSON it is what the server sent.

    As a shape it is that of an answer whose fields are not known here.
    """

    def __init__(self, entity: Mapping[str, object], shape: type) -> None:
        super().__init__(entity)
        self._fields: Mapping[str, str] = shape.__annotations__

    def __getitem__(self, name: str) -> object:
        kind = self._fields.get(name, "object")
        value = super().get(name, _ABSENT)
        if value is _ABSENT:
            return _without(name, kind)
        return _read(value, kind, name)

    def get(self, name: str, default: object = None) -> object:
        return self[name] if name in self else default  # noqa: SIM401  `self[name]` checks the type, and `get` does not


def _without(name: str, kind: str) -> object:
    """Return what stands for a field that the server does not know yet. Raises Failed if nothing can."""
    choices = _choices(kind)
    if "None" in choices:
        return None
    if choices[0].startswith("list["):
        return []
    if choices[0].startswith("dict["):
        return {}
    raise Failed(f"the server's answer lacks the field {name}: server and command line may be of different versions")


def _read(value: object, kind: str, name: str) -> object:
    """Return the value with the types of what it contains. Raises Failed if it is of another type."""
    choices = _choices(kind)
    for choice in choices:
        if choice in _KINDS:
            if isinstance(value, _KINDS[choice]) and (choice in ("bool", "object") or not isinstance(value, bool)):
                return value
        elif choice.startswith("Literal["):
            # A newer server may have more of them.
            if isinstance(value, str if choice[len("Literal[")] in "'\"" else bool | int):
                return value
        elif choice.startswith("list["):
            if isinstance(value, list):
                return [_read(entry, choice[5:-1], name) for entry in value]
        elif choice.startswith("dict["):
            if isinstance(value, dict):
                return {key: _read(entry, choice[10:-1], name) for key, entry in value.items()}
        elif _shape(choice) is object:
            return value
        elif isinstance(value, dict):
            return PlainAnswer(value, _shape_of(value, [choice for choice in choices if choice not in _KINDS]))
    raise Failed(
        f"the field {name} of the server's answer is of another type: server and command line may be of different "
        f"versions"
    )


def _shape_of(value: Mapping[str, object], names: list[str]) -> type:
    """Return the first shape whose required fields are all there, else the first."""
    shapes = [_shape(name) for name in names]
    complete = (
        shape
        for shape in shapes
        if all(field in value or kind.startswith(_OPTIONAL) for field, kind in shape.__annotations__.items())
    )
    return next(complete, shapes[0])


@cache
def _shape(name: str) -> type:
    # It imports this module.
    shape = getattr(importlib.import_module("headgate_cli.shapes"), name)
    assert isinstance(shape, type)
    return shape


@cache
def _choices(kind: str) -> list[str]:
    """Split a type at the `|` that are outside of brackets."""
    kind = kind.removeprefix(_OPTIONAL)[:-1] if kind.startswith(_OPTIONAL) else kind
    choices, depth = [""], 0
    for part in kind.split(" | "):
        choices[-1] += f" | {part}" if depth else part
        depth += part.count("[") - part.count("]")
        if not depth:
            choices.append("")
    return choices[:-1]

"""The options `--skip` and `--attribute` of a test run: what it leaves out, and what it puts in the place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
Scalar = str | bool | int | float
Attribute = tuple[str, str, Scalar]
_FORM: Final = "ID:KEY=VALUE"


class _Attribute(click.ParamType[Attribute]):
    name = _FORM

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Attribute:
        left, separator, content = str(value).partition("=")
        typed = left.endswith(":")
        component, colon, key = left.removesuffix(":").rpartition(":")
        if not separator or not colon or not component or not key:
            self.fail(
                f"{value!r} does not have the form {_FORM}: for example k8sattributes:k8s.pod.name=web-1", param, ctx
            )
        return component, key, self._typed(content, param, ctx) if typed else content

    def _typed(self, content: str, param: click.Parameter | None, ctx: click.Context | None) -> Scalar:
        try:
            value = json.loads(content)
        except ValueError:
            value = None
        if not isinstance(value, str | bool | int | float):
            self.fail(f"{content!r} is not a JSON text, number or boolean: use = instead of := for a text", param, ctx)
        return value


def stand_ins(command: _Command) -> _Command:
    """Give a command both options; it gets `skip` and `attributes`."""
    skip = click.option(
        "--skip",
        multiple=True,
        metavar="ID",
        help="A processor that the run leaves out, such as one that needs a cluster. Repeatable.",
    )
    attribute = click.option(
        "--attribute",
        "attributes",
        multiple=True,
        type=_Attribute(),
        help="A resource attribute that the run sets in the place of the processor ID; KEY:=VALUE takes a JSON number "
        "or boolean. Repeatable.",
    )
    return skip(attribute(command))


def in_request(skip: Sequence[str], attributes: Sequence[Attribute]) -> dict[str, object]:
    """The fields `skip` and `attributes`; nothing without them, for a server that does not know a field refuses it."""
    by_component: dict[str, dict[str, Scalar]] = {}
    for component, key, value in attributes:
        by_component.setdefault(component, {})[key] = value
    given: dict[str, object] = {"skip": list(skip), "attributes": by_component}
    return {field: value for field, value in given.items() if value}

"""The options `--skip`, `--attribute` and `--output-pipeline`: what a test run leaves out, replaces and records."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, cast

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
Scalar = str | bool | int | float
Attribute = tuple[str, str, Scalar]
_FORM: Final = "ID:KEY=VALUE"
FIELDS: Final = ("output_pipelines", "skip", "attributes")
"""The fields of a request, and of a test, that say the same."""
_OUTPUTS, _SKIP, _ATTRIBUTES = FIELDS


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
    """Give a command these options. It gets what they say as `replaced`, the fields of a request that are given."""

    @wraps(command)
    def with_fields(*arguments: Any, **options: Any) -> Any:
        lists = {_OUTPUTS: options.pop(_OUTPUTS), _SKIP: options.pop(_SKIP)}
        by_component: dict[str, dict[str, Scalar]] = {}
        for component, key, value in options.pop(_ATTRIBUTES):
            by_component.setdefault(component, {})[key] = value
        # A server that does not know a field refuses it.
        fields = {_ATTRIBUTES: by_component, **{field: list(ids) for field, ids in lists.items()}}
        return command(*arguments, **options, replaced={field: value for field, value in fields.items() if value})

    outputs = click.option(
        "--output-pipeline",
        _OUTPUTS,
        multiple=True,
        metavar="PIPELINE",
        help="Record only what this pipeline exports, such as one that a routing connector feeds. Repeatable.",
    )
    skip = click.option(
        "--skip",
        _SKIP,
        multiple=True,
        metavar="ID",
        help="A processor that the run leaves out, such as one that needs a cluster. Repeatable.",
    )
    attribute = click.option(
        "--attribute",
        _ATTRIBUTES,
        multiple=True,
        type=_Attribute(),
        help="A resource attribute that the run sets in the place of the processor ID; KEY:=VALUE takes a JSON number "
        "or boolean. Repeatable.",
    )
    return outputs(skip(attribute(cast("_Command", with_fields))))

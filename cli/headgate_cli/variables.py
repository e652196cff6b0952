"""The option `--env NAME=VALUE`, and the field of a request that it becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import click

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Variable(click.ParamType[tuple[str, str]]):
    name = "NAME=VALUE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        variable, separator, content = str(value).partition("=")
        if not separator:
            self.fail(f"{value!r} has no =: write NAME=VALUE", param, ctx)
        if not _NAME.fullmatch(variable):
            self.fail(f"{variable!r} is not a variable name: use letters, digits and _, no digit first", param, ctx)
        return variable, content


def in_request(env: Sequence[tuple[str, str]]) -> dict[str, object]:
    """The field `env`; nothing without values."""
    return {"env": dict(env)} if env else {}


env = click.option("--env", multiple=True, type=_Variable(), help="A value for ${env:NAME}. Repeatable.")

"""The option `--env NAME=VALUE`."""

from __future__ import annotations

import re
from typing import Final

import click

_VARIABLE: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


class _Variable(click.ParamType[tuple[str, str]]):
    name = "NAME=VALUE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        found = _VARIABLE.fullmatch(str(value))
        if not found:
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        return found[1], found[2]


env = click.option("--env", multiple=True, type=_Variable(), help="A value for an ${env:NAME}; repeatable.")

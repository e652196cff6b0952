"""The type of options for collector versions, and the option `--feature-gate`."""

from __future__ import annotations

import re
from typing import Final

import click

# As the server takes it. A server's answer may hold a number of any length, and Python converts only short ones.
VERSION: Final = re.compile(r"(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){2}")


def age(version: str) -> tuple[int, ...]:
    """For sorting: the newest version is the greatest."""
    return tuple(int(part) for part in version.split("."))


class CollectorVersion(click.ParamType[str]):
    """`0.139.0`, or `v0.139.0` as the releases are tagged."""

    name = "X.Y.Z"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        version = str(value).removeprefix("v")
        if not VERSION.fullmatch(version):
            self.fail(f"{value!r} is not a collector version: use X.Y.Z, for example 0.139.0", param, ctx)
        return version


feature_gates = click.option(
    "--feature-gate",
    "feature_gates",
    multiple=True,
    metavar="[+-]NAME",
    help="Enable or disable a feature gate of the collector, as hosts run with it; may be repeated.",
)

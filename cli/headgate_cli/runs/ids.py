"""The id of a run, as an argument."""

from __future__ import annotations

import re
from typing import Final

import click

_RUN_ID: Final = re.compile("run_[0-7][0-9a-hjkmnp-tv-z]{25}")


class RunId(click.ParamType[str]):
    """The id that `test run` prints."""

    name = "run"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not _RUN_ID.fullmatch(value):
            self.fail(f"{value!r} is not a run id: use the one that `headgate test run` prints, run_...", param, ctx)
        return value

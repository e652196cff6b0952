"""Ids of the API: three letters for the kind, and 26 of Crockford's base32."""

from __future__ import annotations

import re
from typing import Final, Literal

import click

Kind = Literal["cfg", "flt", "dep", "ins", "rol", "whk", "cap", "dlv", "run", "org"]
_ID: Final = re.compile(r"([a-z]{3})_[0-7][0-9a-hjkmnp-tv-z]{25}")


def is_id(kind: Kind, text: str) -> bool:
    """True if the text has the form of an id of that kind: `flt_…` of a fleet."""
    match = _ID.fullmatch(text)
    return match is not None and match[1] == kind


class RunId(click.ParamType[str]):
    """The id that `test run` prints."""

    name = "run"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not is_id("run", value):
            self.fail(f"{value!r} is not a run id: use the one that `headgate test run` prints, run_...", param, ctx)
        return value

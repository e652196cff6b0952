"""The reference of settings: the stack's parameters from template.yaml, and the variables of programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from headgate_local import template
from headgate_local.options import CHOICES
from scripts.site.markdown import code, table

_HEAD: Final = """\
# Settings

## Parameters of the stack

`make deploy PARAMETERS="Name=value Name=value"` sets them ([operating](../operating.md)). For some, `make dev` takes a
variable.
"""
_LOCAL: Final = """\

## Variables of programs on a machine

Those of a host's supervisor are set with `--env` of an install ([installs](../installs.md)).
[Releasing](../releasing.md) lists the variables of the workflows that publish a release.
"""
_DEV: Final = "`make dev`, `headgate dev`"
# By name: who reads it, its default, its meaning.
VARIABLES: Final[Mapping[str, tuple[str, str, str]]] = {
    "HEADGATE_URL": ("`headgate`", "that of `headgate login`", "The server, such as `https://headgate.example.com`"),
    "SERVICE_API_TOKEN": ("`headgate`", "that of `headgate login`", "The API token"),
    "HEADGATE_READ_TOKEN": ("`headgate accept`", "none", "A token without write access, for more checks"),
    "HEADGATE_SECRET_": (
        "`headgate apply`",
        "none",
        "With a name after it, such as `HEADGATE_SECRET_API_KEY`: the value of that secret ([gitops](../gitops.md))",
    ),
    "HEADGATE_LOG_LEVEL": (_DEV, "`WARNING`", "How much it logs: `DEBUG`, `INFO`, `WARNING` or `ERROR`"),
    "HEADGATE_PORT": (_DEV, "`8300`", "The port that it listens on"),
    "HEADGATE_LISTEN": (_DEV, "`127.0.0.1`", "The address that it listens on"),
    "HEADGATE_DATA": (_DEV, "`~/.local/share/headgate`", "The folder of all data"),
    "HEADGATE_CACHE": ("`make`, `headgate`", "`~/.cache/headgate`", "The folder of built and fetched programs"),
    "HEADGATE_COLLECTORS_DIR": (
        "`make`, `headgate --local`",
        "`collectors` in `HEADGATE_CACHE`",
        "The folder of collectors, with a folder for each version",
    ),
    "HEADGATE_WEBHOOKS_TO_LOOPBACK": (
        _DEV,
        "`no`",
        "`yes` lets webhooks go to this machine ([webhooks](../webhooks.md))",
    ),
}


def page() -> str:
    """The parameters with defaults and meaning, and the variables."""
    ours = template.read()
    rows = [_row(name, ours.parameter(name), _variables()) for name in ours.parameters()]
    named = ([code(name), *cells] for name, cells in VARIABLES.items())
    return "\n".join(
        [
            _HEAD,
            *table(["Parameter", "Default", "Allowed", "Meaning", "Locally"], rows),
            _LOCAL,
            *table(["Variable", "Read by", "Default", "Meaning"], named),
        ]
    )


def _variables() -> Mapping[str, str]:
    """By parameter, the variable that `make dev` takes in its place."""
    text = template.PATH.read_text(encoding="utf-8")
    return {name: variable for variable, name in re.findall(r"(\w+): !Ref (\w+)", text) if variable in CHOICES}


def _row(name: str, definition: Mapping[str, object], variables: Mapping[str, str]) -> list[str]:
    default = definition.get("Default")
    shown = code(str(default)) if default not in (None, "") else "empty"
    meaning = str(definition["Description"]).replace("<", "&lt;")
    return [code(name), shown, _allowed(definition), meaning, code(variables[name]) if name in variables else ""]


def _allowed(definition: Mapping[str, object]) -> str:
    values = definition.get("AllowedValues")
    if isinstance(values, list):
        return ", ".join(code(str(value)) for value in values)
    bounds = [("at least", definition.get("MinValue")), ("at most", definition.get("MaxValue"))]
    message = ", ".join(f"{words} {value}" for words, value in bounds if value is not None)
    pattern = definition.get("AllowedPattern")
    return message or (f"like {code(str(pattern))}" if pattern else "")

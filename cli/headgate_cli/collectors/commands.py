"""`collector list`."""

from __future__ import annotations

from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.output import say, show_list
from headgate_cli.shapes import Capabilities, InstalledVersionOut
from headgate_cli.untrusted import one_line

_SOURCES: Final = {"built": "built", "official_release": "official release"}


@click.group(cls=CommandGroup)
def collector() -> None:
    """See which collector versions the server can ask.

    \b
    Examples:
      headgate collector list
    """


@collector.command("list")
@connected
def list_(api: Api, as_json: bool) -> None:
    """List the server's collector versions, newest first, with what each can do.

    Every version gives verdicts. LACKS counts the components of the official release that a reduced build does not
    have, and says when a version that is being built will be whole; --json names them.

    \b
    Examples:
      headgate collector list
      headgate collector list --json
    """
    versions = list(api.items(InstalledVersionOut, "/collector-versions"))
    show_list(
        versions,
        as_json,
        "The server has no collector",
        {
            "VERSION": lambda version: version["version"] + (" (default)" if version["default"] else ""),
            "SOURCE": lambda version: _SOURCES.get(version["source"] or "", "unusable"),
            "CAN DO": lambda version: _can(version["can"]),
            "LACKS": _lacks,
        },
    )
    for version in versions if not as_json else ():
        if version["unusable"]:
            say(f"{one_line(version['version'])} cannot be used: {one_line(version['unusable'])}")


def _lacks(version: InstalledVersionOut) -> str:
    lacking, seconds = len(version["lacks"]), version["whole_in_seconds"]
    whole = "" if seconds is None else f", whole in about {max(1, round(seconds / 60))} min"
    return f"{lacking} component{'' if lacking == 1 else 's'}{whole}" if lacking else ""


def _can(can: Capabilities) -> str:
    labels = {
        "lines": can["lines"],
        "lint": can["lint"],
        "test runs": can["runs"],
        "upgrade check": can["upgrade_check"],
    }
    return ", ".join(label for label, has in labels.items() if has)

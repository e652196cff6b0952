"""`collector list`."""

from __future__ import annotations

from typing import Final

import click

from headgate_cli.api import Api, Entity, entities, optional, text
from headgate_cli.command_group import Group
from headgate_cli.connection import connected
from headgate_cli.output import say, show_list
from headgate_cli.untrusted import one_line

_SOURCES: Final = {"built": "built", "official_release": "official release"}
# What each capability is called in the table, by its name in the API.
_CAPABILITIES: Final = {
    "lines": "lines",
    "lint": "lint",
    "runs": "test runs",
    "upgrade_check": "upgrade check",
}


@click.group(cls=Group)
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
    versions = list(api.items("/collector-versions"))
    show_list(
        versions,
        as_json,
        "The server has no collector",
        {
            "VERSION": lambda version: (
                text(version, "version") + (" (default)" if version.get("default") is True else "")
            ),
            "SOURCE": lambda version: _SOURCES.get(optional(version, "source"), "unusable"),
            "CAN DO": lambda version: _can(version),
            "LACKS": lambda version: _lacks(version),
        },
    )
    for version in versions if not as_json else ():
        if optional(version, "unusable"):
            say(f"{one_line(text(version, 'version'))} cannot be used: {one_line(optional(version, 'unusable'))}")


def _lacks(version: Entity) -> str:
    lacking = len(entities(version, "lacks"))
    seconds = version.get("whole_in_seconds")
    whole = f", whole in about {max(1, round(seconds / 60))} min" if isinstance(seconds, int) else ""
    return f"{lacking} component{'' if lacking == 1 else 's'}{whole}" if lacking else ""


def _can(version: Entity) -> str:
    capabilities = version.get("can")
    if not isinstance(capabilities, dict):
        return ""
    return ", ".join(label for name, label in _CAPABILITIES.items() if capabilities.get(name) is True)

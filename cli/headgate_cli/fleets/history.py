"""`deployment history`."""

from __future__ import annotations

import click

from headgate_cli.api import Api
from headgate_cli.configurations.names import named_version as _version
from headgate_cli.connection import connected, not_empty
from headgate_cli.fleets import lookup
from headgate_cli.output import minute, print_outcome, show_list
from headgate_cli.rollouts.lookup import reached
from headgate_cli.shapes import AssignedThenOut, GroupEventOut
from headgate_cli.untrusted import one_line


@click.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@click.option(
    "--at", metavar="TIME", callback=not_empty, help="Only what was assigned then, such as 2026-11-20T19:32:02Z."
)
@connected
def history(api: Api, fleet: str, group: str, at: str | None, as_json: bool) -> None:
    """Show who assigned what to a deployment group, when and why, newest first, for 90 days.

    GROUP may be the id of a deleted group.

    \b
    Examples:
      headgate deployment history servers Default
      headgate deployment history servers Default --at 2026-11-20T19:32:02Z
    """
    path = f"{lookup.group_path(api, fleet, group)}/history"
    if at is not None:
        _print_then(api.get(AssignedThenOut, path, at=at), as_json=as_json)
        return
    events = list(api.items(GroupEventOut, path))
    show_list(
        events,
        as_json,
        "Nothing was assigned in the last 90 days",
        {
            "TIME (UTC)": lambda event: minute(event["at"]),
            "EVENT": lambda event: event["event"],
            "ASSIGNED": lambda event: _version(event["assigned"]) + _variables(event),
            "REACH": lambda event: reached(event["reach"]) if event["reach"] else "",
            "BEFORE": lambda event: _version(event["before"]),
            "WHO": lambda event: event["by"]["name"],
            "WHY": lambda event: event["message"],
        },
    )


def _print_then(then: AssignedThenOut, *, as_json: bool) -> None:
    who = f", by {then['event']['by']['name']}" if then["event"] else ""
    assigned = _version(then["assigned"]) or "nothing"
    print_outcome(then, as_json, one_line(f"{assigned}, since {minute(then['since'])} UTC{who}"))


def _variables(event: GroupEventOut) -> str:
    """Returns the revision, empty if there is none or the server is older."""
    revision = event.get("variables_revision")
    return f", variables {revision}" if revision else ""

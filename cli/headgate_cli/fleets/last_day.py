"""`fleet states`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.fleets import lookup
from headgate_cli.fleets.states import STATES
from headgate_cli.output import counted, minute, print_json, print_result, sparkline, table
from headgate_cli.shapes import LastDayOut, VersionThenOut
from headgate_cli.untrusted import one_line

_NOTHING: Final = "nothing"
_HEADING: Final = ("OVER THE LAST DAY", "NOW", "MOST")


@click.command("states")
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP", required=False)
@connected
def last_day(api: Api, fleet: str, group: str | None, as_json: bool) -> None:
    """Show how a fleet's collectors stood over the last day, or a group's: by state, and by the version that ran.

    \b
    Examples:
      headgate fleet states edge
      headgate fleet states edge Default
    """
    path = lookup.group_path(api, fleet, group)
    day = api.get(LastDayOut, f"{path}/states")
    if as_json:
        print_json(day)
        return
    points = day["points"]
    by_state = [{state.replace("_", " "): n for state, n in point["states"].items()} for point in points]
    states = [state.replace("_", " ") for state in STATES]
    rows = _rows([state for state in states if any(state in counts for counts in by_state)], by_state)
    table(("STATE", *_HEADING), rows, nothing="No collector reported in the last day")
    if not rows:
        return
    by_version = [{_version(entry): entry["collectors"] for entry in point["versions"]} for point in points]
    names = dict.fromkeys(name for counts in by_version for name in counts)
    print_result("")
    table(("RUNS", *_HEADING), _rows([*names], by_version), nothing="No collector runs a version")
    left_out = f"; {day['left_out']} more that changed are left out" if day["left_out"] else ""
    span = f"{minute(points[0]['at'])} to {minute(points[-1]['at'])} UTC"
    print_result(f"{counted(day['collectors'], 'collector')}, {span}, from the events of their timelines{left_out}")


def _rows(names: Sequence[str], each: Sequence[Mapping[str, int]]) -> list[tuple[str, ...]]:
    """A row for each name; a time of which nothing is known is a space."""
    rows: list[tuple[str, ...]] = []
    for name in names:
        counts = [counts.get(name, 0) if counts else None for counts in each]
        most = max((count for count in counts if count is not None), default=0)
        rows.append((one_line(name), sparkline(counts), str(counts[-1] or 0), str(most)))
    return rows


def _version(entry: VersionThenOut) -> str:
    if entry["version_number"] is None:
        return _NOTHING
    return f"{entry['name'] or entry['configuration_id']} v{entry['version_number']}"

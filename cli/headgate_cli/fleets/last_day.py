"""`fleet states`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import click

from headgate_cli.api import Api, Entity, entities, number, optional, text
from headgate_cli.connection import as_json, connected
from headgate_cli.fleets import lookup
from headgate_cli.fleets.states import STATES
from headgate_cli.output import minute, print_json, print_result, sparkline, table
from headgate_cli.untrusted import one_line

_NOTHING: Final = "nothing"


@click.command("states")
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP", required=False)
@as_json
@connected
def last_day(api: Api, fleet: str, group: str | None, as_json: bool) -> None:
    """How a fleet's collectors stood over the last day, or a group's: by state, and by the version that ran.

    \b
    Examples:
      headgate fleet states edge
      headgate fleet states edge Default
    """
    fleet_id = lookup.fleet(api, fleet)
    path = f"/fleets/{fleet_id}"
    if group is not None:
        path += f"/deployments/{lookup.group(api, fleet_id, group)}"
    known = api.get(f"{path}/states")
    if as_json:
        print_json(known)
        return
    points = entities(known, "points")
    by_state = [_counts(point) for point in points]
    rows = _rows([state for state in STATES if any(state in counts for counts in by_state)], by_state)
    heading = ("OVER THE LAST DAY", "NOW", "MOST")
    table(("STATE", *heading), rows, nothing="No collector reported in the last day")
    if not rows:
        return
    by_version = [{_version(entry): number(entry, "collectors") for entry in entities(at, "versions")} for at in points]
    names = dict.fromkeys(name for counts in by_version for name in counts)
    print_result("")
    table(("RUNS", *heading), _rows([*names], by_version), nothing="No collector runs a version")
    left_out = f"; {known['left_out']} more that changed are left out" if known.get("left_out") else ""
    span = f"{minute(text(points[0], 'at'))} to {minute(text(points[-1], 'at'))} UTC"
    print_result(f"{number(known, 'collectors')} collectors, {span}, from the events of their timelines{left_out}")


def _rows(names: Sequence[str], counted: Sequence[Mapping[str, int]]) -> list[tuple[str, ...]]:
    """A row for each name; a time of which nothing is known is a space."""
    rows: list[tuple[str, ...]] = []
    for name in names:
        counts = [counts.get(name, 0) if counts else None for counts in counted]
        most = max((count for count in counts if count is not None), default=0)
        rows.append((one_line(name.replace("_", " ")), sparkline(counts), str(counts[-1] or 0), str(most)))
    return rows


def _counts(point: Entity) -> dict[str, int]:
    states = point.get("states")
    return {str(state): int(str(n)) for state, n in states.items()} if isinstance(states, dict) else {}


def _version(entry: Entity) -> str:
    if entry.get("version_number") is None:
        return _NOTHING
    return f"{optional(entry, 'name') or text(entry, 'configuration_id')} {entry['version_number']}"

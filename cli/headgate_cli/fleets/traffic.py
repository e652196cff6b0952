"""`fleet traffic`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast

import click

from headgate_cli.api import Api, Entity, entities, text
from headgate_cli.connection import as_json, connected
from headgate_cli.fleets import costs, lookup
from headgate_cli.output import minute, print_json, print_result, table

_SPAN: Final = re.compile(r"([1-9][0-9]{0,3})([mhd])")
_SECONDS: Final = {"m": 60, "h": 3_600, "d": 86_400}
_BARS: Final = "▁▂▃▄▅▆▇█"
_COLUMNS: Final = 24
_THOUSAND: Final = 1_000
_KINDS: Final = {"component": "COMPONENT", "pipeline": "PIPELINE", "host": "HOST", "none": "ALL"}


@click.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP", required=False)
@click.option(
    "--by",
    type=click.Choice(list(_KINDS)),
    default="pipeline",
    show_default=True,
    help="A line for each of these; `none` is one line for all.",
)
@click.option("--last", metavar="TIME", default="24h", show_default=True, help="How far back: 90m, 24h, 7d, 30d.")
@as_json
@connected
def traffic(api: Api, fleet: str, group: str | None, by: str, last: str, as_json: bool) -> None:
    """What flows through a fleet's collectors, or a group's: records taken, sent, failed and dropped.

    With prices (`headgate price set`), what sending cost follows, in whole days of UTC.

    \b
    Examples:
      headgate fleet traffic edge
      headgate fleet traffic edge Default --by component --last 7d
    """
    begin = datetime.now(UTC) - timedelta(seconds=_seconds(last))
    fleet_id = lookup.fleet(api, fleet)
    path = f"/fleets/{fleet_id}"
    if group is not None:
        path += f"/deployments/{lookup.group(api, fleet_id, group)}"
    found = api.get(f"{path}/series", **{"by": by, "from": begin.strftime("%Y-%m-%dT%H:%M:%SZ")})
    # The days of UTC that the time touches.
    days = (datetime.now(UTC).date() - begin.date()).days + 1
    if as_json:
        print_json(found)
        return
    lines = cast("list[Entity]", found["series"])
    rows = [_row(line, found) for line in lines]
    headings = (_KINDS[by], "TAKEN OVER TIME", "TAKEN", "SENT", "FAILED", "DROPPED", "BYTES OUT", "QUEUE")
    table(headings, rows, nothing=f"No collector counted anything in the last {last}")
    if rows:
        span = f"{minute(text(found, 'begin'))} to {minute(text(found, 'end'))} UTC"
        print_result(f"{span}; what is below {found['resolution']} s is spread evenly")
        known = api.get(f"{path}/costs", days=min(days, costs.MOST_DAYS))
        if entities(known, "exports"):
            print_result("")
            costs.show(known)


def _row(line: Entity, found: Entity) -> tuple[str, ...]:
    points = cast("list[Entity]", line["points"])
    of_exporter = line.get("kind") == "exporter"
    sums = {name: _sum(points, name) for name in ("accepted", "sent", "failed", "dropped", "sent_bytes")}
    measured = any(point.get("sent_bytes") is not None for point in points)
    drawn = _spark(points, "sent" if of_exporter else "accepted", found)
    queue = max((int(str(point["queue"])) for point in points), default=0)
    return (
        text(line, "name"),
        drawn,
        "" if of_exporter else short(sums["accepted"]),
        short(sums["sent"]),
        short(sums["failed"]),
        short(sums["dropped"]),
        short(sums["sent_bytes"]) if measured else "not measured",
        f"{queue} %",
    )


def _sum(points: Sequence[Entity], name: str) -> int:
    return sum(int(str(point[name])) for point in points if point.get(name) is not None)


def _spark(points: Sequence[Entity], name: str, found: Entity) -> str:
    """One character for each part of the time: a space where no host counted, else how much of the most."""
    begin, end = (datetime.fromisoformat(text(found, edge)).timestamp() for edge in ("begin", "end"))
    sums: list[int | None] = [None] * _COLUMNS
    for point in points:
        at = datetime.fromisoformat(text(point, "at")).timestamp()
        column = min(_COLUMNS - 1, max(0, int((at - begin) / max(1.0, end - begin) * _COLUMNS)))
        sums[column] = (sums[column] or 0) + int(str(point[name]))
    most = max((value for value in sums if value is not None), default=0) or 1
    return "".join(" " if value is None else _BARS[(len(_BARS) - 1) * value // most] for value in sums)


def short(number: int) -> str:
    """A number as people say it: 950, 1.2 K, 34 M."""
    size, power = float(number), 0
    while size >= _THOUSAND and power < len("KMGTP"):
        size, power = size / _THOUSAND, power + 1
    unit = " KMGTP"[power].strip()
    return f"{size:.1f} {unit}" if unit else str(number)


def _seconds(span: str) -> int:
    parts = _SPAN.fullmatch(span)
    if parts is None:
        raise click.BadParameter(f"{span!r} is not such as 90m, 24h or 7d", param_hint="--last")
    return int(parts[1]) * _SECONDS[parts[2]]

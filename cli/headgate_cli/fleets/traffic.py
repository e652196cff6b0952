"""`fleet traffic`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import click

from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.fleets import costs, lookup
from headgate_cli.output import minute, print_json, print_result, sparkline, table
from headgate_cli.shapes import CostsOut, LineOut, PointOut, SeriesOut

_SPAN: Final = re.compile(r"([1-9][0-9]{0,3})([mhd])")
_SECONDS: Final = {"m": 60, "h": 3_600, "d": 86_400}
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
@connected
def traffic(api: Api, fleet: str, group: str | None, by: str, last: str, as_json: bool) -> None:
    """Show what flows through a fleet's collectors, or a group's: records taken, sent, failed and dropped.

    With prices (`headgate price set`), what sending cost follows, in whole days of UTC.

    \b
    Examples:
      headgate fleet traffic edge
      headgate fleet traffic edge Default --by component --last 7d
    """
    begin = datetime.now(UTC) - timedelta(seconds=_seconds(last))
    path = lookup.group_path(api, fleet, group)
    asked = {"by": by, "from": begin.strftime("%Y-%m-%dT%H:%M:%SZ")}
    series = api.get(SeriesOut, f"{path}/series", **asked)
    # The days of UTC that the time touches.
    days = (datetime.now(UTC).date() - begin.date()).days + 1
    if as_json:
        print_json(series)
        return
    rows = [_row(line, series) for line in series["series"]]
    headings = (_KINDS[by], "TAKEN OVER TIME", "TAKEN", "SENT", "FAILED", "DROPPED", "BYTES OUT", "QUEUE")
    table(headings, rows, nothing=f"No collector counted anything in the last {last}")
    if rows:
        span = f"{minute(series['begin'])} to {minute(series['end'])} UTC"
        print_result(f"{span}; what is below {series['resolution']} s is spread evenly")
        known = api.get(CostsOut, f"{path}/costs", days=min(days, costs.MOST_DAYS))
        if known["exports"]:
            print_result("")
            costs.show(known)


def _row(line: LineOut, series: SeriesOut) -> tuple[str, ...]:
    points = line["points"]
    of_exporter = line["kind"] == "exporter"
    sent_bytes = [point["sent_bytes"] for point in points if point["sent_bytes"] is not None]
    drawn = _spark(points, "sent" if of_exporter else "accepted", series)
    queue = max((point["queue"] for point in points), default=0)
    return (
        line["name"],
        drawn,
        "" if of_exporter else short(sum(point["accepted"] for point in points)),
        short(sum(point["sent"] for point in points)),
        short(sum(point["failed"] for point in points)),
        short(sum(point["dropped"] for point in points)),
        short(sum(sent_bytes)) if sent_bytes else "not measured",
        f"{queue} %",
    )


def _spark(points: Sequence[PointOut], name: Literal["sent", "accepted"], series: SeriesOut) -> str:
    """One character for each part of the time: a space where no host counted, else how much of the most."""
    begin, end = (datetime.fromisoformat(edge).timestamp() for edge in (series["begin"], series["end"]))
    sums: list[int | None] = [None] * _COLUMNS
    for point in points:
        at = datetime.fromisoformat(point["at"]).timestamp()
        column = min(_COLUMNS - 1, max(0, int((at - begin) / max(1.0, end - begin) * _COLUMNS)))
        sums[column] = (sums[column] or 0) + point[name]
    return sparkline(sums)


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

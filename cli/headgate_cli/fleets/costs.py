"""`fleet costs`, and the costs below `fleet traffic`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.fleets import lookup
from headgate_cli.output import minute, print_outcome, print_result, table
from headgate_cli.shapes import CostsOut, ExportOut, PriceOut
from headgate_cli.untrusted import one_line

MOST_DAYS: Final = 31
_UNITS: Final = {"gigabyte": "GB", "million_records": "million records"}
_WHY_NOT: Final = {"no_price": "no price", "bytes_not_measured": "bytes not measured"}
_CENT: Final = 0.01


@click.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP", required=False)
@click.option(
    "--days", type=click.IntRange(1, MOST_DAYS), default=7, show_default=True, help="Days of UTC, today among them."
)
@connected
def costs(api: Api, fleet: str, group: str | None, days: int, as_json: bool) -> None:
    """Show what sending costs by day, at the prices of `headgate price set`.

    \b
    Examples:
      headgate fleet costs edge
      headgate fleet costs edge Default --days 31
    """
    path = lookup.group_path(api, fleet, group)
    known = api.get(CostsOut, f"{path}/costs", days=days)
    print_outcome(known, as_json, lambda: show(known))


def show(known: CostsOut) -> None:
    """The exporters with their costs, those of each day, and where the numbers come from."""
    exports = known["exports"]
    if not exports:
        print_result("Nothing was sent, or no price is set: see `headgate price set --help`")
        return
    currency = known["currency"]
    rows = [
        (
            one_line(f"{', '.join(export['pipelines'])} | {export['component']}"),
            export["host"] or "not known",
            _prices(export["prices"]),
            f"{sum(day['records'] for day in export['days']):,}",
            _bytes(export),
            _cost(export, currency),
        )
        for export in exports
    ]
    table(("EXPORTER", "SENDS TO", f"{currency} PER", "RECORDS", "BYTES", "COST"), rows, nothing="")
    by_day: dict[str, float] = {}
    for export in exports:
        for day in export["days"]:
            if day["cost"] is not None:
                at = day["at"][:10]
                by_day[at] = by_day.get(at, 0) + day["cost"]
    for at, cost in sorted(by_day.items()):
        print_result(f"{at}: {_money(cost, currency)}")
    span = f"{minute(known['begin'])} to {minute(known['end'])} UTC"
    left_out = f"; {known['left_out']} more groups or exporters are left out" if known["left_out"] else ""
    print_result(
        f"{_money(known['total'], currency)} from {span}, by what collectors counted in hours and where the "
        f"assigned versions send to{left_out}"
    )


def _prices(prices: Sequence[PriceOut]) -> str:
    return ", ".join(f"{price['amount']} {_UNITS.get(price['per'], '')}" for price in prices)


def _bytes(export: ExportOut) -> str:
    total = sum(day["bytes"] for day in export["days"])
    return f"{total:,}" if total else "not measured"


def _cost(export: ExportOut, currency: str) -> str:
    why = _WHY_NOT.get(export["unpriced"] or "", "")
    if export["cost"] is None:
        return why
    return _money(export["cost"], currency) + (f" without days of {why}" if why else "")


def _money(cost: float, currency: str) -> str:
    return f"{cost:,.2f} {currency}" if not cost or cost >= _CENT else f"{cost:.2g} {currency}"

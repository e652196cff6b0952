"""`fleet costs`, and the costs below `fleet traffic`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import click

from headgate_cli.api import Api, Entity, entities, optional, text
from headgate_cli.connection import as_json, connected
from headgate_cli.fleets import lookup
from headgate_cli.output import minute, print_json, print_result, table
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
@as_json
@connected
def costs(api: Api, fleet: str, group: str | None, days: int, as_json: bool) -> None:
    """What sending costs by day, at the prices of `headgate price set`.

    \b
    Examples:
      headgate fleet costs edge
      headgate fleet costs edge Default --days 31
    """
    fleet_id = lookup.fleet(api, fleet)
    path = f"/fleets/{fleet_id}"
    if group is not None:
        path += f"/deployments/{lookup.group(api, fleet_id, group)}"
    known = api.get(f"{path}/costs", days=days)
    if as_json:
        print_json(known)
        return
    if not entities(known, "exports"):
        print_result("Nothing was sent, or no price is set: see `headgate price set --help`")
        return
    show(known)


def show(known: Entity) -> None:
    """The exporters with their costs, those of each day, and where the numbers come from."""
    currency = text(known, "currency")
    exports = entities(known, "exports")
    rows = [
        (
            one_line(f"{', '.join(cast('list[str]', export['pipelines']))} | {text(export, 'component')}"),
            optional(export, "host") or "not known",
            _prices(entities(export, "prices")),
            f"{_sum(export, 'records'):,}",
            f"{_sum(export, 'bytes'):,}" if _sum(export, "bytes") else "not measured",
            _cost(export, currency),
        )
        for export in exports
    ]
    table(("EXPORTER", "SENDS TO", f"{currency} PER", "RECORDS", "BYTES", "COST"), rows, nothing="")
    by_day: dict[str, float] = {}
    for export in exports:
        for day in entities(export, "days"):
            if day.get("cost") is not None:
                at = text(day, "at")[:10]
                by_day[at] = by_day.get(at, 0) + _float(day, "cost")
    for at, cost in sorted(by_day.items()):
        print_result(f"{at}: {_money(cost, currency)}")
    span = f"{minute(text(known, 'begin'))} to {minute(text(known, 'end'))} UTC"
    left_out = f"; {known['left_out']} more groups or exporters are left out" if known.get("left_out") else ""
    print_result(
        f"{_money(_float(known, 'total'), currency)} from {span}, by what collectors counted in hours and where the "
        f"assigned versions send to{left_out}"
    )


def _prices(prices: Sequence[Entity]) -> str:
    return ", ".join(f"{text(price, 'amount')} {_UNITS.get(text(price, 'per'), '')}" for price in prices)


def _cost(export: Entity, currency: str) -> str:
    why = _WHY_NOT.get(optional(export, "unpriced"), "")
    if export.get("cost") is None:
        return why
    return _money(_float(export, "cost"), currency) + (f" without days of {why}" if why else "")


def _money(cost: float, currency: str) -> str:
    return f"{cost:,.2f} {currency}" if not cost or cost >= _CENT else f"{cost:.2g} {currency}"


def _sum(export: Entity, name: str) -> int:
    return sum(int(_float(day, name)) for day in entities(export, "days"))


def _float(known: Entity, name: str) -> float:
    value = known.get(name)
    return float(value) if isinstance(value, int | float) else 0.0

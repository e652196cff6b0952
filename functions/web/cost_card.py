"""The card of what sending costs: by day drawn, and by exporter and host as a table."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from headgate.fleets.prices import Price
from headgate.foundation.caller import Caller
from headgate.instances.series import service
from headgate.instances.series.costs import Costs, Export
from web import charts
from web.html import NOTHING, Html, html
from web.parts import home, moment
from web.table import Cell, Column, View, in_order, table

DAYS: Final = 7
_CENT: Final = Decimal("0.01")
_CARD: Final = """\
<div class="card" id="costs"><h2>What sending costs</h2>{chart}{table}
<p class="soft small last">{total} in {days} days{about}. Collectors counted what exporters sent, in hours; days are
those of UTC, today until now. Where an exporter sends to is what the assigned versions say.{left_out}
<a href="{home}/fleets/prices">Prices</a>{set}</p></div>"""
_COLUMNS: Final = (
    Column("Pipelines | exporter", "exporter", lambda export: (export.component, export.pipelines)),
    Column("Sends to", "to", lambda export: export.host or ""),
    Column("Price"),
    Column("Records", "sent_records", lambda export: sum(day.records for day in export.days), kind="number"),
    Column("Bytes", "sent_bytes", lambda export: sum(day.bytes for day in export.days), kind="number"),
    Column("Cost", "cost", lambda export: export.cost or 0, kind="number"),
)
_UNITS: Final = {"gigabyte": "a GB", "million_records": "a million records"}
_WHY_NOT: Final = {"no_price": "no price", "bytes_not_measured": "bytes are not measured"}


def card(caller: Caller, costs: Costs, view: View, about: str = "") -> Html:
    """Empty as long as the organization has set no price, or nothing was sent."""
    if not costs.exports:
        return NOTHING
    prices, currency = costs.prices, costs.prices.currency
    return html(
        _CARD,
        chart=_chart(costs),
        table=table(
            _COLUMNS,
            [_row(export, currency) for export in in_order(view, costs.exports, _COLUMNS)],
            view=view,
            anchor="costs",
        ),
        total=money(costs.total, currency),
        days=len(costs.starts),
        about=about,
        left_out=f" {costs.left_out} more groups or exporters are left out." if costs.left_out else "",
        home=home(caller),
        set=html(" of {by}, {at}.", by=prices.updated_by.name, at=moment(prices.updated_at))
        if prices.updated_by and prices.updated_at
        else NOTHING,
    )


def money(cost: Decimal, currency: str) -> str:
    """In hundredths; less than that with two digits."""
    return f"{cost:,.2f} {currency}" if not cost or cost >= _CENT else f"{float(cost):.2g} {currency}"


def price_in_words(price: Price, currency: str) -> str:
    return f"{price.amount} {currency} {_UNITS[price.per]}"


def _chart(costs: Costs) -> Html:
    known = [export for export in costs.exports if export.cost is not None]
    lines = []
    for export in known:
        by_day = {day.start: day.cost for day in export.days}
        values = [None if (cost := by_day.get(start)) is None else float(cost) for start in costs.starts]
        lines.append(charts.ChartLine(f"{export.component} to {export.host or 'any host'}", values))
    if not lines:
        return NOTHING
    times = [service.at(start).strftime("%Y-%m-%d") for start in costs.starts]
    return charts.area("Cost a day", lines, times, f" {costs.prices.currency}")


def _row(export: Export, currency: str) -> Sequence[Cell]:
    size = sum(day.bytes for day in export.days)
    cost = "" if export.cost is None else money(export.cost, currency)
    why = _WHY_NOT[export.unpriced] if export.unpriced else ""
    return (
        html("<code>{name}</code>", name=f"{', '.join(export.pipelines)} | {export.component}"),
        html("<code>{host}</code>", host=export.host) if export.host else "not known",
        ", ".join(price_in_words(price, currency) for price in export.prices),
        charts.short(sum(day.records for day in export.days)),
        charts.short(size) if size else "not measured",
        f"{cost}, not of all days: {why}" if cost and why else cost or why,
    )

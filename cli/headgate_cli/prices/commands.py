"""`price list`, `set` and `remove`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.output import counted, print_outcome, show_list
from headgate_cli.shapes import PriceOut, PricesOut
from headgate_cli.untrusted import one_line

_PATH: Final = "/fleets/prices"
_UNITS: Final = {"gigabyte": "GB", "million_records": "million records"}
_HOST: Final = click.option("--host", metavar="HOST", help="The host of its endpoint; without it, any host.")


@click.group(cls=CommandGroup)
def price() -> None:
    """See what it costs to send to a destination, and set it as an Admin.

    A destination is the type of an exporter and the host of its endpoint. `headgate fleet costs` has the costs by day.

    \b
    Examples:
      headgate price set otlphttp --host api.example.com --per-gb 0.25
      headgate price list
    """


@price.command("list")
@connected
def list_(api: Api, as_json: bool) -> None:
    """List the prices.

    \b
    Examples:
      headgate price list
    """
    known = api.get(PricesOut, _PATH)
    show_list(
        known["prices"],
        as_json,
        "No price is set: see `headgate price set --help`",
        {
            "EXPORTER": lambda price: price["exporter"],
            "HOST": lambda price: price["host"] or "any",
            "PRICE": lambda price: f"{price['amount']} {known['currency']}",
            "PER": lambda price: _UNITS.get(price["per"], price["per"]),
        },
        answer=known,
    )


@price.command("set")
@click.argument("exporter", metavar="EXPORTER")
@_HOST
@click.option("--per-gb", metavar="AMOUNT", help="What 1,000,000,000 bytes cost, such as 0.25.")
@click.option("--per-million", metavar="AMOUNT", help="What a million log records, spans or data points cost.")
@click.option("--currency", metavar="CODE", help="Of all prices, such as EUR; it stays as it is without this.")
@connected
def set_(
    api: Api,
    exporter: str,
    host: str | None,
    per_gb: str | None,
    per_million: str | None,
    currency: str | None,
    as_json: bool,
) -> None:
    """Set what exporters of a type pay; for Admins, signed in with `headgate login`.

    With --per-gb and --per-million both count.

    \b
    Examples:
      headgate price set otlphttp --host api.example.com --per-gb 0.25
      headgate price set datadog --per-gb 0.10 --per-million 1.70 --currency USD
    """
    amounts = {"gigabyte": per_gb, "million_records": per_million}
    added = [
        {"exporter": exporter, "host": host.lower() if host else None, "per": per, "amount": amount}
        for per, amount in amounts.items()
        if amount is not None
    ]
    if not added:
        raise click.UsageError("give --per-gb, --per-million or both")
    units = [price["per"] for price in added]
    known, etag = _known(api)
    rest = [price for price in known["prices"] if not (_is(price, exporter, host) and price["per"] in units)]
    _put(api, [*rest, *added], currency or known["currency"], etag, as_json=as_json)


@price.command()
@click.argument("exporter", metavar="EXPORTER")
@_HOST
@connected
def remove(api: Api, exporter: str, host: str | None, as_json: bool) -> None:
    """Remove the prices of a destination; for Admins, signed in with `headgate login`.

    \b
    Examples:
      headgate price remove otlphttp --host api.example.com
    """
    known, etag = _known(api)
    rest = [price for price in known["prices"] if not _is(price, exporter, host)]
    if len(rest) == len(known["prices"]):
        place = one_line(f"{exporter} to {host or 'any host'}")
        raise Failed(f"there is no price of {place}: `headgate price list` shows all")
    _put(api, rest, known["currency"], etag, as_json=as_json)


def _known(api: Api) -> tuple[PricesOut, str]:
    return api.get_with_etag(PricesOut, _PATH)


def _put(api: Api, prices: Sequence[Entity], currency: str, etag: str, *, as_json: bool) -> None:
    try:
        answer = api.put(PricesOut, _PATH, {"currency": currency, "prices": prices}, if_match=etag)
    except ServerError as error:
        if error.code == "prices_changed":
            raise Failed("somebody changed the prices at the same time: repeat the command") from error
        raise
    print_outcome(answer, as_json, f"{counted(len(answer['prices']), 'price')} in {answer['currency']}")


def _is(price: PriceOut, exporter: str, host: str | None) -> bool:
    return price["exporter"] == exporter and (price["host"] or "") == (host or "").lower()

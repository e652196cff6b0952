"""Prices: what an organization pays per gigabyte or million records at a destination. Any member reads, Admins set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from headgate.audit import service as audit
from headgate.fleets import store
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.principal import Principal
from headgate.storage.items import Item
from headgate.storage.retry import retried
from headgate.storage.stored import Stored

Unit = Literal["gigabyte", "million_records"]
UNITS: Final[dict[Unit, int]] = {"gigabyte": 1_000_000_000, "million_records": 1_000_000}
MOST: Final = 100
EXPORTER: Final = "^[A-Za-z][A-Za-z0-9_]{0,62}$"
HOST: Final = "^[a-z0-9]([a-z0-9._:-]{0,251}[a-z0-9])?$"
AMOUNT: Final = r"^(0|[1-9][0-9]{0,6})(\.[0-9]{1,6})?$"
CURRENCY: Final = "^[A-Z]{3}$"


class PricesChanged(errors.PreconditionFailed):
    """`If-Match` names an earlier state of the prices."""

    code = "prices_changed"

    def __init__(self, etag: str) -> None:
        super().__init__(f"The prices have changed since; their ETag is now {etag}")


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a unit that exporters of a type send to a host, None for any host. `amount` is a decimal number."""

    exporter: str
    host: str | None
    per: Unit
    amount: str

    def cost(self, number: int) -> Decimal:
        """The cost of so many bytes, or records."""
        return Decimal(self.amount) * number / UNITS[self.per]


@dataclass(frozen=True, slots=True)
class PriceList:
    """All prices of an organization; `revision` counts their changes and is 0 if none was ever set."""

    currency: str = "USD"
    prices: Sequence[Price] = ()
    revision: int = 0
    updated_at: datetime | None = None
    updated_by: Principal | None = None

    @property
    def etag(self) -> str:
        return f'"prices-{self.revision}"'

    def at(self, exporter: str, host: str | None) -> Sequence[Price]:
        """Those for a destination, one for each unit: that of its host, else that of any host."""
        chosen: dict[Unit, Price] = {}
        for price in self.prices:
            if price.exporter == exporter and price.host in (None, host):
                chosen[price.per] = price if price.host is not None else chosen.get(price.per, price)
        return [chosen[unit] for unit in UNITS if unit in chosen]


_PRICES: Final = Stored(PriceList)


def get(caller: Caller) -> PriceList:
    """One read."""
    return _of(caller.organization_id)


@retried
def change(caller: Caller, currency: str, prices: Sequence[Price], if_match: frozenset[str] | None) -> PriceList:
    """Replace all prices. Raises AdminRequired, PricesChanged."""
    caller.require_admin()
    before = _of(caller.organization_id)
    if if_match is not None and if_match.isdisjoint(("*", before.etag)):
        raise PricesChanged(before.etag)
    after = replace(
        before,
        currency=currency,
        prices=tuple(prices),
        revision=before.revision + 1,
        updated_at=clock.now(),
        updated_by=caller.principal,
    )
    record = audit.entry(caller, "prices.changed", "fleets/prices", currency=currency, prices=str(len(prices)))
    store.put_prices(caller.organization_id, _PRICES.item(after), before.revision, record)
    return after


def imported(item: Item) -> None:
    """Raises TypeError or ValueError unless an archive's prices are such as the API takes."""
    prices = _PRICES.read(item)
    if len(prices.prices) > MOST or not re.fullmatch(CURRENCY, prices.currency):
        raise ValueError("Prices of destinations: there are too many, or they have no currency")
    for price in prices.prices:
        fits = re.fullmatch(EXPORTER, price.exporter) and re.fullmatch(AMOUNT, price.amount) and price.per in UNITS
        if not fits or not (price.host is None or re.fullmatch(HOST, price.host)):
            raise ValueError("Prices of destinations: one of them is not a price")


def _of(organization_id: str) -> PriceList:
    item = store.prices(organization_id)
    return PriceList() if item is None else _PRICES.read(item)

"""The shapes of prices, and of what sending costs."""

from decimal import Decimal
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints, field_validator, model_validator

from fleets.api.series_wire import Moment
from headgate.fleets.prices import AMOUNT, CURRENCY, EXPORTER, HOST, MOST, Price, Unit
from headgate.http.wire import Answer, PrincipalOut, at
from headgate.instances.series.costs import Costs, Unpriced
from headgate.instances.series.model import HOUR
from headgate_engine.wire.inputs import Input
from headgate_engine.wire.times import Time

_DIGITS = 6


class PriceIn(Input):
    """The price of a unit that exporters of a type send to a host."""

    exporter: Annotated[str, StringConstraints(pattern=EXPORTER)] = Field(
        description="The type of the exporter", examples=["otlphttp"]
    )
    host: Annotated[str, StringConstraints(pattern=HOST)] | None = Field(
        default=None, description="The host of its endpoint; null for any that has no price of its own"
    )
    per: Unit = Field(description="A gigabyte is 1,000,000,000 bytes; log records, spans and data points are records")
    amount: Annotated[str, StringConstraints(pattern=AMOUNT)] = Field(
        description="A decimal number as text, so that it stays exact", examples=["0.25"]
    )

    @field_validator("host", mode="before")
    @classmethod
    def _in_small_letters(cls, host: object) -> object:
        return host.lower() if isinstance(host, str) else host

    def price(self) -> Price:
        return Price(self.exporter, self.host, self.per, self.amount)


class PutPrices(Input):
    """All prices of the organization: `PUT` replaces them."""

    currency: Annotated[str, StringConstraints(pattern=CURRENCY)] = Field(
        description="Three letters of ISO 4217, for all prices", examples=["USD"]
    )
    prices: list[PriceIn] = Field(max_length=MOST, description="One for each exporter, host and unit")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        seen = set()
        for price in self.prices:
            place = (price.exporter, price.host, price.per)
            if place in seen:
                raise ValueError(f"There are two prices per {price.per} of {price.exporter} to {price.host or 'any'}")
            seen.add(place)
        return self


class PriceOut(Answer):
    """A price as it was set."""

    exporter: str
    host: str | None
    per: Unit
    amount: str


class PricesOut(Answer):
    """The organization's prices. `updated_at` and `updated_by` are null as long as none was set."""

    currency: str
    prices: list[PriceOut]
    updated_at: Time | None
    updated_by: PrincipalOut | None


def _number(cost: Decimal | None) -> float | None:
    return None if cost is None else round(float(cost), _DIGITS)


Cost = Annotated[float | None, BeforeValidator(_number)]


class ExportDayOut(Answer):
    """The traffic of an exporter in a day."""

    at: Annotated[Moment, at("start")]
    records: int
    bytes: int
    cost: Cost


class ExportOut(Answer):
    """The traffic of an exporter to a host by day, and its cost at the organization's prices."""

    pipelines: list[str]
    component: str
    exporter: str
    host: str | None
    prices: list[PriceOut]
    unpriced: Unpriced | None
    cost: Cost
    days: list[ExportDayOut]


class CostsOut(Answer):
    """Costs by day. Without prices there are no exports."""

    begin: Moment
    end: Moment
    resolution: int
    currency: Annotated[str, at("prices", "currency")]
    total: Annotated[float, BeforeValidator(_number)]
    left_out: int
    exports: list[ExportOut]

    @classmethod
    def of_costs(cls, costs: Costs) -> Self:
        return cls.of(costs, resolution=HOUR)

"""The endpoints of prices, and of what sending costs."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import BeforeValidator, Field

from fleets.api.prices_wire import CostsOut, PricesOut, PutPrices
from fleets.api.routing import fleet_router
from headgate.fleets import prices
from headgate.http.credentials import Reader, SessionAdmin
from headgate.http.parameters import DeploymentId, FleetId, IfMatch, states, whole_number
from headgate.http.routing import recorded
from headgate.instances.series import costs

router = fleet_router()

Days = Annotated[
    Annotated[int, Field(ge=1, le=costs.MOST_DAYS)],
    BeforeValidator(whole_number),
    Query(description="How many days of UTC, today among them"),
]


@router.get("/prices")
def get_prices(caller: Reader, response: Response) -> PricesOut:
    """Show the organization's prices per gigabyte or million records, by exporter and host."""
    known = prices.get(caller)
    response.headers["ETag"] = known.etag
    return PricesOut.of(known)


@router.put("/prices", **recorded("prices.changed", 412))
def put_prices(body: PutPrices, caller: SessionAdmin, response: Response, if_match: IfMatch = None) -> PricesOut:
    """Replace all prices; a session of an Admin only. They count for all days, also for those that are over."""
    tags = states(if_match)
    saved = prices.change(caller, body.currency, [price.price() for price in body.prices], tags)
    response.headers["ETag"] = saved.etag
    return PricesOut.of(saved)


@router.get("/{fleet_id}/costs")
def get_fleet_costs(fleet_id: FleetId, caller: Reader, days: Days = 7) -> CostsOut:
    """Compute the costs of sending by day and exporter: the sums of the fleet's groups, up to twenty of them."""
    return CostsOut.of_costs(costs.of_fleet(caller, fleet_id, days))


@router.get("/{fleet_id}/deployments/{deployment_id}/costs")
def get_group_costs(fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader, days: Days = 7) -> CostsOut:
    """Compute a group's costs of sending by day and exporter.

    Records and bytes are what the group's collectors counted, in hours; the host is what the versions say that the
    group was assigned then. Nothing is listed as long as no price is set.
    """
    return CostsOut.of_costs(costs.of_group(caller, fleet_id, deployment_id, days))

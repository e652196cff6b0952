"""The endpoints of numbers over time."""

from datetime import datetime
from typing import Annotated, Final

from fastapi import Query
from pydantic import BeforeValidator, Field

from fleets.api.routing import fleet_router
from fleets.api.series_wire import LastDayOut, SeriesOut
from headgate.http.credentials import Reader
from headgate.http.parameters import DeploymentId, FleetId, InstanceId, moment, whole_number
from headgate.instances.series import service
from headgate.instances.series.service import By, Range
from headgate.instances.timeline import day

router = fleet_router()

_A_DAY_AGO: Final = "From this time on; a day before `to` if it is left out"
From = Annotated[datetime | None, BeforeValidator(moment), Query(alias="from", description=_A_DAY_AGO)]
To = Annotated[datetime | None, BeforeValidator(moment), Query(description="Up to this time; now if it is left out")]
Step = Annotated[
    Annotated[int, Field(ge=60, le=86_400)] | None,
    BeforeValidator(whole_number),
    Query(description="Seconds of each point, a multiple of 60, or of 300 for a host; chosen for a chart if left out"),
]
Split = Annotated[By, Query(description="One series for all, or one for each of these")]


@router.get("/{fleet_id}/series")
def get_fleet_series(
    fleet_id: FleetId, caller: Reader, begin: From = None, to: To = None, step: Step = None, by: Split = "none"
) -> SeriesOut:
    """Read the traffic of the fleet's collectors over time: the sums of its groups, up to a hundred of them."""
    return SeriesOut.of_series(service.of_fleet(caller, fleet_id, Range.of(begin, to, step, of_host=by == "host"), by))


@router.get("/{fleet_id}/deployments/{deployment_id}/series")
def get_group_series(
    fleet_id: FleetId,
    deployment_id: DeploymentId,
    caller: Reader,
    begin: From = None,
    to: To = None,
    step: Step = None,
    by: Split = "none",
) -> SeriesOut:
    """Read the traffic of a group's collectors over time.

    Minutes are kept for 7 days, hours for 90 days, and by host five minutes for a day. At most 1,500 points a series,
    10,000 in all and 50 series: the smallest series beyond that are one, `other`.
    """
    asked = Range.of(begin, to, step, of_host=by == "host")
    return SeriesOut.of_series(service.of_group(caller, fleet_id, deployment_id, asked, by))


@router.get("/{fleet_id}/instances/{instance_id}/series")
def get_instance_series(
    fleet_id: FleetId, instance_id: InstanceId, caller: Reader, begin: From = None, to: To = None, step: Step = None
) -> SeriesOut:
    """Read the traffic of one collector over the last day, in steps of five minutes or more."""
    asked = Range.of(begin, to, step, of_host=True)
    return SeriesOut.of_series(service.of_host(caller, fleet_id, instance_id, asked))


@router.get("/{fleet_id}/states")
def get_fleet_states(fleet_id: FleetId, caller: Reader) -> LastDayOut:
    """Count the fleet's collectors by state and by version over the last day, every half an hour.

    It follows from the events of their timelines. If more than 50 collectors changed in that time, the first
    50 by id are counted.
    """
    return LastDayOut.of_day(day.of_fleet(caller, fleet_id))


@router.get("/{fleet_id}/deployments/{deployment_id}/states")
def get_group_states(fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader) -> LastDayOut:
    """The same of the collectors that are in the group now."""
    return LastDayOut.of_day(day.of_group(caller, fleet_id, deployment_id))

"""The endpoints of observed collectors: what they run, who runs the same, what is wrong with it, how to adopt it."""

from typing import Annotated, Any, Final

from fastapi import Query, Response

from fleets.api import reported_findings
from fleets.api.observed_wire import (
    AdoptionOut,
    FindingsOut,
    FleetFindingsOut,
    InventoryOut,
    ReportedConfigurationOut,
    SharedConfigurationOut,
    SharedConfigurationsOut,
)
from fleets.api.routing import fleet_router
from headgate.http.credentials import Reader
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import FleetId, InstanceId
from headgate.instances import observed
from headgate.instances import service as instances
from headgate_engine.wire.inputs import CollectorVersion

router = fleet_router()

MOST_SHARED: Final = 200
_CSV: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The collectors", "content": {"text/csv": {"schema": {"type": "string"}}}},
}
Sha256 = Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$", description="An earlier text by its SHA-256")]
To = Annotated[CollectorVersion | None, Query(description="Also say what moving to this collector version changes")]

Collector = Annotated[
    str | None,
    Query(
        max_length=255,
        description="One of the collectors that a Kubernetes bridge reports, by its namespace and name",
        examples=["shop/gateway"],
    ),
]


@router.get("/{fleet_id}/inventory")
def list_inventory(fleet_id: FleetId, caller: Reader, paging: Paging) -> Page[InventoryOut]:
    """List the fleet's collectors by the time of their first start, with the components that they use."""
    return paging.page(instances.instances(caller, fleet_id, paging.limit, paging.after), InventoryOut.of_seen)


@router.get("/{fleet_id}/inventory.csv", response_class=Response, responses=_CSV)
def export_inventory(fleet_id: FleetId, caller: Reader) -> Response:
    """The same as CSV, all collectors of the fleet. A text that a program would take for a formula begins with `'`."""
    headers = {"Content-Disposition": f'attachment; filename="{fleet_id}.csv"', "X-Content-Type-Options": "nosniff"}
    return Response(observed.inventory(caller, fleet_id), media_type="text/csv", headers=headers)


@router.get("/{fleet_id}/configurations")
def list_reported_configurations(fleet_id: FleetId, caller: Reader) -> SharedConfigurationsOut:
    """Group the collectors of an observed fleet by the configuration that they report, up to 200 configurations."""
    groups = observed.shared(caller, fleet_id)
    items = [SharedConfigurationOut.of(group) for group in groups[:MOST_SHARED]]
    return SharedConfigurationsOut(items=items, left_out=max(0, len(groups) - MOST_SHARED))


@router.get("/{fleet_id}/instances/{instance_id}/configuration")
def get_reported_configuration(
    fleet_id: FleetId, instance_id: InstanceId, caller: Reader, sha256: Sha256 = None
) -> ReportedConfigurationOut:
    """The configuration that an observed collector reports to run, without secrets, and what changed in it last.

    404 `no_configuration_reported` says why there is none.
    """
    return ReportedConfigurationOut.of(observed.configuration(caller, fleet_id, instance_id, sha256))


@router.get("/{fleet_id}/instances/{instance_id}/findings", response_model_exclude_unset=True)
def get_reported_findings(
    fleet_id: FleetId, instance_id: InstanceId, caller: Reader, to: To = None, collector: Collector = None
) -> FindingsOut:
    """Check the configuration that an observed collector reports: verdict, OTTL and policies.

    The collector of the host's version is asked, else the nearest one that is installed here. With `to`, the answer
    also says what moving to that version changes.
    """
    return reported_findings.of_host(caller, fleet_id, instance_id, to, collector)


@router.get("/{fleet_id}/findings")
def list_fleet_findings(fleet_id: FleetId, caller: Reader, to: To = None) -> FleetFindingsOut:
    """List what is wrong with the configurations of an observed fleet, each finding once, with the hosts that have it.

    Up to 20 configurations are checked, those of most hosts first, as `findings` of a host does.
    """
    return reported_findings.of_fleet(caller, fleet_id, to)


@router.get("/{fleet_id}/instances/{instance_id}/adoption")
def get_adoption(
    fleet_id: FleetId, instance_id: InstanceId, caller: Reader, collector: Collector = None
) -> AdoptionOut:
    """Propose a configuration with which Headgate would manage an observed collector. Nothing is saved."""
    return AdoptionOut.of(reported_findings.adoption(caller, fleet_id, instance_id, collector))

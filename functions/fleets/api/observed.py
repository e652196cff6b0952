"""The endpoints of observed collectors: what they run, who runs the same, what is wrong with it, how to adopt it."""

from typing import Annotated, Any, Final

from fastapi import Query, Response

from fleets.api.observed_wire import (
    AdoptionOut,
    FindingsOut,
    InventoryOut,
    ReportedConfigurationOut,
    SharedConfigurationOut,
    SharedConfigurationsOut,
)
from fleets.api.routing import fleet_router
from headgate.checker import Asker, collector_versions
from headgate.http.credentials import Reader
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import FleetId, InstanceId
from headgate.identity import checks
from headgate.instances import adopting, observed
from headgate.instances import service as instances
from headgate.policies import checking
from headgate_engine.upgrades import service as upgrades
from headgate_engine.upgrades.service import UpgradedText
from headgate_engine.validation.checking import CheckRequest, Parts
from headgate_engine.wire.checks import ValidationResult
from headgate_engine.wire.inputs import CollectorVersion
from headgate_engine.wire.upgrades import UpgradeReport

router = fleet_router()

MOST_SHARED: Final = 200
_CSV: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The collectors", "content": {"text/csv": {"schema": {"type": "string"}}}},
}
Sha256 = Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$", description="An earlier text by its SHA-256")]
To = Annotated[CollectorVersion | None, Query(description="Also say what moving to this collector version changes")]


@router.get("/{fleet_id}/inventory")
def list_inventory(fleet_id: FleetId, caller: Reader, paging: Paging) -> Page[InventoryOut]:
    """List the fleet's collectors by the time of their first start, with the components that they use."""
    return paging.page(instances.instances(caller, fleet_id, paging.limit, paging.after), InventoryOut.of_seen)


@router.get("/{fleet_id}/inventory.csv", response_class=Response, responses=_CSV)
def export_inventory(fleet_id: FleetId, caller: Reader) -> Response:
    """The same as CSV, all collectors of the fleet. A text that a program would take for a formula begins with `'`."""
    headers = {"Content-Disposition": f'attachment; filename="{fleet_id}.csv"', "X-Content-Type-Options": "nosniff"}
    return Response(observed.inventory(caller, fleet_id), media_type="text/csv", headers=headers)


@router.get("/{fleet_id}/configurations", operation_id="listReportedConfigurations")
def list_configurations(fleet_id: FleetId, caller: Reader) -> SharedConfigurationsOut:
    """Group the collectors of an observed fleet by the configuration that they report, up to 200 configurations."""
    groups = observed.shared(caller, fleet_id)
    items = [SharedConfigurationOut.of_group(group) for group in groups[:MOST_SHARED]]
    return SharedConfigurationsOut(items=items, left_out=max(0, len(groups) - MOST_SHARED))


@router.get("/{fleet_id}/instances/{instance_id}/configuration", operation_id="getReportedConfiguration")
def get_configuration(
    fleet_id: FleetId, instance_id: InstanceId, caller: Reader, sha256: Sha256 = None
) -> ReportedConfigurationOut:
    """The configuration that an observed collector reports to run, without secrets, and what changed in it last.

    404 `no_configuration_reported` says why there is none.
    """
    return ReportedConfigurationOut.of_shown(observed.configuration(caller, fleet_id, instance_id, sha256))


@router.get("/{fleet_id}/instances/{instance_id}/findings", operation_id="getReportedFindings")
def get_findings(fleet_id: FleetId, instance_id: InstanceId, caller: Reader, to: To = None) -> FindingsOut:
    """Check the configuration that an observed collector reports: verdict, OTTL and policies.

    The collector of the host's version is asked, else the nearest one that is installed here. With `to`, the answer
    also says what moving to that version changes.
    """
    with checks.under_way(caller):
        proposed = adopting.adoption(caller, fleet_id, instance_id)
        reported = proposed.seen.instance.reported.description.collector_version
        version = collector_versions.nearest(reported, asker=Asker.of(caller))
        request = CheckRequest(yaml=proposed.yaml, version=version, env={})
        result = ValidationResult.of(checking.check(caller, request, Parts(lint=True, policies=True)))
        upgrade = None
        if to is not None:
            text = UpgradedText(proposed.yaml, {}, ("query", "to"), version)
            upgrade = UpgradeReport.of(upgrades.check(text, to, version, asker=Asker.of(caller)))
    return FindingsOut(
        version=version,
        reported_version=reported,
        exact=version == reported,
        yaml=proposed.yaml,
        result=result,
        upgrade=upgrade,
    )


@router.get("/{fleet_id}/instances/{instance_id}/adoption")
def get_adoption(fleet_id: FleetId, instance_id: InstanceId, caller: Reader) -> AdoptionOut:
    """Propose a configuration with which Headgate would manage an observed collector. Nothing is saved."""
    return AdoptionOut.of_adoption(adopting.adoption(caller, fleet_id, instance_id))

"""The endpoints of fleets, and of the commands that install into them."""

from fastapi import Request, Response

from fleets.api.filters import ByName
from fleets.api.routing import fleet_router
from fleets.api.wire import CreateFleet, FleetOut, InstallOut, InstallRequest, ObserveOut, ObserveRequest, RenewToken
from headgate.deployments import service as deployments
from headgate.deployments.model import DeploymentNotFound
from headgate.fleets import service as fleets
from headgate.http.auditing import add_details, audited
from headgate.http.credentials import Reader, SessionAdmin, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import FleetId
from headgate.http.paths import PUBLIC
from headgate.http.problems import documented
from headgate.http.routing import application_router
from headgate.http.wire import ids_in_body
from headgate.installs import observing
from headgate.installs import service as installs
from headgate.instances import deletion
from headgate.instances.counting import fleets as counting

router = fleet_router()
by_hand = application_router()


@router.get("")
def list_fleets(caller: Reader, paging: Paging, name: ByName = None) -> Page[FleetOut]:
    """The organization's fleets, newest first; with `name`, the one that has exactly this label, if there is one."""
    return paging.page(counting.fleets(caller, paging.limit, paging.after, name), FleetOut.counted)


@router.post("", status_code=201, responses=documented(409), openapi_extra=audited("fleet.created"))
def create_fleet(body: CreateFleet, caller: Writer, response: Response) -> FleetOut:
    """Create a fleet and issue its token, which is not returned. A server or an observed fleet has a Default group."""
    fleet = deployments.create_fleet(caller, body.label, body.type, body.expires_in, body.managed_by, body.mode)
    response.headers["Location"] = f"{PUBLIC}/fleets/{fleet.id}"
    return FleetOut.of_fleet(fleet)


@router.get("/{fleet_id}")
def get_fleet(fleet_id: FleetId, caller: Reader) -> FleetOut:
    """One fleet."""
    return FleetOut.counted(counting.fleet(caller, fleet_id))


@router.delete("/{fleet_id}", status_code=204, responses=documented(409), openapi_extra=audited("fleet.deleted"))
def delete_fleet(fleet_id: FleetId, caller: Writer, request: Request) -> None:
    """Delete a fleet with its tokens. 409 if it has other groups than Default or a rollout, or a collector reports."""
    add_details(request, {"name": deletion.delete_fleet(caller, fleet_id).label})


@router.post(
    "/{fleet_id}/install",
    operation_id="composeInstall",
    responses=documented(409),
    openapi_extra=audited("install.composed"),
)
def install(fleet_id: FleetId, body: InstallRequest, caller: Writer) -> InstallOut:
    """Compose the command that makes a host or a cluster join a deployment group."""
    with ids_in_body(deployment_id=DeploymentNotFound):
        return InstallOut.of_install(body.platform, installs.compose(caller, fleet_id, body.options()))


@router.post(
    "/{fleet_id}/observe",
    operation_id="composeObserving",
    responses=documented(409),
    openapi_extra=audited("install.composed"),
)
def observe(fleet_id: FleetId, body: ObserveRequest, caller: Writer) -> ObserveOut:
    """Compose what makes a collector that others installed report to an observed fleet."""
    return ObserveOut.of(observing.compose(caller, fleet_id, body.client), client=body.client)


@by_hand.post("/fleets/{fleet_id}/token", openapi_extra=audited("fleet.token_renewed"))
def renew_token(fleet_id: FleetId, body: RenewToken, caller: SessionAdmin) -> FleetOut:
    """Issue the fleet's next token, which install commands contain from now on. With grace `none`, all others end."""
    return FleetOut.of_fleet(fleets.renew_token(caller, fleet_id, body.grace))

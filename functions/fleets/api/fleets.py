"""The endpoints of fleets, and of the commands that install into them."""

from dataclasses import replace

from fastapi import Request, Response

from fleets.api.filters import ByName
from fleets.api.routing import fleet_router
from fleets.api.wire import (
    CreateFleet,
    FleetOut,
    InstallOut,
    InstallRequest,
    ModeCheckOut,
    ObserveOut,
    ObserveRequest,
    PutMode,
    RenewToken,
    TokenStatusOut,
)
from headgate.deployments import modes
from headgate.deployments import service as deployments
from headgate.deployments.model import DeploymentNotFound
from headgate.fleets import service as fleets
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, SessionAdmin, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import FleetId
from headgate.http.paths import PUBLIC
from headgate.http.routing import ONCE, application_router, recorded
from headgate.http.wire import ids_in_body
from headgate.installs import observing
from headgate.installs import service as installs
from headgate.instances import deletion, mode_preview, token_status
from headgate.instances.counting import fleets as counting

router = fleet_router()
by_hand = application_router()


@router.get("")
def list_fleets(caller: Reader, paging: Paging, name: ByName = None) -> Page[FleetOut]:
    """The organization's fleets, newest first; with `name`, the one that has exactly this label, if there is one."""
    return paging.page(counting.fleets(caller, paging.limit, paging.after, name), FleetOut.counted)


@router.post("", status_code=201, **recorded("fleet.created", 409))
def create_fleet(body: CreateFleet, caller: Writer, request: Request, response: Response) -> FleetOut:
    """Create a fleet and issue its token, which is not returned. A server or an observed fleet has a Default group."""
    fleet = deployments.create_fleet(caller, body.label, body.type, body.expires_in, body.managed_by, body.mode)
    add_details(request, {"name": fleet.label})
    response.headers["Location"] = f"{PUBLIC}/fleets/{fleet.id}"
    return FleetOut.of_fleet(fleet)


@router.get("/{fleet_id}")
def get_fleet(fleet_id: FleetId, caller: Reader) -> FleetOut:
    """One fleet."""
    return FleetOut.counted(counting.fleet(caller, fleet_id))


@router.delete("/{fleet_id}", status_code=204, **recorded("fleet.deleted", 409))
def delete_fleet(fleet_id: FleetId, caller: Writer, request: Request) -> None:
    """Delete a fleet with its tokens. 409 if it has other groups than Default or a rollout, or a collector reports."""
    add_details(request, {"name": deletion.delete_fleet(caller, fleet_id).label})


@router.post("/{fleet_id}/install", **recorded("install.composed", 409))
def compose_install(fleet_id: FleetId, body: InstallRequest, caller: Writer) -> InstallOut:
    """Compose the command that makes a host or a cluster join a deployment group."""
    with ids_in_body(deployment_id=DeploymentNotFound):
        return InstallOut.of_install(body.platform, installs.compose(caller, fleet_id, body.options()))


@router.post("/{fleet_id}/observe", **recorded("install.composed", 409))
def compose_observing(fleet_id: FleetId, body: ObserveRequest, caller: Writer) -> ObserveOut:
    """Compose what makes a collector that others installed report to an observed fleet."""
    return ObserveOut.of(observing.compose(caller, fleet_id, body.client, body.transport), client=body.client)


@router.post("/{fleet_id}/mode-check")
def check_fleet_mode(fleet_id: FleetId, body: PutMode, caller: Reader) -> ModeCheckOut:
    """Say what changing a fleet's mode would mean for its collectors, and what is kept. Nothing is changed."""
    return ModeCheckOut.of(mode_preview.check(caller, fleet_id, body.mode))


@router.put("/{fleet_id}/mode", **recorded("fleet.mode_changed", 409))
def put_fleet_mode(fleet_id: FleetId, body: PutMode, caller: Writer) -> FleetOut:
    """Let Headgate configure the collectors of an observed fleet, or observe those of a fleet that runs nothing yet.

    Nothing is sent by it: collectors go on with what they have until a rollout reaches them. 409
    `mode_not_changeable` says what stands against it.
    """
    # Read first, so that a read that fails leaves nothing changed.
    counted = counting.fleet(caller, fleet_id)
    return FleetOut.counted(replace(counted, fleet=modes.change(caller, fleet_id, body.mode)))


@router.get("/{fleet_id}/token")
def get_fleet_token(fleet_id: FleetId, caller: Reader) -> TokenStatusOut:
    """List hosts that still use a former token of the fleet, and count those with the present one."""
    return TokenStatusOut.of(token_status.of_fleet(caller, fleet_id))


@by_hand.post("/fleets/{fleet_id}/token", **recorded("fleet.token_renewed"))
@router.post("/{fleet_id}/token", **recorded("fleet.token_renewed", 409, marks=ONCE))
def renew_fleet_token(fleet_id: FleetId, body: RenewToken, caller: SessionAdmin) -> FleetOut:
    """Issue the fleet's next token, which install commands contain from now on. Sessions of Admins only.

    Hosts that sign their messages take it by themselves before the previous one ends; `GET …/token` lists the others.
    With grace `none`, all others end at once.
    """
    return FleetOut.of_fleet(fleets.renew_token(caller, fleet_id, body.grace))

"""The endpoints of captures: samples of what passes a component of a host's collector."""

from typing import Final

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from fleets.api.captures_wire import CaptureOut, PutCaptures, RedactionOut, RedactionSettings, StartCapture
from fleets.api.deployments_wire import DeploymentOut
from fleets.api.routing import fleet_router
from headgate.captures import service as captures
from headgate.deployments.model import DeploymentNotFound
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, SessionAdmin, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import CaptureId, DeploymentId, FleetId
from headgate.http.paths import PUBLIC
from headgate.http.routing import recorded
from headgate.http.wire import ids_in_body
from headgate.identity import checks
from headgate.instances.counting import fleets as counting
from headgate.instances.model import InstanceNotFound

router = fleet_router()

_ALL: Final = "/{fleet_id}/captures"
_ONE: Final = f"{_ALL}/{{capture_id}}"


@router.get("/capture-redaction")
def get_capture_redaction(caller: Reader) -> RedactionOut:
    """Show the redaction that hosts of the organization apply to samples before anything leaves them."""
    return RedactionOut.of(captures.redaction(caller))


@router.put("/capture-redaction", **recorded("captures.redaction_changed"))
def put_capture_redaction(body: RedactionSettings, caller: SessionAdmin) -> RedactionOut:
    """Replace it, for captures that are started from now on; a session of an Admin only."""
    with checks.under_way(caller, asked=bool(body.patterns)):
        return RedactionOut.of(captures.change_redaction(caller, body.redaction()))


@router.put("/{fleet_id}/deployments/{deployment_id}/captures", **recorded("deployment.captures_changed"))
def allow_captures(
    fleet_id: FleetId, deployment_id: DeploymentId, body: PutCaptures, caller: SessionAdmin
) -> DeploymentOut:
    """Allow captures in a group, or forbid them, which ends those under way; a session of an Admin only."""
    counters = counting.before_change(caller, fleet_id, deployment_id)
    return DeploymentOut.counted(
        counters.counted(captures.allow(caller, fleet_id, deployment_id, allowed=body.allowed))
    )


@router.post(_ALL, status_code=201, **recorded("capture.started", 409))
def start_capture(
    fleet_id: FleetId, body: StartCapture, caller: Writer, request: Request, response: Response
) -> CaptureOut:
    """Ask a host for up to 100 records after a component. Its collector restarts once to begin and once to end.

    409 `captures_not_allowed` until an Admin has allowed captures for the group, 409 `capture_not_possible` for a host
    that cannot. A new version for the host ends its capture.
    """
    with (
        ids_in_body(instance_id=InstanceNotFound, deployment_id=DeploymentNotFound),
        checks.under_way(caller),
    ):
        started = captures.start(caller, fleet_id, body)
    response.headers["Location"] = f"{PUBLIC}/fleets/{fleet_id}/captures/{started.capture.id}"
    add_details(request, started.capture.audited)
    return CaptureOut.of_known(started)


@router.get(_ALL)
def list_captures(fleet_id: FleetId, caller: Reader, paging: Paging) -> Page[CaptureOut]:
    """The fleet's captures of the last 30 days, newest first."""
    return paging.page(captures.captures(caller, fleet_id, paging.limit, paging.after), CaptureOut.of_known)


@router.get(_ONE)
def get_capture(fleet_id: FleetId, capture_id: CaptureId, caller: Reader) -> CaptureOut:
    """One capture."""
    return CaptureOut.of_known(captures.get(caller, fleet_id, capture_id))


@router.get(f"{_ONE}/sample", response_class=PlainTextResponse)
def get_capture_sample(fleet_id: FleetId, capture_id: CaptureId, caller: Reader) -> PlainTextResponse:
    """The records without secrets, one OTLP/JSON document a line: a test run takes it as its `sample`.

    404 `sample_not_found` until the capture has ended, and for one without records.
    """
    return PlainTextResponse(captures.sample(caller, fleet_id, capture_id))


@router.post(f"{_ONE}/end", **recorded("capture.ended", 409))
def end_capture(fleet_id: FleetId, capture_id: CaptureId, caller: Writer) -> CaptureOut:
    """End a capture before its time, with the host's next message. What it has until then is its sample."""
    return CaptureOut.of_known(captures.end(caller, fleet_id, capture_id))


@router.delete(_ONE, status_code=204, **recorded("capture.deleted", 409))
def delete_capture(fleet_id: FleetId, capture_id: CaptureId, caller: Writer) -> None:
    """Delete a capture with its sample, for good. 409 while it is under way."""
    captures.delete(caller, fleet_id, capture_id)

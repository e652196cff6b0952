"""The endpoints of a group's rollouts."""

from collections.abc import Callable, Sequence
from typing import Final

from fastapi import Request, Response

from fleets.api.rollouts_wire import RolloutOut, RolloutStarted, StartRollout
from fleets.api.routing import fleet_router
from headgate.configurations.model import ConfigurationNotFound, VersionNotFound
from headgate.deployments import service as deployments
from headgate.foundation.caller import Caller
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, SessionMember, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import DeploymentId, FleetId, RolloutId
from headgate.http.paths import PUBLIC
from headgate.http.routing import ONCE, recorded
from headgate.http.wire import ids_in_body
from headgate.identity import checks
from headgate.instances.counting import fleets as counting
from headgate.rollouts import acts
from headgate.rollouts import service as rollouts
from headgate.rollouts.model import Rollout
from headgate.rollouts.reach import reach

router = fleet_router()

_OF_GROUP: Final = "/{fleet_id}/deployments/{deployment_id}/rollouts"
_ONE: Final = f"{_OF_GROUP}/{{rollout_id}}"


@router.post(_OF_GROUP, status_code=201, **recorded("rollout.started", 409))
def start_rollout(
    fleet_id: FleetId,
    deployment_id: DeploymentId,
    body: StartRollout,
    caller: Writer,
    request: Request,
    response: Response,
) -> RolloutStarted:
    """Give a published version to the group step by step. A rollout that is open in the group ends as superseded.

    409 `differs_from_running` names hosts that run something else than the first version of a group that was observed.
    """
    ids = ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound)
    with ids, checks.under_way(caller):
        rollout, check, differing = rollouts.start(caller, fleet_id, deployment_id, body.order())
    if (to := rollout.to) is not None and to.configuration_name is not None:
        add_details(request, {"name": f"{to.configuration_name} version {to.assignment.version_number}"})
    response.headers["Location"] = f"{PUBLIC}/fleets/{fleet_id}/deployments/{deployment_id}/rollouts/{rollout.id}"
    return RolloutStarted.of_start(rollout, check, differing)


@router.get(_OF_GROUP)
def list_rollouts(fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader, paging: Paging) -> Page[RolloutOut]:
    """The group's rollouts, newest first; with what was assigned at once, which has no strategy."""
    page = rollouts.rollouts(caller, fleet_id, deployment_id, paging.limit, paging.after)
    show = _shown(caller, fleet_id, deployment_id, page.entries)
    return paging.page(page, show)


@router.get(_ONE)
def get_rollout(fleet_id: FleetId, deployment_id: DeploymentId, rollout_id: RolloutId, caller: Reader) -> RolloutOut:
    """One rollout."""
    rollout = rollouts.get(caller, fleet_id, deployment_id, rollout_id)
    return _shown(caller, fleet_id, deployment_id, [rollout])(rollout)


def _shown(
    caller: Caller, fleet_id: str, deployment_id: str, entries: Sequence[Rollout]
) -> Callable[[Rollout], RolloutOut]:
    """Returns the answer for each rollout. The collectors are counted only if some of them were assigned at once."""
    if all(rollout.strategy for rollout in entries):
        return RolloutOut.of_rollout
    group = deployments.of_fleet(fleet_id, deployment_id)
    instances = counting.counters(caller, fleet_id, ()).counted(group).instances
    return lambda rollout: RolloutOut.of_rollout(rollout, reach(rollout, group, instances))


@router.post(f"{_ONE}/pause", **recorded("rollout.paused", 409, marks=ONCE))
def pause_rollout(fleet_id: FleetId, deployment_id: DeploymentId, rollout_id: RolloutId, caller: Writer) -> RolloutOut:
    """Begin no further step until it is resumed. The gates go on judging."""
    return RolloutOut.of_rollout(rollouts.change(caller, fleet_id, deployment_id, rollout_id, acts.pause))


@router.post(f"{_ONE}/resume", **recorded("rollout.resumed", 409, marks=ONCE))
def resume_rollout(fleet_id: FleetId, deployment_id: DeploymentId, rollout_id: RolloutId, caller: Writer) -> RolloutOut:
    """Go on with a rollout that is paused. One that is halted tries its step again."""
    return RolloutOut.of_rollout(rollouts.change(caller, fleet_id, deployment_id, rollout_id, acts.resume))


@router.post(f"{_ONE}/promote", **recorded("rollout.promoted", 409, marks=ONCE))
def promote_rollout(
    fleet_id: FleetId, deployment_id: DeploymentId, rollout_id: RolloutId, caller: Writer
) -> RolloutOut:
    """Skip the rest of the step's soak. Gates that fail, approvals and the window still hold."""
    return RolloutOut.of_rollout(rollouts.change(caller, fleet_id, deployment_id, rollout_id, acts.promote))


@router.post(f"{_ONE}/approve", **recorded("rollout.approved", 409, marks=ONCE))
def approve_rollout(
    fleet_id: FleetId, deployment_id: DeploymentId, rollout_id: RolloutId, caller: SessionMember
) -> RolloutOut:
    """Let the step begin that waits for approval. Sessions only, and not of the person who started the rollout."""
    return RolloutOut.of_rollout(rollouts.approve(caller, fleet_id, deployment_id, rollout_id))


@router.post(f"{_ONE}/abort", **recorded("rollout.aborted", 409, marks=ONCE))
def abort_rollout(fleet_id: FleetId, deployment_id: DeploymentId, rollout_id: RolloutId, caller: Writer) -> RolloutOut:
    """Take every instance back to what the group ran before."""
    return RolloutOut.of_rollout(rollouts.change(caller, fleet_id, deployment_id, rollout_id, acts.abort))


@router.post(f"{_ONE}/retry", **recorded("rollout.retried", 409, marks=ONCE))
def retry_rollout(fleet_id: FleetId, deployment_id: DeploymentId, rollout_id: RolloutId, caller: Writer) -> RolloutOut:
    """Offer the version again to the instances where it failed, and judge the step from now on."""
    return RolloutOut.of_rollout(rollouts.change(caller, fleet_id, deployment_id, rollout_id, acts.retry))

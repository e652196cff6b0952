"""The endpoints of a fleet's collector instances."""

from dataclasses import replace
from typing import Final

from fastapi import Request, Response

from fleets.api.filters import WantedInstances
from fleets.api.instances_wire import (
    ChangeInstance,
    HappenedOut,
    InstanceDetail,
    MoveOut,
    OrderOut,
    OverrideOut,
    PutOverride,
    ReplaceInstance,
    ThenOut,
)
from fleets.api.routing import fleet_router
from fleets.api.wire import InstanceOut
from headgate.audit import service as audit
from headgate.configurations.model import ConfigurationNotFound, VersionNotFound
from headgate.deployments.model import DeploymentNotFound
from headgate.foundation.caller import Caller
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, SessionMember, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import AtTime, FleetId, InstanceId, OrderId
from headgate.http.paths import PUBLIC
from headgate.http.routing import recorded
from headgate.http.wire import ids_in_body
from headgate.installs import supervisors
from headgate.instances import deletion, details, replacing
from headgate.instances import service as instances
from headgate.instances.orders import acts
from headgate.instances.orders.model import PendingOrder
from headgate.instances.timeline import history

router = fleet_router()

_ONE: Final = "/{fleet_id}/instances/{instance_id}"


@router.get("/{fleet_id}/instances")
def list_instances(fleet_id: FleetId, caller: Reader, paging: Paging, filters: WantedInstances) -> Page[InstanceOut]:
    """The fleet's collector instances, by the time they first started.

    With a filter, a page has what is found among up to 1,000 instances: it may be short, and still have a next one.
    """
    return paging.page(instances.instances(caller, fleet_id, paging.limit, paging.after, filters), InstanceOut.of_seen)


@router.get(_ONE)
def get_instance(fleet_id: FleetId, instance_id: InstanceId, caller: Reader) -> InstanceDetail:
    """One collector instance: what it is to run, was offered, tried and runs, each with its time."""
    return InstanceDetail.of_known(details.instance(caller, fleet_id, instance_id))


@router.get(f"{_ONE}/history")
def list_instance_history(
    fleet_id: FleetId, instance_id: InstanceId, caller: Reader, paging: Paging, at: AtTime = None
) -> Page[HappenedOut] | ThenOut:
    """List the instance's events, newest first; with `at`, what it ran at that time, and its state.

    Events are kept for 90 days, those of an instance that is gone too. At most 30 an hour are written, and the others
    counted. 404 `not_known` is a time before anything was recorded.
    """
    if at is not None:
        return ThenOut.of(history.then(caller, fleet_id, instance_id, at))
    return paging.page(history.events(caller, fleet_id, instance_id, paging.limit, paging.after), HappenedOut.of_listed)


@router.patch(_ONE, **recorded("instance.changed", 409))
def change_instance(
    fleet_id: FleetId, instance_id: InstanceId, body: ChangeInstance, caller: Writer, request: Request
) -> InstanceDetail:
    """Label a host, or move it to another group of its fleet, with its next message.

    Labels are merged with those that were set, select groups and canaries as a host's own do, and win over these. A
    move wins over labels. 409 `not_movable` is a host or a group with a token of its own, or a Kubernetes fleet.
    """
    moves = "deployment_id" in body.model_fields_set
    # What the answer needs is read first, so that a read that fails leaves nothing changed.
    known = details.instance(caller, fleet_id, instance_id)
    with ids_in_body(deployment_id=DeploymentNotFound):
        changed = acts.change(caller, fleet_id, instance_id, body.labels, moves, body.deployment_id)
    said = ", ".join(f"{key}={'null' if value is None else value}" for key, value in sorted(body.labels.items()))
    moved = {"deployment_id": body.deployment_id or "none"} if moves else {}
    add_details(request, {"name": changed.called, **({"labels": said} if said else {}), **moved})
    return InstanceDetail.of_known(replace(known, seen=replace(known.seen, instance=changed)))


@router.delete(_ONE, status_code=204, **recorded("instance.deleted", 409))
def delete_instance(fleet_id: FleetId, instance_id: InstanceId, caller: Writer, request: Request) -> None:
    """Delete an instance that is stopped or stale. It is known again as soon as it reports. 409 while it does."""
    add_details(request, {"name": deletion.delete_instance(caller, fleet_id, instance_id).called})


@router.post(f"{_ONE}/restart", status_code=202, **recorded("instance.restart_ordered", 409))
def restart_instance(fleet_id: FleetId, instance_id: InstanceId, caller: Writer, response: Response) -> OrderOut:
    """Order the host to restart its collector. An order that it has not carried out yet is returned as it is.

    409 `order_not_supported` is a host with an older supervisor, 409 `instance_not_reporting` one that is not heard.
    """
    return _ordered(acts.restart(caller, fleet_id, instance_id), fleet_id, instance_id, response)


@router.post(f"{_ONE}/retry", status_code=202, **recorded("instance.retry_ordered", 409))
def retry_instance(fleet_id: FleetId, instance_id: InstanceId, caller: Writer, response: Response) -> OrderOut:
    """Offer the version that failed on this host to it again, and to no other host."""
    return _ordered(acts.try_again(caller, fleet_id, instance_id), fleet_id, instance_id, response)


@router.post(
    f"{_ONE}/upgrade-supervisor",
    status_code=202,
    **recorded("instance.supervisor_upgrade_ordered", 409),
)
def upgrade_supervisor(fleet_id: FleetId, instance_id: InstanceId, caller: Writer, response: Response) -> OrderOut:
    """Order the host to replace its supervisor by the one that is published for installs.

    The former one is kept until the new one has reported, and runs again if it does not. 409 `order_not_supported` is a
    host that was not installed on Linux, or has an older supervisor; install it again.
    """
    return _ordered(supervisors.upgrade(caller, fleet_id, instance_id), fleet_id, instance_id, response)


def _ordered(order: PendingOrder, fleet_id: str, instance_id: str, response: Response) -> OrderOut:
    response.headers["Location"] = f"{PUBLIC}{acts.path_of(fleet_id, instance_id)}/{order.id}"
    return OrderOut.of_order(order)


@router.post(f"{_ONE}/allow-move", **recorded("instance.move_allowed"))
def allow_instance_move(fleet_id: FleetId, instance_id: InstanceId, caller: SessionMember) -> MoveOut:
    """Let another host take the instance's place within the hour, once. Sessions only.

    It is for a host that lost its key, or has none and was installed with the token of another scope. Whoever has a
    token of the fleet can use it first.
    """
    record = audit.entry(caller, "instance.move_allowed", f"fleets/{fleet_id}/instances/{instance_id}/allow-move")
    return MoveOut(move_allowed_until=acts.allow_move(caller, fleet_id, instance_id, record))


@router.post(f"{_ONE}/cut-off", **recorded("instance.cut_off"))
def cut_off_instance(fleet_id: FleetId, instance_id: InstanceId, caller: SessionMember) -> InstanceDetail:
    """Refuse every message of this host with 403 `host_cut_off`, and send it nothing. Sessions only.

    Its collector goes on with what it has. Renew the token as well: whoever has it can report as another host, and a
    host that is cut off does not get the next one.
    """
    return _cut_off(fleet_id, instance_id, caller)


@router.post(f"{_ONE}/let-in", **recorded("instance.let_in"))
def let_in_instance(fleet_id: FleetId, instance_id: InstanceId, caller: SessionMember) -> InstanceDetail:
    """Take the messages of a host that was cut off again. Sessions only."""
    return _cut_off(fleet_id, instance_id, caller, lets_in=True)


def _cut_off(fleet_id: str, instance_id: str, caller: Caller, *, lets_in: bool = False) -> InstanceDetail:
    # What the answer needs is read first, so that a read that fails leaves nothing changed.
    known = details.instance(caller, fleet_id, instance_id)
    path = f"fleets/{fleet_id}/instances/{instance_id}"
    record = (
        audit.entry(caller, "instance.let_in", f"{path}/let-in")
        if lets_in
        else audit.entry(caller, "instance.cut_off", f"{path}/cut-off")
    )
    at = acts.cut_off(caller, fleet_id, instance_id, record, lets_in=lets_in)
    instance = known.seen.instance
    instance = replace(instance, orders=replace(instance.orders, cut_off_at=None if lets_in else at))
    return InstanceDetail.of_known(replace(known, seen=replace(known.seen, instance=instance)))


@router.post(f"{_ONE}/replace", **recorded("instance.replaced", 409))
def replace_instance(
    fleet_id: FleetId, instance_id: InstanceId, body: ReplaceInstance, caller: Writer, request: Request
) -> InstanceDetail:
    """Delete an instance that is silent, stale or stopped in favour of the one that its host is now.

    It is for a host that was installed again and lost its key. Without `by`, it is the only instance of that name which
    was first heard after this one was last heard; 409 `not_replaceable` if there is none, or several. It gets the
    override of this one.
    """
    seen = replacing.replace_by(caller, fleet_id, instance_id, body.by)
    add_details(request, {"name": seen.instance.called, "by": seen.instance.id})
    return InstanceDetail.of_known(details.instance(caller, fleet_id, seen.instance.id))


@router.get(f"{_ONE}/orders/{{order_id}}")
def get_instance_order(fleet_id: FleetId, instance_id: InstanceId, order_id: OrderId, caller: Reader) -> OrderOut:
    """An order to a host, and whether it was carried out. The last one of each kind is kept for a day."""
    return OrderOut.of_order(acts.order(caller, fleet_id, instance_id, order_id))


@router.put(f"{_ONE}/override", **recorded("instance.overridden", 409))
def put_instance_override(
    fleet_id: FleetId, instance_id: InstanceId, body: PutOverride, caller: Writer, request: Request
) -> OverrideOut:
    """Make one instance run a published version until a time, whatever its group runs. It replaces an earlier one."""
    with ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound):
        override, name = acts.override(caller, fleet_id, instance_id, **dict(body))
    out = OverrideOut.of_override(override, {override.assignment.configuration_id: name})
    add_details(request, acts.audited(override, name))
    return out


@router.delete(f"{_ONE}/override", status_code=204, **recorded("instance.override_ended"))
def delete_instance_override(fleet_id: FleetId, instance_id: InstanceId, caller: Writer) -> None:
    """Make the instance run what its group does."""
    acts.end_override(caller, fleet_id, instance_id)

"""Acts of writers on one instance: order a restart or another try, override its version for a while, label and move it.

A change is conditional on what the instance was when it was read, so that a message at the same time is never lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from headgate.deployments import assignments
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment, FieldRefused, FirstByRollout
from headgate.deployments.programs import Program
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.instances import service, store
from headgate.instances.counting.measuring import departures
from headgate.instances.desired.offers import replaced_by_install
from headgate.instances.model import Instance
from headgate.instances.orders.model import MOVE_ALLOWED_FOR, Override, PendingOrder
from headgate.instances.reported.host import LARGEST_NAMES, MOST_LABELS, Order
from headgate.instances.service import SeenInstance
from headgate.instances.state import transitions
from headgate.instances.timeline import events as timeline
from headgate.storage.retry import retried
from headgate.storage.table import Write

LONGEST: Final = timedelta(days=90)
"""The longest time of an override."""
_HEARD: Final = ("pending_pickup", "applying", "applied", "apply_failed", "idle", "running", "unhealthy")


class OrderNotSupported(errors.Conflict):
    """The host's supervisor is too old, or its system replaces no programs."""

    code = "order_not_supported"

    def __init__(self, do: Order, version: str | None, way_out: str | None = None) -> None:
        runs = version or "a version that does not report itself"
        super().__init__(
            way_out
            or f"The supervisor of this host ({runs}) does not understand the order to {do.replace('_', ' ')}: install "
            "the host again to upgrade it"
        )


class TakesNoConfiguration(errors.Conflict):
    """The collector stays observed in its managed fleet, so that nothing would come of it."""

    code = "takes_no_configuration"
    detail = "This collector takes no configuration from Headgate: change what it runs on its host"


class SupervisorIsCurrent(errors.Conflict):
    """The supervisor is of the newest version: nothing to upgrade."""

    code = "supervisor_is_current"

    def __init__(self, version: str) -> None:
        super().__init__(f"This host runs the published supervisor already, {version}")


class InstanceNotReporting(errors.Conflict):
    """An order would reach the host at a time when nobody expects it."""

    code = "instance_not_reporting"

    def __init__(self, state: str) -> None:
        super().__init__(f"The instance is {state}: an order would not reach it. Order it when it reports again")


class NothingToRetry(errors.Conflict):
    """The instance has no failure to forget."""

    code = "nothing_to_retry"
    detail = "What this instance is to run has not failed on it"


class NotMovable(errors.Conflict):
    """The host cannot belong to another group than that of its token, or not to this one."""

    code = "not_movable"


class OrderNotFound(errors.NotFound):
    code = "order_not_found"
    detail = "No such order: orders are kept for a day, and the last one of each kind"


class OverrideNotFound(errors.NotFound):
    code = "override_not_found"
    detail = "This instance runs what its group does: it has no override"


def restart(caller: Caller, fleet_id: str, instance_id: str) -> PendingOrder:
    """Order the host to restart its collector. An order that waits already is returned as it is.

    Raises FleetNotFound, InstanceNotFound, InstanceNotReporting, OrderNotSupported.
    """

    def allow(seen: SeenInstance) -> None:
        host = seen.instance.reported.host
        if "restart" not in host.can:
            raise OrderNotSupported("restart", host.supervisor_version)

    return _order(caller, fleet_id, instance_id, "restart", allow)


def try_again(caller: Caller, fleet_id: str, instance_id: str) -> PendingOrder:
    """Offer what failed on this instance to it again, and to no other.

    Raises FleetNotFound, InstanceNotFound, InstanceNotReporting, NothingToRetry.
    """

    def allow(seen: SeenInstance) -> None:
        if seen.state != "apply_failed":
            raise NothingToRetry

    return _order(caller, fleet_id, instance_id, "retry", allow)


def upgrade_supervisor(caller: Caller, fleet_id: str, instance_id: str, program: Program) -> PendingOrder:
    """Order the host to replace its supervisor. An order that waits already is returned as it is.

    Raises FleetNotFound, InstanceNotFound, InstanceNotReporting, OrderNotSupported, SupervisorIsCurrent.
    """

    def allow(seen: SeenInstance) -> None:
        host = seen.instance.reported.host
        if by_install := replaced_by_install(seen.instance):
            raise OrderNotSupported("upgrade_supervisor", host.supervisor_version, by_install)
        if "upgrade_supervisor" not in host.can or seen.instance.reported.description.arch not in program.files:
            raise OrderNotSupported("upgrade_supervisor", host.supervisor_version)
        if host.supervisor_version == program.version:
            raise SupervisorIsCurrent(program.version)

    return _order(caller, fleet_id, instance_id, "upgrade_supervisor", allow, program)


def order(caller: Caller, fleet_id: str, instance_id: str, order_id: str) -> PendingOrder:
    """An order of the last day; the last one of its kind. Raises FleetNotFound, InstanceNotFound, OrderNotFound."""
    seen = service.seen(fleets.get(caller, fleet_id), instance_id, clock.now())
    order_ = next((order for order in seen.instance.orders.pending if order.id == order_id), None)
    if order_ is None or order_.do == "components":
        raise OrderNotFound
    return order_


def path_of(fleet_id: str, instance_id: str) -> str:
    """The path of an instance's orders, in the public API."""
    return f"/fleets/{fleet_id}/instances/{instance_id}/orders"


@retried
def change(
    caller: Caller,
    fleet_id: str,
    instance_id: str,
    labels: Mapping[str, str | None],
    move: bool,
    deployment_id: str | None,
) -> Instance:
    """Set labels, or remove those that are None; and `move` it to a group, with None to where it belongs without that.

    It moves with its next message. Raises FleetNotFound, InstanceNotFound, DeploymentNotFound, FieldRefused,
    NotMovable.
    """
    at = clock.now()
    fleet = fleets.get(caller, fleet_id)
    before = service.seen(fleet, instance_id, at).instance
    merged = {key: value for key, value in {**before.orders.labels, **labels}.items() if value is not None}
    if len(merged) > MOST_LABELS or len(json.dumps(merged)) > LARGEST_NAMES:
        raise FieldRefused(
            "labels",
            f"A host has at most {MOST_LABELS} labels that people set, of {LARGEST_NAMES:,} bytes: remove some",
        )
    moved_to = before.orders.moved_to
    if move:
        moved_to = deployment_id
        if deployment_id is not None:
            _require_movable(fleet, before, deployments.of_fleet(fleet_id, deployment_id))
    group = deployments.of_fleet(fleet_id, before.deployment_id)
    after = replace(before, orders=replace(before.orders, labels=merged, moved_to=moved_to))
    # Labels decide whether a rollout's turn came: who leaves it by them is still judged.
    left = departures(before, after, group.rollout, before.measured.watch, at)
    after = replace(after, measured=replace(after.measured, departures=left))
    after = transitions.judged(after, after.desired(group, at))
    service.save(before, after)
    return after


@retried
def override(
    caller: Caller,
    fleet_id: str,
    instance_id: str,
    *,
    configuration_id: str | None,
    version_number: int,
    until: datetime,
    message: str | None,
) -> tuple[Override, str]:
    """Make one instance run a published version until a time, whatever its group runs; with the configuration's name.

    Without `configuration_id`, it is the one of the group. Raises FleetNotFound, InstanceNotFound, FieldRefused,
    NotPublished, ConfigurationNotFound, VersionNotFound, ConfigurationArchived, FirstByRollout,
    TakesNoConfiguration.
    """
    at = clock.now()
    _require_covered(until, at)
    seen = service.seen(fleets.get(caller, fleet_id), instance_id, at)
    group = deployments.of_fleet(fleet_id, seen.instance.deployment_id)
    target = assignments.target(caller, group, configuration_id, version_number)
    if seen.instance.stays_observed(group):
        raise TakesNoConfiguration
    if group.leaves_alone:
        raise FirstByRollout
    override_ = Override(target.assignment, until, at, caller.principal, message)
    after = _overridden(seen.instance, override_)
    desired = after.desired(group, at)
    # A person wants it to be tried, also if it failed here before.
    after = transitions.judged(after.without_failure(desired), desired)
    event = replace(
        timeline.entry(after, "override", at),
        version=target.assignment,
        until=until,
        actor=caller.principal,
        message=message,
    )
    service.save(seen.instance, after, [event], target.assigned())
    return override_, target.configuration.name


def audited(override: Override, name: str) -> Mapping[str, str]:
    """Details for the audit record of an override."""
    return {
        "configuration_id": override.assignment.configuration_id,
        "configuration_name": name,
        "version_number": str(override.assignment.version_number),
        "until": clock.rfc3339(override.until),
    } | ({"message": override.message} if override.message else {})


@retried
def end_override(caller: Caller, fleet_id: str, instance_id: str) -> None:
    """Make the instance run what its group does. Raises FleetNotFound, InstanceNotFound, OverrideNotFound."""
    at = clock.now()
    seen = service.seen(fleets.get(caller, fleet_id), instance_id, at)
    if seen.instance.orders.overridden(at) is None:
        raise OverrideNotFound
    group = deployments.of_fleet(fleet_id, seen.instance.deployment_id)
    after = _overridden(seen.instance, None)
    after = transitions.judged(after, after.desired(group, at))
    event = replace(timeline.entry(after, "override_ended", at), actor=caller.principal)
    service.save(seen.instance, after, [event])


@retried
def allow_move(caller: Caller, fleet_id: str, instance_id: str, record: Write) -> datetime:
    """Let the next host that reports under the instance's uid take its place, whatever its token and key; until when.

    `record` is that of the change, for the same transaction. Raises FleetNotFound, InstanceNotFound.
    """
    at = clock.now()
    seen = service.seen(fleets.get(caller, fleet_id), instance_id, at)
    until = at + MOVE_ALLOWED_FOR
    event = replace(timeline.entry(seen.instance, "move_allowed", at), until=until, actor=caller.principal)
    orders = replace(seen.instance.orders, move_until=until)
    service.save(seen.instance, replace(seen.instance, orders=orders), [event], record)
    return until


@retried
def cut_off(caller: Caller, fleet_id: str, instance_id: str, record: Write, *, lets_in: bool = False) -> datetime:
    """Refuse every message of the instance's host from now on, or take them again; when.

    `record` is that of the change, for the same transaction. Raises FleetNotFound, InstanceNotFound.
    """
    at = clock.now()
    seen = service.seen(fleets.get(caller, fleet_id), instance_id, at)
    event = replace(timeline.entry(seen.instance, "let_in" if lets_in else "cut_off", at), actor=caller.principal)
    orders = replace(seen.instance.orders, cut_off_at=None if lets_in else at)
    service.save(seen.instance, replace(seen.instance, orders=orders), [event], record)
    return at


@retried
def _order(
    caller: Caller,
    fleet_id: str,
    instance_id: str,
    do: Order,
    allow: Callable[[SeenInstance], None],
    program: Program | None = None,
) -> PendingOrder:
    at = clock.now()
    seen = service.seen(fleets.get(caller, fleet_id), instance_id, at)
    there = seen.instance.orders.waiting(do, at)
    if there is not None:
        return there
    if seen.instance.orders.cut_off_at is not None:
        raise InstanceNotReporting("cut off")
    if seen.state not in _HEARD:
        raise InstanceNotReporting(seen.state)
    allow(seen)
    order = PendingOrder.new(do, at, program)
    path = f"{path_of(fleet_id, instance_id)}/{order.id}"
    store.put_orders(seen.instance, seen.instance.orders.with_order(order).pending, path)
    return order


def _require_movable(fleet: Fleet, instance: Instance, group: Deployment) -> None:
    if fleet.on_kubernetes:
        raise NotMovable("What a pod runs depends on its group's role: hosts of server fleets can be moved")
    if group.token_generation:
        raise NotMovable("This group has stored variables: only hosts with its own token belong to it")
    if instance.identity.scope not in (None, fleet.id):
        raise NotMovable(
            "This host has the token of a group with stored variables: install it again with another group's command"
        )


def _overridden(instance: Instance, override: Override | None) -> Instance:
    return replace(instance, orders=replace(instance.orders, override=override))


def _require_covered(until: datetime, at: datetime) -> None:
    if until <= at:
        raise FieldRefused("until", "This time has passed; give a later one")
    if until > at + LONGEST:
        raise FieldRefused("until", f"An override lasts {LONGEST.days} days at most; give an earlier time")

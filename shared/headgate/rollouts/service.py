"""Rollouts of a deployment group: any member sees them, any writer starts and changes them, `tick` carries them out.

Every change is one transaction of the rollout and its group, on the condition that neither was changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from headgate.audit import service as audit
from headgate.deployments import assignments, history, variables
from headgate.deployments import service as deployments
from headgate.deployments.assignments import AssignmentChange, CheckedAssignment
from headgate.deployments.environment import Environment
from headgate.deployments.events import GroupEvent, Versions
from headgate.deployments.model import Deployment, DeploymentNotFound
from headgate.deployments.running import RunningRollout
from headgate.events import service as events
from headgate.events.model import About, EventType
from headgate.fleets import service as fleets
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.page import Slice
from headgate.instances import first_version
from headgate.instances import service as instances
from headgate.instances.reported.suitability import Unsuited
from headgate.rollouts import acts, executions, store, upgrading
from headgate.rollouts.acts import Act
from headgate.rollouts.hosts import RolloutHost
from headgate.rollouts.hosts import hosts as of_state
from headgate.rollouts.model import NothingDelivered, Order, Rollout, RolloutNotFound, Status, Tick
from headgate.rollouts.progress import advance, wait
from headgate.rollouts.state import RolloutState
from headgate.storage.retry import LostRace, retried
from headgate.storage.retry import retry as again
from headgate.storage.table import Write, transact

_EVENTS: Final[Mapping[Status, EventType]] = {
    "halted": "rollout.halted",
    "rolled_back": "rollout.rolled_back",
    "completed": "rollout.finished",
    "aborted": "rollout.finished",
}


def start(
    caller: Caller, fleet_id: str, deployment_id: str, order: Order
) -> tuple[Rollout, CheckedAssignment, Sequence[Unsuited]]:
    """Start a rollout of a published version; the one that is open in the group ends as superseded.

    Returns what the collector says of the version, and how a first version differs from what hosts run. Raises
    FleetNotFound, DeploymentNotFound, FieldRefused, NotPublished, ConfigurationNotFound, VersionNotFound,
    ConfigurationArchived, NothingDelivered, DiffersFromRunning; for one that upgrades collectors also
    CollectorNotPublished and NoHostToUpgrade, with variables also RevisionNotStored and that.
    """
    fleets.get(caller, fleet_id)

    def once() -> tuple[Rollout, assignments.AssignmentTarget, Deployment, Sequence[Unsuited]]:
        before = deployments.of_fleet(fleet_id, deployment_id)
        target = assignments.target(caller, before, order.configuration_id, order.version_number)
        if order.gates.delivery and (signals := assignments.undelivered(caller, before, target)):
            raise NothingDelivered(signals, target.version.n)
        differing = first_version.require_same(before, target.version, accepted=order.accept_differences)
        collector = upgrading.collector(before, target.version.collector_version) if order.upgrade_collector else None
        n = order.variables_revision
        environment = upgrading.variables(before, n) if n is not None else None
        at = clock.now()
        rollout = Rollout(
            id=new_id("rol", at),
            organization_id=caller.organization_id,
            fleet_id=fleet_id,
            deployment_id=deployment_id,
            to=target.named,
            before=history.named(caller, before.assignment),
            strategy=order.strategy,
            gates=order.gates,
            message=order.message,
            status="in_progress",
            created_by=caller.principal,
            created_at=at,
            updated_at=at,
            upgrade=upgrading.upgrade(before, collector) if collector else None,
            started_by=caller.people,
            variables=upgrading.change(before, environment) if environment else None,
            notes=_at_install(environment) if environment else (),
        )
        revision = before.revision + 1
        running = RunningRollout(
            rollout.id,
            target.assignment,
            revision,
            at,
            canaries=order.strategy.canaries,
            collector=collector,
            variables=environment.pinned if environment else None,
        )
        after = replace(before.with_rollout(running), updated_at=at, revision=revision)
        execution = executions.new(fleet_id, deployment_id, rollout.id)
        writes = [
            *store.created(rollout),
            deployments.changed(before, after),
            target.assigned(),
            executions.write(execution, at),
            _event("rollout.started", rollout, at),
            *superseding(before, f"The rollout {rollout.id}", at),
            *(variables.pinning(before, environment) if environment else ()),
        ]
        transact(writes)
        executions.begin(execution)
        return rollout, target, after, differing

    rollout, target, group, differing = again(once)
    return rollout, assignments.checked(caller, target.version, group), differing


def assign(
    caller: Caller,
    fleet_id: str,
    deployment_id: str,
    changes: Mapping[str, str | int | None],
    message: str | None = None,
) -> AssignmentChange:
    """Change a group, as `assignments.change` does. A version that it assigns at once is recorded as a rollout without
    steps, which takes the place of one that is open."""

    def rollout(before: Deployment, after: Deployment, versions: Versions) -> Sequence[Write]:
        at = after.updated_at
        recorded = Rollout(
            id=new_id("rol", at),
            organization_id=caller.organization_id,
            fleet_id=fleet_id,
            deployment_id=deployment_id,
            to=versions[1],
            before=versions[0],
            strategy=None,
            gates=None,
            message=message,
            status="completed",
            created_by=caller.principal,
            created_at=at,
            updated_at=at,
            finished_at=at,
        )
        return [store.recorded(recorded), *superseding(before, "An assignment", at)]

    return assignments.change(caller, fleet_id, deployment_id, changes, message, beside=rollout)


def rollouts(caller: Caller, fleet_id: str, deployment_id: str, limit: int, after: str | None) -> Slice[Rollout]:
    """A group's, newest first; three reads. Raises FleetNotFound, DeploymentNotFound."""
    deployments.get(caller, fleet_id, deployment_id)
    return store.rollouts(deployment_id, limit, after)


def open_in(groups: Iterable[Deployment]) -> list[Rollout]:
    """The open rollouts of groups that the caller is known to see; one batch read for each hundred of them."""
    return store.each([(group.id, group.rollout.id) for group in groups if group.rollout])


def newest_of(group: Deployment) -> Rollout | None:
    """The newest rollout or assignment of a group that the caller is known to see; one query."""
    return next(iter(store.rollouts(group.id, 1, None).entries), None)


def get(caller: Caller, fleet_id: str, deployment_id: str, rollout_id: str) -> Rollout:
    """Three reads. Raises FleetNotFound, DeploymentNotFound, RolloutNotFound."""
    deployments.get(caller, fleet_id, deployment_id)
    return _of_group(deployment_id, rollout_id)


def hosts(caller: Caller, fleet_id: str, deployment_id: str, rollout_id: str) -> tuple[Rollout, Sequence[RolloutHost]]:
    """A rollout with its group's instances in their order, none once it has ended; what a judgement reads.

    Raises as `get` does.
    """
    rollout = get(caller, fleet_id, deployment_id, rollout_id)
    state = None if rollout.is_final else _state(fleet_id, deployment_id, rollout_id)
    return (state.rollout, of_state(state)) if state else (rollout, [])


@retried
def change(caller: Caller, fleet_id: str, deployment_id: str, rollout_id: str, act: Act, *beside: Write) -> Rollout:
    """Apply an act of `acts`; one transaction, with `beside` in it. Raises as `get` and the act do."""
    group = deployments.get(caller, fleet_id, deployment_id)
    rollout = _of_group(deployment_id, rollout_id)
    if not rollout.is_final and (group.rollout is None or group.rollout.id != rollout_id):
        # Another one took its place between the two reads.
        raise LostRace
    state = RolloutState(rollout, group, (), clock.now())
    after = act(state)
    execution = executions.new(fleet_id, deployment_id, rollout_id)
    saved = _save(state, after, executions.write(execution, state.at), *store.noted(rollout), *beside)
    executions.begin(execution)
    return saved


def approve(caller: Caller, fleet_id: str, deployment_id: str, rollout_id: str) -> Rollout:
    """Let the step begin that waits for it. Raises as `get` does, NotNow, and as `acts.approved_by`."""
    act = acts.approved_by(caller.principal, is_admin=caller.is_admin)
    target = f"fleets/{fleet_id}/deployments/{deployment_id}/rollouts/{rollout_id}"
    record = audit.entry(caller, "rollout.approved", target)
    return change(caller, fleet_id, deployment_id, rollout_id, act, record)


@retried
def tick(fleet_id: str, deployment_id: str, rollout_id: str) -> Tick:
    """Judge a rollout now, and write what follows.

    Reads the rollout, its group and every instance of the fleet, and writes one transaction if something changed. A
    rollout or group that is gone is done. Raises Contention if others change it all the time.
    """

    state = _state(fleet_id, deployment_id, rollout_id)
    if state is None:
        return Tick(done=True)
    after = advance(state)
    _save(state, after)
    if after.rollout.is_final:
        return Tick(done=True)
    return Tick(done=False, wait_seconds=int(wait().total_seconds()))


def superseding(group: Deployment, by: str, at: datetime) -> Sequence[Write]:
    """The writes that end the group's open rollout, for the transaction of what takes its place; one read.

    `by` is what takes its place, at the beginning of a sentence.
    """
    open_rollout = store.rollout(group.id, group.rollout.id) if group.rollout else None
    if open_rollout is None or open_rollout.is_final:
        return []
    ended = replace(
        open_rollout,
        status="superseded",
        ends_as=None,
        reason=f"{by} took its place",
        updated_at=at,
        finished_at=at,
        revision=open_rollout.revision + 1,
    )
    return [store.changed(open_rollout, ended), _event("rollout.finished", ended, at)]


def _of_group(deployment_id: str, rollout_id: str) -> Rollout:
    stored = store.rollout(deployment_id, rollout_id) if is_id("rol", rollout_id) else None
    if stored is None:
        raise RolloutNotFound
    return stored


def _state(fleet_id: str, deployment_id: str, rollout_id: str) -> RolloutState | None:
    """None if there is nothing left to do."""
    rollout = store.rollout(deployment_id, rollout_id)
    if rollout is None or rollout.is_final:
        return None
    try:
        group = deployments.of_fleet(fleet_id, deployment_id)
    except DeploymentNotFound:
        return None
    if group.rollout is None or group.rollout.id != rollout_id:
        return None
    known = instances.of_rollout(fleet_id, deployment_id, rollout_id)
    return RolloutState(rollout, group, known, clock.now(), instances.refusals(fleet_id))


def _save(before: RolloutState, after: RolloutState, *writes: Write) -> Rollout:
    """Store what changed; one transaction. Raises LostRace."""
    rollout, group = after.rollout, after.group
    if rollout == before.rollout and group == before.group and not writes:
        return rollout
    rollout = replace(rollout, updated_at=after.at, revision=before.rollout.revision + 1)
    changes = [store.changed(before.rollout, rollout), *writes]
    if group != before.group:
        group = replace(group, updated_at=after.at, revision=before.group.revision + 1)
        changes.append(deployments.changed(before.group, group))
    else:
        # So that no other change of the group, such as an assignment, is overlooked.
        changes.append(deployments.unchanged(group))
    if rollout.status == "completed":
        versions = rollout.before, rollout.to
        assigned = GroupEvent.of(
            "assigned", rollout.created_by, before.group, group, versions=versions, message=rollout.message
        )
        changes.append(history.recorded(assigned))
    if rollout.status != before.rollout.status and rollout.status in _EVENTS:
        changes.append(_event(_EVENTS[rollout.status], rollout, after.at))
    if rollout.not_back and not before.rollout.not_back:
        changes.append(_event("rollout.rollback_failed", rollout, after.at))
    transact(changes)
    return rollout


def _at_install(environment: Environment) -> Sequence[str]:
    """Note the variables that a rollout does not bring."""
    names = environment.of_install
    return [f"Hosts take {', '.join(names)} from an install alone: install them again to change that"] if names else ()


def _event(type: EventType, rollout: Rollout, at: datetime) -> Write:
    about = About(
        fleet_id=rollout.fleet_id,
        deployment_id=rollout.deployment_id,
        configuration_id=rollout.to.assignment.configuration_id if rollout.to else None,
        version_number=rollout.to.assignment.version_number if rollout.to else None,
        rollout_id=rollout.id,
        reason=rollout.reason,
    )
    return events.write(type, rollout.organization_id, about, at)

"""The endpoints of a fleet's deployment groups."""

from typing import Final

from fastapi import Request, Response

from fleets.api.deployments_wire import (
    AssignedThenOut,
    AssignmentCheck,
    CheckAssignment,
    CreateDeployment,
    DeploymentChanged,
    DeploymentOut,
    GroupEventOut,
    PatchDeployment,
    PutSelector,
    PutVolumeMounts,
    warnings_of,
)
from fleets.api.filters import ByName
from fleets.api.routing import fleet_router
from fleets.api.wire import AssignmentOut
from headgate.checker import Asker
from headgate.configurations.model import ConfigurationNotFound, VersionNotFound
from headgate.deployments import assigned, assignments, history, mounts, selectors
from headgate.deployments.events import GroupEvent
from headgate.deployments.model import DeploymentNotFound
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, SessionMember, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import AtTime, DeploymentId, FleetId
from headgate.http.paths import PUBLIC
from headgate.http.problems import documented
from headgate.http.routing import application_router, recorded
from headgate.http.wire import ids_in_body
from headgate.identity import checks
from headgate.instances import deletion, first_version
from headgate.instances.counting import fleets as counting
from headgate.instances.reported import suitability
from headgate.instances.reported.suitability import UnsuitedHosts
from headgate.rollouts import good_versions
from headgate.rollouts import service as rollouts
from headgate.rollouts.reach import of_assignment
from headgate_engine.upgrades import service as upgrades
from headgate_engine.upgrades.model import UpgradeReport
from headgate_engine.wire.upgrades import CheckUpgrade

router = fleet_router()
by_hand = application_router()

_ONE: Final = "/{fleet_id}/deployments/{deployment_id}"


@router.get("/{fleet_id}/deployments")
def list_deployments(fleet_id: FleetId, caller: Reader, paging: Paging, name: ByName = None) -> Page[DeploymentOut]:
    """The fleet's deployment groups by name; with `name`, the one that is called exactly so, if there is one."""
    return paging.page(counting.groups(caller, fleet_id, paging.limit, paging.after, name), DeploymentOut.counted)


@router.post("/{fleet_id}/deployments", status_code=201, **recorded("deployment.created", 409))
def create_deployment(
    fleet_id: FleetId, body: CreateDeployment, caller: Writer, request: Request, response: Response
) -> DeploymentChanged:
    """Create a deployment group that runs a published version.

    `replicas` is stored for any role of a Kubernetes fleet, and takes effect for `gateway` only.
    """
    with ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound), checks.under_way(caller):
        counters = counting.counters(caller, fleet_id, (), body.configuration_id)
        created = assignments.create(caller, fleet_id, **dict(body))
    response.headers["Location"] = f"{PUBLIC}/fleets/{fleet_id}/deployments/{created.group.id}"
    add_details(request, created.audited)
    return DeploymentChanged.of_change(created, counters.counted(created.group), ())


@router.get(_ONE)
def get_deployment(fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader) -> DeploymentOut:
    """One deployment group."""
    counted = counting.group(caller, fleet_id, deployment_id)
    back = good_versions.goes_back_to(counted.group)
    return DeploymentOut.counted(counted, goes_back_to=AssignmentOut.of_version(back) if back else None)


@router.patch(_ONE, **recorded("deployment.changed", 409))
def change_deployment(
    fleet_id: FleetId, deployment_id: DeploymentId, body: PatchDeployment, caller: Writer, request: Request
) -> DeploymentChanged:
    """Change a group. `configuration_id` alone assigns its newest published version, null clears the assignment."""
    changes = body.changes()
    assigns = not {"configuration_id", "version_number"}.isdisjoint(changes)
    counters = counting.before_change(caller, fleet_id, deployment_id, changes.get("configuration_id"))
    hosts = suitability.hosts_of(fleet_id, deployment_id) if assigns else UnsuitedHosts()
    with (
        ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound),
        checks.under_way(caller, asked=assigns),
    ):
        changed = rollouts.assign(caller, fleet_id, deployment_id, changes, body.message)
    add_details(request, changed.audited)
    return DeploymentChanged.of_change(changed, counters.counted(changed.group), hosts.unsuited(changed.version))


@router.put(f"{_ONE}/selector", **recorded("deployment.selector_changed", 409))
def put_deployment_selector(
    fleet_id: FleetId, deployment_id: DeploymentId, body: PutSelector, caller: Writer, request: Request
) -> DeploymentOut:
    """Let labels select the hosts of a group of a server fleet: they move within a minute and a heartbeat.

    The group with the most labels wins, then the one that was created first. Not for a Default group, or one with
    stored variables.
    """
    counters = counting.before_change(caller, fleet_id, deployment_id)
    changed = selectors.select(caller, fleet_id, deployment_id, body.labels)
    add_details(request, {"labels": selectors.in_words(body.labels)})
    return DeploymentOut.counted(counters.counted(changed))


@router.delete(_ONE, status_code=204, **recorded("deployment.deleted", 409))
def delete_deployment(fleet_id: FleetId, deployment_id: DeploymentId, caller: Writer, request: Request) -> None:
    """Delete a group. 409 for a Default group, during a rollout, and while a collector of it reports."""
    add_details(request, {"name": deletion.delete_group(caller, fleet_id, deployment_id).name})


@router.post(f"{_ONE}/upgrade-check", responses=documented(409))
def check_deployment_upgrade(
    fleet_id: FleetId, deployment_id: DeploymentId, body: CheckUpgrade, caller: Reader
) -> UpgradeReport:
    """Compare the collector version of the group's assigned version with another. Nothing is saved.

    409 if no version is assigned; 503 means that one of the collectors could not be asked.
    """
    with checks.under_way(caller):
        version = assigned.version(caller, fleet_id, deployment_id)
        text = body.text_of(version.yaml, version.collector_version, ("path", "deployment_id"), version.feature_gates)
        return upgrades.check(text, body.to, body.source, asker=Asker.of(caller))


@router.post(f"{_ONE}/assignment-check")
def check_assignment(
    fleet_id: FleetId, deployment_id: DeploymentId, body: CheckAssignment, caller: Reader
) -> AssignmentCheck:
    """Check an assignment of a published version: the collector's findings, and abilities that hosts of the group lack.

    Nothing is saved.
    """
    ids = ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound)
    with ids, checks.under_way(caller):
        group, version, check = assignments.check(
            caller, fleet_id, deployment_id, body.configuration_id, body.version_number
        )
    hosts = suitability.hosts_of(fleet_id, group.id)
    differing = first_version.differing(group, hosts, version)
    return AssignmentCheck(warnings=warnings_of(check, [*hosts.unsuited(version), *differing]))


@router.get(f"{_ONE}/history")
def list_deployment_history(
    fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader, paging: Paging, at: AtTime = None
) -> Page[GroupEventOut] | AssignedThenOut:
    """List the group's assignments, newest first: who, what, when and why; with `at`, the assignment at that time.

    Events are kept for 90 days, those of a deleted group too. 404 `not_known` is a time before anything was recorded.
    """
    if at is not None:
        return AssignedThenOut.of(history.assigned_at(caller, fleet_id, deployment_id, at))
    events = history.events(caller, fleet_id, deployment_id, paging.limit, paging.after)
    try:
        counted = counting.group(caller, fleet_id, deployment_id)
    except DeploymentNotFound:
        return paging.page(events, GroupEventOut.of)

    def shown(event: GroupEvent) -> GroupEventOut:
        assigned = event.assigned
        reach = of_assignment(event.at, assigned.assignment, counted.group, counted.instances) if assigned else None
        return GroupEventOut.of(event, reach=reach)

    return paging.page(events, shown)


@by_hand.put(
    "/fleets/{fleet_id}/deployments/{deployment_id}/volume-mounts", **recorded("deployment.volume_mounts_changed")
)
def put_volume_mounts(
    fleet_id: FleetId, deployment_id: DeploymentId, body: PutVolumeMounts, caller: SessionMember
) -> DeploymentOut:
    """Set a group's volume mounts. A docker command leaves out those that are not safe in it."""
    counters = counting.before_change(caller, fleet_id, deployment_id)
    return DeploymentOut.counted(counters.counted(mounts.replace_all(caller, fleet_id, deployment_id, body.mounts())))

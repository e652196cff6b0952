"""The fleets endpoints: fleets, their deployment groups, and the commands that install into them."""

from collections.abc import Iterator

from botocore.exceptions import BotoCoreError, ClientError
from fastapi import Depends, Request, Response

from fleets import collector_pages, fleet_pages
from fleets.filters import WantedInstances
from fleets.wire import (
    CreateDeployment,
    CreateFleet,
    DeploymentChanged,
    DeploymentOut,
    FleetOut,
    InstallOut,
    InstallRequest,
    InstanceOut,
    PatchDeployment,
    PutVolumeMounts,
    RenewToken,
)
from headgate.checker import Asker
from headgate.configurations.model import ConfigurationNotFound, VersionNotFound
from headgate.deployments import assigned, assignments, mounts
from headgate.deployments import service as deployments
from headgate.deployments.model import DeploymentNotFound
from headgate.fleets import service as fleets
from headgate.foundation import errors
from headgate.http.app import create_app, lambda_handler
from headgate.http.auditing import add_details, audited
from headgate.http.credentials import Reader, SessionAdmin, SessionMember, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import DeploymentId, FleetId, InstanceId
from headgate.http.paths import PUBLIC
from headgate.http.problems import documented
from headgate.http.routing import EXTENSION, application_router
from headgate.http.routing import router as group
from headgate.http.upgrade_wire import CheckUpgrade, UpgradeReport
from headgate.http.wire import ids_in_body
from headgate.identity import checks
from headgate.installs import service as installs
from headgate.instances import counting
from headgate.instances import service as instances
from headgate.observability.log import logger
from headgate.upgrades import service as upgrades
from web import pages


def fleet_service() -> Iterator[None]:
    """Raises BadGateway if the fleet service's tables cannot be reached, after the credential was checked."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        code = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
        logger.error("aws_fault", aws_code=code)
        raise errors.BadGateway(
            "The API service is unavailable: the fleet service did not answer, and the request may not have been "
            "carried out. Try again after a pause"
        ) from error


router = group("/fleets", "Fleets")
router.dependencies.append(Depends(fleet_service))
router.responses |= documented(502)
by_hand = application_router()


@router.get("")
def list_fleets(caller: Reader, paging: Paging) -> Page[FleetOut]:
    """The organization's fleets, newest first."""
    return paging.page(counting.fleets(caller, paging.limit, paging.after), FleetOut.counted)


@router.post("", status_code=201, responses=documented(409), openapi_extra=audited("fleet.created"))
def create_fleet(body: CreateFleet, caller: Writer, response: Response) -> FleetOut:
    """Create a fleet and issue its token, which is not returned. A server fleet begins with a Default group."""
    fleet = deployments.create_fleet(caller, body.label, body.type, body.expires_in)
    response.headers["Location"] = f"{PUBLIC}/fleets/{fleet.id}"
    return FleetOut.of(fleet)


@router.get("/{fleet_id}")
def get_fleet(fleet_id: FleetId, caller: Reader) -> FleetOut:
    """One fleet."""
    return FleetOut.counted(counting.fleet(caller, fleet_id))


@router.get("/{fleet_id}/instances")
def list_instances(fleet_id: FleetId, caller: Reader, paging: Paging, wanted: WantedInstances) -> Page[InstanceOut]:
    """The fleet's collector instances, by the time they first started.

    With a filter, a page has what is found among up to 1,000 instances: it may be short, and still have a next one.
    """
    return paging.page(instances.instances(caller, fleet_id, paging.limit, paging.after, wanted), InstanceOut.of)


@router.get("/{fleet_id}/instances/{instance_id}", openapi_extra=EXTENSION)
def get_instance(fleet_id: FleetId, instance_id: InstanceId, caller: Reader) -> InstanceOut:
    """One collector instance."""
    return InstanceOut.of(instances.instance(caller, fleet_id, instance_id))


@router.post("/{fleet_id}/install", responses=documented(409), openapi_extra=audited("install.composed"))
def install(fleet_id: FleetId, body: InstallRequest, caller: Writer) -> InstallOut:
    """Compose the command that makes a host or a cluster join a deployment group."""
    with ids_in_body(deployment_id=DeploymentNotFound):
        return InstallOut.of(body.platform, installs.compose(caller, fleet_id, body.options()))


@router.get("/{fleet_id}/deployments")
def list_deployments(fleet_id: FleetId, caller: Reader, paging: Paging) -> Page[DeploymentOut]:
    """The fleet's deployment groups by name."""
    return paging.page(deployments.deployments(caller, fleet_id, paging.limit, paging.after), DeploymentOut.of)


@router.post(
    "/{fleet_id}/deployments", status_code=201, responses=documented(409), openapi_extra=audited("deployment.created")
)
def create_deployment(
    fleet_id: FleetId, body: CreateDeployment, caller: Writer, request: Request, response: Response
) -> DeploymentChanged:
    """Create a deployment group that runs a published version.

    `replicas` is stored for any role of a Kubernetes fleet, and takes effect for `gateway` only.
    """
    with ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound), checks.under_way(caller):
        created = assignments.create(caller, fleet_id, **dict(body))
    response.headers["Location"] = f"{PUBLIC}/fleets/{fleet_id}/deployments/{created.group.id}"
    add_details(request, created.audited)
    return DeploymentChanged.of_change(created)


@router.get("/{fleet_id}/deployments/{deployment_id}")
def get_deployment(fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader) -> DeploymentOut:
    """One deployment group."""
    return DeploymentOut.of(deployments.get(caller, fleet_id, deployment_id))


@router.patch(
    "/{fleet_id}/deployments/{deployment_id}", responses=documented(409), openapi_extra=audited("deployment.changed")
)
def patch_deployment(
    fleet_id: FleetId, deployment_id: DeploymentId, body: PatchDeployment, caller: Writer, request: Request
) -> DeploymentChanged:
    """Change a group. `configuration_id` alone assigns its newest published version, null clears the assignment."""
    changes = body.changes()
    assigns = not {"configuration_id", "version_number"}.isdisjoint(changes)
    with (
        ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound),
        checks.under_way(caller, asked=assigns),
    ):
        changed = assignments.change(caller, fleet_id, deployment_id, changes)
    add_details(request, changed.audited)
    return DeploymentChanged.of_change(changed)


@router.post(
    "/{fleet_id}/deployments/{deployment_id}/upgrade-check", responses=documented(409), openapi_extra=EXTENSION
)
def check_upgrade(fleet_id: FleetId, deployment_id: DeploymentId, body: CheckUpgrade, caller: Reader) -> UpgradeReport:
    """What changes if the group's assigned version moves to another collector version. Nothing is saved.

    409 if no version is assigned; 503 means that one of the collectors could not be asked.
    """
    with checks.under_way(caller):
        version = assigned.version(caller, fleet_id, deployment_id)
        text = body.text_of(version, ("path", "deployment_id"))
        return UpgradeReport.of(upgrades.check(text, body.to, body.source, asker=Asker.of(caller)))


@by_hand.post("/fleets/{fleet_id}/token", openapi_extra=audited("fleet.token_renewed"))
def renew_token(fleet_id: FleetId, body: RenewToken, caller: SessionAdmin) -> FleetOut:
    """Issue the fleet's next token, which install commands contain from now on. With grace `none`, all others end."""
    return FleetOut.of(fleets.renew_token(caller, fleet_id, body.grace))


@by_hand.put(
    "/fleets/{fleet_id}/deployments/{deployment_id}/volume-mounts",
    openapi_extra=audited("deployment.volume_mounts_changed"),
)
def put_volume_mounts(
    fleet_id: FleetId, deployment_id: DeploymentId, body: PutVolumeMounts, caller: SessionMember
) -> DeploymentOut:
    """Set a group's volume mounts. A docker command leaves out those that are not safe in it."""
    return DeploymentOut.of(mounts.replace_all(caller, fleet_id, deployment_id, body.mounts()))


app = create_app("Headgate fleets", [router, by_hand, fleet_pages.router, collector_pages.router])
pages.install(app)
handler = lambda_handler(app)

"""A deployment group's volume mounts: folders of a host that its containers see."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from headgate.audit import service as audit
from headgate.deployments import store
from headgate.deployments.model import Deployment, FieldRefused, VolumeMount
from headgate.deployments.service import of_fleet
from headgate.fleets import service as fleets
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.storage.retry import retried

MAX_MOUNTS: Final = 20
LONGEST_PATH: Final = 1_000


class MountsRefused(errors.Invalid):
    """A mount that cannot be stored. Whether a path is safe in a command is decided where the command is composed."""

    code = "volume_mounts_invalid"


def replace_all(caller: Caller, fleet_id: str, deployment_id: str, mounts: Sequence[VolumeMount]) -> Deployment:
    """Set a group's volume mounts. Raises as `change` does."""
    return change(caller, fleet_id, deployment_id, lambda _: mounts)


def add(caller: Caller, fleet_id: str, deployment_id: str, mount: VolumeMount) -> Deployment:
    """Add a mount after those that are there. Raises as `change` does; the index in an error is the new mount's."""
    return change(caller, fleet_id, deployment_id, lambda mounts: [*mounts, mount])


def remove(caller: Caller, fleet_id: str, deployment_id: str, mount: VolumeMount) -> Deployment:
    """Remove a mount if it is still there. Raises as `change` does."""
    return change(caller, fleet_id, deployment_id, lambda mounts: [each for each in mounts if each != mount])


@retried
def change(
    caller: Caller,
    fleet_id: str,
    deployment_id: str,
    changed: Callable[[Sequence[VolumeMount]], Sequence[VolumeMount]],
) -> Deployment:
    """Replace a group's mounts by what `changed` makes of them; one transaction with the record of the change.

    Raises FleetNotFound, DeploymentNotFound, MountsRefused, FieldRefused for a Kubernetes fleet.
    """
    fleet = fleets.get(caller, fleet_id)
    before = of_fleet(fleet_id, deployment_id)
    mounts = changed(before.volume_mounts)
    if mounts and fleet.on_kubernetes:
        raise FieldRefused("volume_mounts", "A Kubernetes fleet's groups have no volume mounts")
    _require_valid(mounts)
    after = replace(before, volume_mounts=mounts, updated_at=clock.now(), revision=before.revision + 1)
    target = f"fleets/{fleet_id}/deployments/{deployment_id}"
    store.replace(
        before, after, audit.entry(caller, "deployment.volume_mounts_changed", target, mounts=str(len(mounts)))
    )
    return after


def _require_valid(mounts: Sequence[VolumeMount]) -> None:
    """Raises MountsRefused, naming every field that is wrong."""
    if len(mounts) > MAX_MOUNTS:
        message = f"A group has at most {MAX_MOUNTS} volume mounts; these are {len(mounts)}"
        raise MountsRefused(message, at=("body", "volume_mounts"))
    problems: list[errors.FieldError] = []
    for index, mount in enumerate(mounts):
        for name, path in (("host_path", mount.host_path), ("mount_path", mount.mount_path)):
            problem = _problem(path)
            if not problem and name == "mount_path" and path in [mount.mount_path for mount in mounts[:index]]:
                problem = "Another mount is at this path already"
            if problem:
                problems.append(errors.FieldError(("body", "volume_mounts", index, name), problem))
    if problems:
        field = ".".join(str(part) for part in problems[0].loc)
        raise MountsRefused(f"{field}: {problems[0].message}", problems)


def _problem(path: str) -> str:
    if not path.strip():
        return "A path is needed"
    if len(path) > LONGEST_PATH:
        return f"A path has at most {LONGEST_PATH} characters"
    if not path.isprintable():
        return "A path cannot hold line breaks or other control characters"
    return ""

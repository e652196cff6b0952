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
from headgate.storage.retry import retry

MOST_MOUNTS: Final = 20
LONGEST_PATH: Final = 1_000


class MountsRefused(errors.Invalid):
    """What no mount can be. Whether a path is safe in a command is for whoever composes the command."""

    code = "volume_mounts_invalid"


def replace_all(caller: Caller, fleet_id: str, deployment_id: str, mounts: Sequence[VolumeMount]) -> Deployment:
    """Set a group's volume mounts; with the record of the change. Raises as `change` does."""
    return change(caller, fleet_id, deployment_id, lambda _: mounts)


def add(caller: Caller, fleet_id: str, deployment_id: str, mount: VolumeMount) -> Deployment:
    """Add one to whatever others add meanwhile. Raises as `change` does; a problem's place is that of the added one."""
    return change(caller, fleet_id, deployment_id, lambda mounts: [*mounts, mount])


def remove(caller: Caller, fleet_id: str, deployment_id: str, mount: VolumeMount) -> Deployment:
    """Remove one, if it is still there. Raises as `change` does."""
    return change(caller, fleet_id, deployment_id, lambda mounts: [one for one in mounts if one != mount])


def change(
    caller: Caller,
    fleet_id: str,
    deployment_id: str,
    changed: Callable[[Sequence[VolumeMount]], Sequence[VolumeMount]],
) -> Deployment:
    """Make of a group's mounts what `changed` makes of them; one transaction with the record of the change.

    Raises FleetNotFound, DeploymentNotFound, MountsRefused, FieldRefused for a Kubernetes fleet.
    """
    fleet = fleets.get(caller, fleet_id)

    def once() -> Deployment:
        before = of_fleet(fleet_id, deployment_id)
        mounts = changed(before.volume_mounts)
        if mounts and fleet.on_kubernetes:
            raise FieldRefused("volume_mounts", "A Kubernetes fleet's groups have no volume mounts")
        require_good(mounts)
        after = replace(before, volume_mounts=mounts, updated_at=clock.now(), revision=before.revision + 1)
        target = f"fleets/{fleet_id}/deployments/{deployment_id}"
        store.replace(
            before, after, audit.entry(caller, "deployment.volume_mounts_changed", target, mounts=str(len(mounts)))
        )
        return after

    return retry(once)


def require_good(mounts: Sequence[VolumeMount]) -> None:
    """Raises MountsRefused, naming every field that is wrong."""
    if len(mounts) > MOST_MOUNTS:
        message = f"A group has at most {MOST_MOUNTS} volume mounts; these are {len(mounts)}"
        raise MountsRefused(message, [errors.FieldError(("body", "volume_mounts"), message)])
    found: list[errors.FieldError] = []
    for place, mount in enumerate(mounts):
        for name, path in (("host_path", mount.host_path), ("mount_path", mount.mount_path)):
            problem = _problem(path)
            if not problem and name == "mount_path" and path in [one.mount_path for one in mounts[:place]]:
                problem = "Another mount is at this path already"
            if problem:
                found.append(errors.FieldError(("body", "volume_mounts", place, name), problem))
    if found:
        where = ".".join(str(part) for part in found[0].loc)
        raise MountsRefused(f"{where}: {found[0].message}", found)


def _problem(path: str) -> str:
    if not path.strip():
        return "A path is needed"
    if len(path) > LONGEST_PATH:
        return f"A path has at most {LONGEST_PATH} characters"
    if not path.isprintable():
        return "A path holds no line breaks and no other control characters"
    return ""

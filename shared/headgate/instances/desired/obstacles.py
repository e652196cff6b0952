"""Why a host cannot be moved to another collector by Headgate, and what a person can do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headgate.deployments.programs import Program
    from headgate.instances.model import Instance


def runs_collector(instance: Instance, collector: Program) -> bool:
    """Whether it reports to run that version of the collector."""
    return instance.description.collector_version == collector.version


def obstacle(instance: Instance, collector: Program | None) -> str | None:
    """Why this collector cannot be brought to the instance, and the way out; None if it can, or runs there already."""
    if collector is None or runs_collector(instance, collector):
        return None
    host = instance.host
    runs = instance.description.collector_version or "a version that is not known"
    needs = f"The version needs collector {collector.version}, and this host runs {runs}. "
    if "upgrade_collector" not in host.can:
        return needs + _way_out(instance, collector)
    if instance.description.arch not in collector.files:
        arch = instance.description.arch or "an unknown architecture"
        return needs + f"That collector is not published for {arch}: the operator runs `make publish-install`"
    return None


def _way_out(instance: Instance, collector: Program) -> str:
    host, group = instance.host, instance.deployment_id
    # Supervisors that do not say how they were installed have these labels from the chart.
    if host.platform == "kubernetes" or "k8s.node.name" in host.labels:
        release = group.replace("dep_", "headgate-")
        return (
            "Helm moves it: `headgate fleet install "
            f"{instance.fleet_id} --platform kubernetes --deployment {group}` prints the command; add "
            f"`--set image.tag={collector.version}` to it (release {release})"
        )
    install = f"headgate fleet install {instance.fleet_id} --deployment {group}"
    if host.platform == "docker":
        return (
            f"Docker moves it: make an image with that collector, and replace the container by the one that "
            f"`{install} --platform docker` prints"
        )
    return f"Its supervisor cannot replace a collector. Install the host again: `{install}` prints the command"

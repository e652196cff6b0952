"""What a signed link serves: an install script, or a chart's values; and the files that these fetch in turn."""

import json
import shlex
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet, FleetTokenExpired
from headgate.foundation import clock, errors
from headgate.installs import releases
from headgate.installs.commands import image
from headgate.installs.links import Link, Platform
from headgate.installs.releases import Artifact, ReleaseNotPublished

OPAMP: Final = "/v1/opamp"
_SCRIPTS: Final[Mapping[Platform, str]] = {"linux": "linux.sh", "docker": "docker.sh"}


class LinkInvalid(errors.Forbidden):
    """Nothing of this deployment's signed it; whether the group exists is not told."""

    code = "link_invalid"

    def __init__(self) -> None:
        super().__init__("This link is not one that this server issued; compose a new install command")


class LinkExpired(errors.Gone):
    """It was good once: an hour has passed, or the token that it leads to was renewed."""

    code = "link_expired"

    def __init__(self) -> None:
        super().__init__(
            "This link has expired: it is good for an hour, and until the fleet's token is renewed; "
            "compose a new install command"
        )


def require_good(link: Link, signature: str) -> None:
    """Raises LinkInvalid, LinkExpired."""
    if not link.signed_by(signature, datetime.fromtimestamp(0, clock.now().tzinfo)):
        raise LinkInvalid
    if not link.signed_by(signature, clock.now()):
        raise LinkExpired


def script(link: Link) -> str:
    """The script of a checked link of docker or linux.

    Raises FleetNotFound, DeploymentNotFound, FleetTokenExpired, ReleaseNotPublished.
    """
    _require_installable(link)
    platform: Platform = "docker" if link.platform == "docker" else "linux"
    release = releases.current()
    values = {
        "base": link.url(fleets.endpoint()).partition("?")[0],
        "query": link.query(),
    }
    if platform == "docker":
        values |= {"image": image(), "collector_version": release.collector_version}
    for part in ("collector", "supervisor"):
        for arch in ("amd64", "arm64"):
            artifact = release.artifacts.get(f"{part}-{arch}")
            packed = "gz" if artifact and artifact.compressed else ""
            values |= {f"{part}_{arch}": artifact.sha256 if artifact else "", f"{part}_{arch}_packed": packed}
    if not any(name.startswith("supervisor-") for name in release.artifacts):
        raise ReleaseNotPublished("The supervisor")
    assignments = "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())
    text = _file(_SCRIPTS[platform]).replace("# @VALUES@\n", assignments, 1)
    return text.replace("# @DOCKERFILE@\n", _file("Dockerfile"), 1)


def values(link: Link) -> str:
    """The chart's values of a checked link of Kubernetes. No secret is among them: the line hands that to helm itself.

    Raises FleetNotFound, DeploymentNotFound, FleetTokenExpired, LinkExpired for a link from before a renewal: whoever
    has seen it shall not get the next token by it.
    """
    fleet, group = _require_installable(link)
    if link.generation != fleet.token_generation:
        raise LinkExpired
    repository, _, tag = image().rpartition(":")
    chosen: dict[str, object] = {
        "role": group.role,
        "endpoint": fleets.endpoint() + OPAMP,
        "deploymentId": group.id,
        "image": {"repository": repository, "tag": tag},
    }
    if group.replicas is not None:
        chosen["replicas"] = group.replicas
    # JSON is YAML, and quotes whatever it holds.
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in chosen.items())


def artifact(link: Link, name: str) -> Artifact:
    """A file for whoever holds a checked link; a cluster needs the chart alone, a host all but it.

    Raises ArtifactNotFound, ReleaseNotPublished.
    """
    if (link.platform == "kubernetes") != (name == releases.CHART):
        raise releases.ArtifactNotFound
    return releases.current().artifact(name)


def _require_installable(link: Link) -> tuple[Fleet, Deployment]:
    fleet = fleets.of_organization(link.organization_id, link.fleet_id)
    group = deployments.of_fleet(fleet.id, link.deployment_id)
    if fleet.token_expired(clock.now()):
        raise FleetTokenExpired
    return fleet, group


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")

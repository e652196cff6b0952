"""Files behind signed links: an install script or a chart's values, and the files that these fetch."""

import base64
import json
import re
import shlex
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from headgate.deployments import deliveries, variables
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.fleets.model import Fleet, FleetTokenExpired
from headgate.foundation import clock, errors
from headgate.identity.model import NotAuthenticated
from headgate.installs import releases
from headgate.installs.commands import OPAMP_PATH, image, yaml_entries
from headgate.installs.links import Link
from headgate.installs.releases import Artifact, Release, ReleaseNotPublished
from headgate.instances.reported.host_key import KeyInvalid, fingerprint, sealed_for

_PROGRAM: Final = "program-"
PROGRAM: Final = re.compile(f"{_PROGRAM}[0-9a-f]{{64}}")
"""The name by which a host that is upgraded fetches what was pinned for it, whatever is published meanwhile."""
_SCRIPTS: Final = {"linux": "linux.sh", "docker": "docker.sh", "windows": "windows.ps1", "macos": "macos.sh"}


_KEY: Final = re.compile("[A-Za-z0-9_-]{43}")


class HostKeyInvalid(errors.BadRequest):
    """The host's key cannot be used to seal secrets."""

    code = "host_key_invalid"
    detail = "X-Host-Key must be an Ed25519 public key in base64url, as `headgate-supervisor key` prints it"


class LinkInvalid(errors.Forbidden):
    """This deployment did not sign the link. The message does not say whether the group exists."""

    code = "link_invalid"
    detail = "This server did not issue this link; compose a new install command"


class LinkExpired(errors.Gone):
    """The link was valid: an hour has passed since, or the fleet's token was renewed."""

    code = "link_expired"
    detail = (
        "This link has expired: a link is valid for an hour, and only until the fleet's token is renewed; "
        "compose a new install command"
    )


def require_valid(link: Link, signature: str) -> None:
    """Raises LinkInvalid, LinkExpired."""
    if not link.signed_by(signature, datetime.fromtimestamp(0, clock.now().tzinfo)):
        raise LinkInvalid
    if not link.signed_by(signature, clock.now()):
        raise LinkExpired


def script(link: Link) -> str:
    """The install script of a platform, for a checked link.

    Raises FleetNotFound, DeploymentNotFound, FleetTokenExpired, ReleaseNotPublished.
    """
    _require_installable(link)
    platform = link.platform
    release = releases.current()
    if platform in releases.SYSTEMS:
        return _script_of_program(link, release)
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


def _script_of_program(link: Link, release: Release) -> str:
    """The script that fetches the supervisor, which then installs itself."""
    programs: dict[str, dict[str, dict[str, str | bool | int]]] = {"supervisor": {}, "collector": {}}
    for part, files in programs.items():
        for architecture in releases.ARCHITECTURES:
            artifact = release.artifacts.get(f"{part}-{link.platform}-{architecture}")
            if artifact:
                files[architecture] = {
                    "sha256": artifact.sha256,
                    "gzip": artifact.compressed,
                    "binary_sha256": artifact.binary_sha256,
                    "size": artifact.size,
                }
    if not programs["supervisor"]:
        raise ReleaseNotPublished(f"The supervisor for {link.platform}")
    described = {
        "platform": link.platform,
        "files": link.url(fleets.endpoint()).partition("?")[0],
        "query": link.query(),
        "supervisors": programs["supervisor"],
        "collectors": programs["collector"],
    }
    text = json.dumps(described)
    if link.platform == "windows":
        return _file(_SCRIPTS["windows"]).replace("@VALUES@", text, 1)
    assigned = {"values": text, "files": str(described["files"]), "query": link.query()}
    for arch, program in programs["supervisor"].items():
        assigned |= {f"supervisor_{arch}": str(program["sha256"]), f"packed_{arch}": "gz" if program["gzip"] else ""}
    lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in assigned.items())
    return _file(_SCRIPTS["macos"]).replace("# @VALUES@\n", lines, 1)


def values(link: Link) -> str:
    """The chart's values, for a checked link. They contain no secret: the command gives the token to helm itself.

    Raises FleetNotFound, DeploymentNotFound, FleetTokenExpired, and LinkExpired if the token was renewed since.
    """
    fleet, group = _require_installable(link)
    if link.generation != group.token_of(fleet)[1]:
        raise LinkExpired
    repository, _, tag = image().rpartition(":")
    chosen: dict[str, object] = {
        "role": group.role,
        "endpoint": fleets.endpoint() + OPAMP_PATH,
        "deploymentId": group.id,
        "image": {"repository": repository, "tag": tag},
    }
    if group.replicas is not None:
        chosen["replicas"] = group.replicas
    # JSON is YAML, and quotes every value.
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in chosen.items())


def stored_variables(link: Link, credential: str, code: str) -> str:
    """The variables that are stored with the group and not secret, for a checked link and the group's own token.

    If there are secrets, it takes a valid code as well, so that no host is installed without them. Raises
    NotAuthenticated, FleetNotFound, DeploymentNotFound, FleetTokenExpired, CodeInvalid.
    """
    group = _group_of(link, credential)
    environment = variables.of_group(group)
    if environment.secrets:
        deliveries.require_valid(code, group)
    return _lines(link, environment.plain)


def stored_secrets(link: Link, credential: str, code: str) -> str:
    """The secrets that are stored with the group, in clear: one of the deliveries that the code is for.

    Raises as `stored_variables`, and NotReadable, CodeUsed.
    """
    group = _group_of(link, credential)
    # Opening costs a decryption for each secret, so not without a code.
    deliveries.require_valid(code, group)
    opened = variables.opened(group.id, variables.of_group(group))
    deliveries.record(code, group, sorted(opened), host_key=None)
    return _lines(link, opened)


def sealed_secrets(link: Link, credential: str, code: str, host_key: str) -> bytes:
    """The same, sealed for a host's public key: entries `NAME=VALUE` that end with a NUL.

    Raises HostKeyInvalid as well.
    """
    group = _group_of(link, credential)
    if not _KEY.fullmatch(host_key):
        raise HostKeyInvalid
    public = base64.urlsafe_b64decode(host_key + "=")
    deliveries.require_valid(code, group)
    opened = variables.opened(group.id, variables.of_group(group))
    try:
        sealed = sealed_for(public, "".join(f"{name}={value}\0" for name, value in opened.items()).encode())
    except KeyInvalid as error:
        raise HostKeyInvalid from error
    deliveries.record(code, group, sorted(opened), host_key=fingerprint(public))
    return sealed


def _group_of(link: Link, credential: str) -> Deployment:
    """The link's group, for its own token. Raises NotAuthenticated, FleetNotFound, DeploymentNotFound,
    FleetTokenExpired."""
    _, group = _require_installable(link)
    stored = fleets.token(tokens.hash_of_credential(credential))
    token = tokens.require_valid(stored, link.fleet_id, clock.now())
    if token.deployment_id != group.id:
        raise NotAuthenticated
    return group


def _lines(link: Link, values: Mapping[str, str]) -> str:
    """A line for the shell that runs the install script, lines of a file for docker's `--env-file`, entries of the
    chart's values, or of the supervisor's own file."""
    pairs = [f"{name}={value}" for name, value in values.items()]
    match link.platform:
        case "linux":
            arguments = shlex.join(word for pair in pairs for word in ("--env", pair))
            lines = [f'set -- "$@" {arguments}']
        case "windows" | "macos":
            return "".join(f"{pair}\0" for pair in pairs)
        case "docker":
            lines = pairs
        case _:
            lines = yaml_entries(values)
    return "".join(f"{line}\n" for line in lines)


def artifact(link: Link, name: str) -> Artifact:
    """A file, for a checked link, by its name or as `program-<sha256>`. A cluster fetches only the chart.

    Raises ArtifactNotFound, ReleaseNotPublished.
    """
    if (link.platform == "kubernetes") != (name == releases.CHART):
        raise releases.ArtifactNotFound
    if PROGRAM.fullmatch(name):
        return releases.current().program(name.removeprefix(_PROGRAM))
    return releases.current().artifact(name)


def _require_installable(link: Link) -> tuple[Fleet, Deployment]:
    fleet = fleets.of_organization(link.organization_id, link.fleet_id)
    group = deployments.of_fleet(fleet.id, link.deployment_id)
    if group.token_expired(fleet, clock.now()):
        raise FleetTokenExpired
    return fleet, group


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")

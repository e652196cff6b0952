"""Install commands as lines for a POSIX shell. Every word is quoted here, whatever it holds."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from headgate.deployments.model import VolumeMount
from headgate.settings import settings

Architecture = Literal["amd64", "arm64"]

_IMAGE: Final = "headgate-supervisor"
_HOME: Final = "/home/nonroot"
"""Of the image's user, to whom Docker gives a new volume that is mounted there."""
_MOUNTABLE: Final = re.compile(r"/[A-Za-z0-9._/-]*")


def image() -> str:
    """The image that docker and Kubernetes run, with its tag: the operator's choice, else one of that name here."""
    return settings().supervisor_image or f"{_IMAGE}:{settings().collector_version}"


@dataclass(frozen=True, slots=True)
class Connection:
    """What a supervisor needs to reach its group. `token` is None on Kubernetes, where a Secret brings it."""

    endpoint: str
    fleet_id: str
    deployment_id: str
    token: str | None


def docker(
    connection: Connection,
    *,
    image: str,
    server_name: str | None,
    mounts: Sequence[VolumeMount],
    env: Mapping[str, str],
) -> str:
    """One `docker run` with the group's mounts; those that are not safe are left out.

    A volume holds what the supervisor stores, so that the container that follows, for a renewed token or a newer image,
    is the same instance and goes on where the one before was.
    """
    name = container(connection, server_name)
    # `--init`: the supervisor is no init, and a collector's receivers may leave processes behind.
    words = ["docker", "run", "--detach", "--init", "--restart", "unless-stopped", "--name", name]
    if server_name:
        words += ["--hostname", server_name]
    safe = [mount for mount in mounts if mountable(mount)]
    for mount in safe:
        words += ["--volume", f"{mount.host_path}:{mount.mount_path}"]
    if all(mount.mount_path.rstrip("/") != _HOME for mount in safe):
        # Not named as the container alone: a volume of that name may be something else's.
        volume = f"headgate-{server_name or connection.deployment_id}"
        words += ["--mount", f"type=volume,source={volume},target={_HOME}"]
    # Docker keeps the last of two values, so a variable of the caller's never replaces the connection.
    variables = {
        **env,
        "HEADGATE_ENDPOINT": connection.endpoint,
        "HEADGATE_DEPLOYMENT_ID": connection.deployment_id,
        "HEADGATE_FLEET_TOKEN": connection.token or "",
    }
    for variable, value in variables.items():
        words += ["--env", f"{variable}={value}"]
    return shlex.join([*words, image])


def container(connection: Connection, server_name: str | None) -> str:
    """The container's name."""
    return server_name or f"headgate-{connection.deployment_id}"


def linux(
    connection: Connection,
    *,
    script_url: str,
    arch: Architecture,
    root_deploy_path: str,
    systemd: bool,
    env: Mapping[str, str],
) -> str:
    """One line that fetches the signed script and runs it; as root where it makes a systemd unit.

    The token and the variables are an assignment in front of the script, in what the shell reads: as words of its own
    they would be in every user's list of processes while it runs, and in the log that sudo keeps for good.
    """
    secret = ["--token", connection.token or ""]
    for variable, value in env.items():
        secret += ["--env", f"{variable}={value}"]
    given = shlex.join(["printf", r"%s\n", f'set -- "$@" {shlex.join(secret)}'])
    # The status of a pipe is that of its end: without the script, that has to fail as well.
    fetched = f"{shlex.join(['curl', *_secure(script_url), '-fsSL', script_url])} || echo exit 1"
    words = ["sh", "-s", "--", "--endpoint", connection.endpoint, "--deployment-id", connection.deployment_id]
    words += ["--arch", arch, "--root", root_deploy_path, "--systemd" if systemd else "--no-systemd"]
    if systemd:
        words.insert(0, "sudo")
    return f"{{ {given}; {fetched}; }} | {shlex.join(words)}"


def _secure(url: str) -> list[str]:
    """What keeps curl from a redirect to a page without TLS; a server on a laptop has none."""
    return ["--proto", "=https", "--tlsv1.2"] if url.startswith("https://") else []


def kubernetes(
    connection: Connection,
    *,
    token: str,
    chart_url: str,
    values_url: str,
    namespace: str | None,
    env: Mapping[str, str],
) -> str:
    """One `helm upgrade --install` whose chart and values come from the signed link.

    The token and the variables come on helm's standard input: as words they would be in every user's list of processes,
    and in what the link serves they would be whoever's has seen the link.
    """
    # Release names are DNS labels, which have no `_`.
    release = connection.deployment_id.replace("dep_", "headgate-")
    words = ["helm", "upgrade", "--install", release, chart_url, "--namespace", namespace or "headgate"]
    words += ["--create-namespace", "--values", values_url, "--values", "-"]
    secret: dict[str, object] = {"token": token}
    if env:
        secret["env"] = dict(env)
    given = shlex.join(["printf", r"%s\n", _yaml(secret)])
    return f"{given} | {shlex.join(words)}"


def _yaml(value: object) -> str:
    """JSON that is YAML as well: what YAML takes for a line's end, or refuses, is escaped. It knows no surrogates."""
    return re.sub(r"[\x7f-\uffff]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def mountable(mount: VolumeMount) -> bool:
    """Whether a docker command includes the mount; one that is not safe in it is left out."""
    return _mountable(mount.host_path) and _mountable(mount.mount_path)


def _mountable(path: str) -> bool:
    return _MOUNTABLE.fullmatch(path) is not None and ".." not in path.split("/")

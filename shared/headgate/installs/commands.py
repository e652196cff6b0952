"""Install commands as lines for a POSIX shell. Every word is quoted here, whatever it contains."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from headgate.deployments.model import VolumeMount
from headgate.foundation.settings import settings

Architecture = Literal["amd64", "arm64"]

OPAMP_PATH: Final = "/v1/opamp"
"""The path of the fleet service, below the origin that collectors report to."""
_IMAGE: Final = "headgate-supervisor"
_HOME: Final = "/home/nonroot"
"""The home of the image's user, who owns a new volume that Docker mounts there."""
_MOUNTABLE: Final = re.compile(r"/[A-Za-z0-9._/-]*")


def image() -> str:
    """The image that Docker and Kubernetes run, with its tag: the one that the operator configured, or the default."""
    return settings().supervisor_image or f"{_IMAGE}:{settings().collector_version}"


@dataclass(frozen=True, slots=True)
class FleetConnection:
    """Settings of a supervisor for its group. `token` is None on Kubernetes, where a Secret holds it."""

    endpoint: str
    fleet_id: str
    deployment_id: str
    token: str | None


@dataclass(frozen=True, slots=True)
class StoredVariables:
    """The address and the code with which a host fetches its group's variables and secrets.

    An URL is None if there is nothing, and the code if there are no secrets.
    """

    variables_url: str | None
    secrets_url: str | None
    token: str
    code: str | None

    def variables(self, otherwise: str) -> list[str]:
        """A command that prints the variables that are not secret, or `otherwise` if they cannot be had."""
        return [self._fetched("GET", self.variables_url, otherwise)] if self.variables_url else []

    def all(self, otherwise: str) -> list[str]:
        """The same, and one that prints the secrets, which is one of the deliveries of the code."""
        secrets = [self._fetched("POST", self.secrets_url, otherwise)] if self.secrets_url else []
        return [*self.variables(otherwise), *secrets]

    def _fetched(self, method: str, url: str, otherwise: str) -> str:
        """No argument has the token or the code."""
        form = r'header = "Authorization: Bearer %s"\n' + (r'header = "X-Install-Code: %s"\n' if self.code else "")
        headers = shlex.join(["printf", form, self.token, *([self.code] if self.code else [])])
        curl = shlex.join(["curl", *_secure(url), "-fsS", "-X", method, "--config", "-", url])
        return f"{{ {headers} | {curl} || {shlex.join(['echo', otherwise])}; }}"


def docker(
    connection: FleetConnection,
    *,
    image: str,
    server_name: str | None,
    mounts: Sequence[VolumeMount],
    env: Mapping[str, str],
    stored: StoredVariables | None = None,
) -> str:
    """One `docker run` with the group's mounts; those that are not safe are left out.

    What the supervisor stores is in a volume, so that the next container, with a renewed token or a newer image, is the
    same instance and continues where the previous one stopped.
    """
    name = container(connection, server_name)
    # `--init` reaps the processes that a collector's receivers may leave behind.
    words = ["docker", "run", "--detach", "--init", "--restart", "unless-stopped", "--name", name]
    if server_name:
        words += ["--hostname", server_name]
    # `docker stop` otherwise kills after ten seconds, and the collector may need as long to send what it holds.
    words += ["--stop-timeout", "30"]
    safe = [mount for mount in mounts if mountable(mount)]
    for mount in safe:
        words += ["--volume", f"{mount.host_path}:{mount.mount_path}"]
    if all(mount.mount_path.rstrip("/") != _HOME for mount in safe):
        # With a prefix: a volume with the container's plain name may belong to another program.
        volume = f"headgate-{server_name or connection.deployment_id}"
        words += ["--mount", f"type=volume,source={volume},target={_HOME}"]
    # Docker uses the last of two values, so a variable of the caller never replaces the connection.
    variables = {
        **env,
        "HEADGATE_ENDPOINT": connection.endpoint,
        "HEADGATE_DEPLOYMENT_ID": connection.deployment_id,
        "HEADGATE_FLEET_TOKEN": connection.token or "",
    }
    for variable, value in variables.items():
        words += ["--env", f"{variable}={value}"]
    if stored is None:
        return shlex.join([*words, image])
    # `--env` wins over the file. A line without a name makes docker fail, so that nothing starts without its variables.
    fetched = "; ".join(stored.all("="))
    return f"{{ {fetched}; }} | {shlex.join([*words, '--env-file', '/dev/stdin', image])}"


def container(connection: FleetConnection, server_name: str | None) -> str:
    """The container's name."""
    return server_name or f"headgate-{connection.deployment_id}"


def linux(
    connection: FleetConnection,
    *,
    script_url: str,
    arch: Architecture,
    root_deploy_path: str,
    systemd: bool,
    env: Mapping[str, str],
    stored: StoredVariables | None = None,
    from_official: bool = False,
) -> str:
    """One line that fetches the script by its signed link and runs it, as root if it installs a systemd unit.

    The token and the variables are written in front of the script on the shell's standard input. As arguments, every
    user would see them in the list of processes, and sudo would log them.
    """
    secret = ["--token", connection.token or ""]
    if stored and stored.code:
        # The script fetches the secrets once the host has its key, sealed for it.
        secret += ["--secrets", stored.code]
    for variable, value in env.items():
        secret += ["--env", f"{variable}={value}"]
    printed = shlex.join(["printf", r"%s\n", f'set -- "$@" {shlex.join(secret)}'])
    # A pipe has the exit status of its last command, so that one has to fail if the script could not be fetched.
    fetched = f"{shlex.join(['curl', *_secure(script_url), '-fsSL', script_url])} || echo exit 1"
    words = ["sh", "-s", "--", "--endpoint", connection.endpoint, "--deployment-id", connection.deployment_id]
    words += ["--arch", arch, "--root", root_deploy_path, "--systemd" if systemd else "--no-systemd"]
    if from_official:
        words.append("--from-official")
    if systemd:
        words.insert(0, "sudo")
    before = [printed, *(stored.variables("exit 1") if stored else ())]
    return f"{{ {'; '.join([*before, fetched])}; }} | {shlex.join(words)}"


def order(connection: FleetConnection, *, env: Mapping[str, str], stored: StoredVariables | None) -> str:
    """The order by which the supervisor installs itself, as JSON in ASCII on one line."""
    described: dict[str, object] = {
        "endpoint": connection.endpoint,
        "deployment_id": connection.deployment_id,
        "token": connection.token,
    }
    if env:
        described["variables"] = dict(env)
    if stored:
        described |= {"stored": True, "code": stored.code or ""}
    return json.dumps(described)


def windows(order: str, *, script_url: str) -> str:
    """One line for a PowerShell: no process is started with the token as an argument, and no file has it."""
    # Without redirects and TLS 1.2 by itself, as PowerShell 5.1 has it on an older Windows.
    tls = "[Net.ServicePointManager]::SecurityProtocol = 'Tls12'; " if script_url.startswith("https://") else ""
    fetched = f"Invoke-RestMethod -UseBasicParsing -MaximumRedirection 0 -Uri {_powershell(script_url)}"
    return f"{tls}& ([scriptblock]::Create(({fetched}))) -Order {_powershell(order)}"


def _powershell(text: str) -> str:
    """A string that PowerShell takes as it is."""
    # It reads the typographic quotes as quotes as well; an order has none of them, for it is ASCII.
    return "'" + text.replace("'", "''") + "'"


def macos(order: str, *, script_url: str, root_deploy_path: str) -> str:
    """One line that fetches the script by its signed link and runs it as root, with the order on its standard input."""
    words = {"order": order, "root": root_deploy_path}
    assigned = "".join(f"{name}={shlex.quote(value)}\n" for name, value in words.items())
    before = shlex.join(["printf", "%s", assigned])
    fetched = f"{shlex.join(['curl', *_secure(script_url), '-fsSL', script_url])} || echo exit 1"
    return f"{{ {before}; {fetched}; }} | sudo sh"


def _secure(url: str) -> list[str]:
    """Options that keep curl from following a redirect to a page without TLS; a server on a laptop has no TLS."""
    return ["--proto", "=https", "--tlsv1.2"] if url.startswith("https://") else []


def kubernetes(
    connection: FleetConnection,
    *,
    token: str,
    chart_url: str,
    values_url: str,
    namespace: str | None,
    env: Mapping[str, str],
    stored: StoredVariables | None = None,
) -> str:
    """One `helm upgrade --install` whose chart and values come from the signed link.

    The token and the variables come on helm's standard input: as arguments every user would see them in the list of
    processes, and in the values behind the link everyone who has seen the link would.
    """
    # Release names are DNS labels, which cannot contain `_`.
    release = connection.deployment_id.replace("dep_", "headgate-")
    words = ["helm", "upgrade", "--install", release, chart_url, "--namespace", namespace or "headgate"]
    words += ["--create-namespace", "--values", values_url, "--values", "-"]
    if stored is not None:
        written = shlex.join(["printf", r"%s\n", f"token: {_yaml(token)}", "env:", *yaml_entries(env)])
        # A quote that does not end makes helm fail, so that nothing starts without its variables.
        fetched = stored.all('"')
        return f"{{ {'; '.join([written, *fetched])}; }} | {shlex.join(words)}"
    secret: dict[str, object] = {"token": token}
    if env:
        secret["env"] = dict(env)
    printed = shlex.join(["printf", r"%s\n", _yaml(secret)])
    return f"{printed} | {shlex.join(words)}"


def yaml_entries(env: Mapping[str, str]) -> list[str]:
    """Lines of a YAML mapping, indented."""
    # Names in quotes, too: YAML reads NO and Y as truth values.
    return [f"  {_yaml(name)}: {_yaml(value)}" for name, value in env.items()]


def _yaml(value: object) -> str:
    """JSON that is also YAML: characters that YAML reads as line ends, or refuses, are escaped."""
    # Not by `ensure_ascii`: it writes surrogates, which YAML does not know.
    return re.sub(r"[\x7f-\uffff]", lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def mountable(mount: VolumeMount) -> bool:
    """True if a docker command includes the mount. Specified: any other one is left out, without an error."""
    return _mountable(mount.host_path) and _mountable(mount.mount_path)


def _mountable(path: str) -> bool:
    return _MOUNTABLE.fullmatch(path) is not None and ".." not in path.split("/")

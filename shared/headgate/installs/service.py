"""Composing the command that makes a host or a cluster join a deployment group."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from headgate.deployments import assigned, deliveries, variables
from headgate.deployments import service as deployments
from headgate.deployments.environment import Environment
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.fleets.model import Fleet, FleetTokenExpired
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.installs import commands
from headgate.installs.commands import OPAMP_PATH, Architecture, FleetConnection, StoredVariables
from headgate.installs.links import LIFETIME, SECRETS, VARIABLES, Link, Platform
from headgate.installs.releases import CHART, SYSTEMS
from headgate.instances.reported.host import GATES_LABEL, LARGEST_NAMES, MOST_LABELS

_SEALED: Final = ("linux", *SYSTEMS)
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
# The platforms whose collectors have a network of their own, with the way to reach the service from it.
_APART: Final[Mapping[str, str]] = {
    "docker": "write `--network host` after `docker run`, on the machine where Headgate runs",
    "kubernetes": "Headgate needs an address that the cluster reaches",
}
UNTRIED: Final = (
    "Windows and macOS are new here: the service was tried under Wine, and never on Windows or a Mac itself; "
    "try one host before you install more"
)

TAKEOVER: Final = (
    "The command takes the place of the official supervisor's service opampsupervisor, which it stops and disables",
    "What stays: the instance, the configuration that it received last, the collector's variables, and the attributes "
    "of its description as labels",
    "What does not stay: files in agent::config_files, arguments, its collector, and places outside of the install "
    "that the collector writes to; the command names them before it stops anything",
    "The official supervisor goes on if Headgate's does not run and report within two minutes",
)

_MOUNTABLE: Final = (
    "Both paths of a mount have to be absolute, without .. and of letters, digits and . _ - / alone; the group's page "
    "changes them"
)


class NotInstallable(errors.Invalid):
    """The fleet cannot be installed in the way that the request asks for."""

    code = "not_installable"

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message, at=("body", name))


@dataclass(frozen=True, slots=True)
class Options:
    """The host in the request. `deliveries` is how many hosts get the secrets in clear."""

    platform: Platform
    deployment_id: str | None
    server_name: str | None
    arch: Architecture
    root_deploy_path: str
    systemd: bool
    env: Mapping[str, str]
    deliveries: int = 1
    name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    feature_gates: Sequence[str] = ()
    from_official: bool = False

    @property
    def variables(self) -> dict[str, str]:
        """`env`, what the supervisor calls the host by, and the gates that it starts the collector with."""
        variables = dict(self.env)
        if self.feature_gates:
            variables["HEADGATE_FEATURE_GATES"] = ",".join(self.feature_gates)
        if self.name:
            variables["HEADGATE_NAME"] = self.name
        if self.labels:
            variables["HEADGATE_LABELS"] = ",".join(f"{key}={value}" for key, value in self.labels.items())
        return variables


@dataclass(frozen=True, slots=True)
class Install:
    command: str
    connection: FleetConnection
    url: str
    expires_at: datetime
    notes: list[str]


def compose(caller: Caller, fleet_id: str, options: Options) -> Install:
    """The command for one group; reads, and a put if secrets are stored with the group.

    Raises FleetNotFound, FleetsNotConfigured, NotInstallable, DeploymentNotFound, FleetTokenExpired, FleetObserved.
    """
    fleet = fleets.get(caller, fleet_id)
    fleet.require_managed()
    origin = fleets.endpoint()
    if fleet.on_kubernetes != (options.platform == "kubernetes"):
        platforms = "kubernetes" if fleet.on_kubernetes else "docker, linux, windows or macos"
        raise NotInstallable("platform", f"The platform of a {fleet.type} fleet is {platforms}, not {options.platform}")
    group = _group(fleet, options.deployment_id)
    if options.from_official:
        _require_takeover(options, group)
    at = clock.now()
    if group.token_expired(fleet, at):
        raise FleetTokenExpired
    expires = int((at + LIFETIME).timestamp())
    holder, generation = group.token_of(fleet)
    link = Link(options.platform, fleet.organization_id, fleet.id, group.id, expires, generation)
    token = tokens.value_of(holder, generation)
    connection = FleetConnection(origin + OPAMP_PATH, fleet.id, group.id, None if fleet.on_kubernetes else token)
    environment = variables.of_group(group) if group.token_generation else Environment()
    names = sorted(environment.variables)
    _require_apart(options, names, environment.removed)
    expires_at = datetime.fromtimestamp(expires, at.tzinfo)
    code = _code(caller, group, options, expires_at) if environment.secrets else None
    stored = StoredVariables(
        variables_url=link.file_url(origin, VARIABLES) if environment.plain else None,
        secrets_url=link.file_url(origin, SECRETS) if code else None,
        token=token,
        code=code,
    )
    gates = assigned.version(caller, fleet.id, group.id).feature_gates if group.assignment else ()
    options = replace(options, feature_gates=gates)
    _require_room(options)
    command = _command(options, group, connection, link, origin, token, stored if names else None)
    notes = _notes(options, group, connection)
    if gates:
        notes.append(
            f"The host's collector runs with the feature gates of the assigned version: {', '.join(gates)}; "
            "for a version with others, run a new command"
        )
    if names:
        notes.append(f"The host fetches the variables that are stored with the group: {', '.join(names)}")
    if code and options.platform not in _SEALED:
        hosts = "1 host" if options.deliveries == 1 else f"{options.deliveries} hosts"
        notes.append(
            f"The secrets among them are delivered to {hosts}; for more, compose the command with `deliveries`"
        )
    return Install(command, connection, link.url(origin), expires_at, notes)


def _require_takeover(options: Options, group: Deployment) -> None:
    if not options.systemd:
        raise NotInstallable("from_official", "The official supervisor is a service of systemd: leave systemd on")
    if group.assignment is None:
        raise NotInstallable(
            "from_official",
            "No version is assigned to this group, so that the host's collector would run nothing: assign one first",
        )


def _code(caller: Caller, group: Deployment, options: Options, expires_at: datetime) -> str:
    """A host with a key gets its secrets sealed for that, so its command works for any number of hosts."""
    if options.platform in _SEALED:
        return deliveries.issue(caller, group, deliveries.MOST_SEALED, expires_at, sealed=True)
    return deliveries.issue(caller, group, options.deliveries, expires_at, sealed=False)


def _require_room(options: Options) -> None:
    """The supervisor adds labels of its own to those of the request, and tells all of them with the name at once."""
    added = {"k8s.node.name": "n" * 253, "k8s.namespace.name": "n" * 63} if options.platform == "kubernetes" else {}
    if options.feature_gates:
        added[GATES_LABEL] = ",".join(options.feature_gates)
    labels = {**options.labels, **added}
    if len(labels) > MOST_LABELS:
        raise NotInstallable(
            "labels",
            f"This may have {MOST_LABELS - len(added)} labels, since the host adds {', '.join(added)}: leave some out",
        )
    text = json.dumps([options.name, labels], separators=(",", ":"), ensure_ascii=False)
    # The supervisor writes six characters for each of these.
    size = len(text.encode()) + 5 * sum(map(text.count, "<>&"))
    if size > LARGEST_NAMES:
        raise NotInstallable(
            "labels",
            f"The host's name and labels, with those that it adds itself, have {size:,} bytes, but may have "
            f"{LARGEST_NAMES:,}: use fewer or shorter labels",
        )


def _require_apart(options: Options, stored: Sequence[str], removed: Sequence[str]) -> None:
    for name in sorted(options.env):
        if name in stored:
            raise NotInstallable("env", f"{name} is stored with the group: leave it out here, or change it there")
        if name in removed:
            raise NotInstallable("env", f"{name} was removed from the group, so its hosts leave it out: set it there")


def _group(fleet: Fleet, deployment_id: str | None) -> Deployment:
    if deployment_id is None and fleet.default_deployment_id is not None:
        deployment_id = fleet.default_deployment_id
    if deployment_id is None:
        ids = deployments.ids(fleet.id, 2)
        if not ids:
            command = "`headgate deployment create`"
            raise NotInstallable("deployment_id", f"This fleet has no deployment yet; create one with {command}")
        if len(ids) > 1:
            raise NotInstallable("deployment_id", "This fleet has several deployments: name one in deployment_id")
        deployment_id = ids[0]
    return deployments.of_fleet(fleet.id, deployment_id)


def _command(
    options: Options,
    group: Deployment,
    connection: FleetConnection,
    link: Link,
    origin: str,
    token: str,
    stored: StoredVariables | None,
) -> str:
    match options.platform:
        case "docker":
            return commands.docker(
                connection,
                image=commands.image(),
                server_name=options.server_name,
                mounts=group.volume_mounts,
                env=options.variables,
                stored=stored,
            )
        case "linux":
            return commands.linux(
                connection,
                script_url=link.url(origin),
                arch=options.arch,
                root_deploy_path=options.root_deploy_path,
                systemd=options.systemd,
                from_official=options.from_official,
                env=options.variables,
                stored=stored,
            )
        case "windows" | "macos":
            order = commands.order(connection, env=options.variables, stored=stored)
            if options.platform == "windows":
                return commands.windows(order, script_url=link.url(origin))
            return commands.macos(order, script_url=link.url(origin), root_deploy_path=options.root_deploy_path)
        case "kubernetes":
            return commands.kubernetes(
                connection,
                token=token,
                chart_url=link.file_url(origin, CHART),
                values_url=link.url(origin),
                namespace=group.namespace,
                env=options.variables,
                stored=stored,
            )


def _notes(options: Options, group: Deployment, connection: FleetConnection) -> list[str]:
    notes = ["The command contains the fleet's token; treat it as a secret"]
    if options.platform == "docker":
        image = commands.image()
        built = "the script at install_url builds it on the host"
        notes.append(f"The host needs the image {image}; if no registry has it, {built}")
        name = commands.container(connection, options.server_name)
        notes.append(f"If a container of that name exists, remove it first: docker stop {name} && docker rm {name}")
        left_out = [mount.host_path for mount in group.volume_mounts if not commands.mountable(mount)]
        if left_out:
            notes.append(f"Volume mounts are left out of the command: {', '.join(left_out)}. {_MOUNTABLE}")
    if options.platform in _APART and urlsplit(connection.endpoint).hostname in _LOOPBACK:
        notes.append(f"{connection.endpoint} is not reached from a container: {_APART[options.platform]}")
    if options.from_official:
        notes.extend(TAKEOVER)
    if options.platform == "windows":
        notes.append("Run it in a PowerShell that was started as administrator")
    if options.platform in SYSTEMS:
        notes.append(UNTRIED)
    if group.assignment is None:
        notes.append("No version is assigned to this deployment; its collectors run nothing until one is")
    return notes

"""Requests and answers of the fleets endpoints."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    model_validator,
)

from headgate.deployments.deliveries import MOST as MOST_DELIVERIES
from headgate.deployments.versions import Assignment
from headgate.fleets import tokens
from headgate.fleets.model import ExpiresIn, Fleet, FleetMode, FleetType, Grace
from headgate.http.wire import Answer, ManagedBy, PrincipalOut, at, beyond
from headgate.installs.commands import Architecture
from headgate.installs.links import Platform
from headgate.installs.observing import Client, Transport
from headgate.installs.service import Install, Options
from headgate.instances.counting.fleets import CountedFleet
from headgate.instances.reported.host import MOST_LABELS
from headgate.instances.service import SeenInstance
from headgate.instances.state.model import INSTANCE_STATES, InstanceState
from headgate_engine.collector import VARIABLE_NAME
from headgate_engine.wire.inputs import MAX_VARIABLES, Input, Name, Text, refused_as
from headgate_engine.wire.times import Time

_ENV_NAME: Final = re.compile(VARIABLE_NAME)
# The script follows links, and refuses more of them.
_SYSTEM: Final = re.compile(r"/(bin|boot|dev|etc|home|lib|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)/?")
_OPTIONS: Final = {
    "server_name": ("docker",),
    "arch": ("linux",),
    "root_deploy_path": ("linux", "macos"),
    "systemd": ("linux",),
    "from_official": ("linux",),
    "deliveries": ("docker", "kubernetes"),
}


def _plain(value: str) -> str:
    """An argument of a command cannot contain a NUL."""
    if "\0" in value:
        raise ValueError("This cannot contain a NUL character")
    return value


def _path(value: str) -> str:
    # One slash may end the path; otherwise there is a name between any two slashes.
    names = value.removesuffix("/").split("/")[1:]
    if not value.startswith("/") or not value.isprintable() or not names or {"", ".", ".."} & set(names):
        raise ValueError("This must be an absolute path without `.`, `..`, `//` and line breaks, and not / itself")
    if _SYSTEM.fullmatch(value):
        raise ValueError("This is a system folder; give a folder of its own, such as /opt/headgate")
    return value


def _environment(value: dict[str, str]) -> dict[str, str]:
    for name, text in value.items():
        if not _ENV_NAME.fullmatch(name):
            raise ValueError(f"{name[:100]!r} is not a variable name: use letters, digits and `_`, a digit not first")
        _plain(text)
    return value


ServerName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"),
    refused_as("This must be 1 to 63 letters, digits, `_`, `.` and `-`, with a letter or digit at the beginning"),
]
RootPath = Annotated[str, StringConstraints(max_length=4_000), AfterValidator(_path)]
Environment = Annotated[dict[str, Text], Field(max_length=MAX_VARIABLES), AfterValidator(_environment)]


_MODE: Final = "Whether Headgate configures the fleet's collectors, or lists those that others install and configure"
Mode = Annotated[FleetMode, beyond(_MODE)]


class CreateFleet(Input):
    label: Name
    type: FleetType
    expires_in: ExpiresIn = "never"
    managed_by: ManagedBy = None
    mode: Mode = "managed"


_HOST_NAME: Final = "What people call the host, instead of its host name"
_LINE: Final = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"
HostName = Annotated[
    str,
    beyond(_HOST_NAME, min_length=1, max_length=255, pattern=_LINE),
]
_FROM_OFFICIAL: Final = (
    "Takes the place of the official supervisor's service opampsupervisor, which goes on if the new one does not run"
)
LabelKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$")]
# The supervisor reads them from one variable, with commas between them.
LabelValue = Annotated[str, StringConstraints(max_length=255, pattern=r"^[^,\x00-\x1f\x7f-\x9f\u2028\u2029]*$")]


class InstallRequest(Input):
    """Options of another platform than the command's are refused. `labels` select the host, and are shown with it."""

    platform: Platform
    deployment_id: str | None = None
    server_name: ServerName | None = None
    arch: Architecture = "amd64"
    root_deploy_path: RootPath = "/opt/headgate"
    systemd: bool = True
    env: Environment = Field(default_factory=dict)
    deliveries: Annotated[int, beyond(ge=1, le=MOST_DELIVERIES)] = 1
    name: HostName | None = None
    labels: Annotated[dict[LabelKey, LabelValue], beyond(max_length=MOST_LABELS)] = Field(default_factory=dict)
    from_official: Annotated[bool, beyond(_FROM_OFFICIAL)] = False

    @model_validator(mode="after")
    def _options_of_the_platform(self) -> Self:
        for name, platforms in _OPTIONS.items():
            if name in self.model_fields_set and self.platform not in platforms:
                which = " and ".join(platforms)
                raise ValueError(f"{name} is an option of the platform {which}; leave it out for {self.platform}")
        return self

    def options(self) -> Options:
        return Options(**dict(self))


class ObserveRequest(Input):
    client: Annotated[Client, beyond("What reports to the fleet")] = "extension"
    transport: Annotated[Transport, beyond("`websocket` stays connected, to the local service alone")] = "http"


class ObserveOut(Answer):
    """A part of a client's configuration, in YAML; it names the variable of the token, and does not contain it."""

    client: Client
    text: str
    endpoint: str
    token: str
    notes: list[str]


class RenewToken(Input):
    """The grace of the previous token, during which hosts can be installed again."""

    grace: Grace = "1d"


class InstancesOut(BaseModel):
    """The number of the fleet's collectors in each state."""

    total: int
    pending_pickup: int
    applying: int
    applied: int
    apply_failed: int
    idle: int
    running: int
    unhealthy: int
    stopped: int
    silent: int
    stale: int
    unknown: int

    @classmethod
    def of(cls, instances: Mapping[InstanceState, int]) -> Self:
        counts = {state: instances.get(state, 0) for state in INSTANCE_STATES}
        return cls(total=sum(counts.values()), **counts)


class FleetOut(Answer):
    id: str
    label: str
    type: FleetType
    expires_in: ExpiresIn
    token_expires_at: Time | None
    token_id: Annotated[str, beyond("Tells the fleet's tokens apart")]
    instances: InstancesOut
    hosts_without_key: Annotated[int, beyond("Collectors whose hosts do not sign their messages")]
    created_by: PrincipalOut
    created_at: Time
    managed_by: ManagedBy
    mode: Mode

    @classmethod
    def counted(cls, counted: CountedFleet) -> "FleetOut":
        return cls.of_fleet(counted.fleet, counted.instances, counted.without_key)

    @classmethod
    def of_fleet(
        cls, fleet: Fleet, instances: Mapping[InstanceState, int] = MappingProxyType({}), without_key: int = 0
    ) -> "FleetOut":
        token_id, states = tokens.current_id(fleet.id, fleet.token_generation), InstancesOut.of(instances)
        return FleetOut.of(fleet, token_id=token_id, instances=states, hosts_without_key=without_key)


class TokenHostOut(Answer):
    """A host that last reported with a former token: it was away since, or does not take a renewed one."""

    id: Annotated[str, at("instance", "id")]
    host_name: Annotated[str | None, at("instance", "reported", "name")]
    state: InstanceState
    last_seen_at: Annotated[Time, at("instance", "contact", "last_seen_at")]


class TokenStatusOut(Answer):
    """The present token of a fleet or a group, by its id, and the number of hosts that use it; no token is shown.

    Of the `hosts` that still use a former one, up to 100 are listed.
    """

    token_id: str
    expires_at: Annotated[Time | None, Field(description="When it expires; null for never")]
    previous_ends_at: Annotated[Time | None, Field(description="When the one before it ends; null if it has ended")]
    previous_while_used: Annotated[bool, Field(description="Whether it ends before, once no host uses it")]
    current: int
    former: int
    unknown: int
    hosts: list[TokenHostOut]


class PutMode(Input):
    mode: FleetMode


class ModeHostOut(Answer):
    """A collector of the fleet, and whether a rollout would reach it."""

    id: Annotated[str, at("instance", "id")]
    host_name: Annotated[str | None, at("instance", "reported", "name")]
    state: InstanceState
    accepts_remote_config: Annotated[bool, at("instance", "reported", "accepts_remote_config")]


class ModeCheckOut(Answer):
    """The consequences of another mode for a fleet's collectors; nothing is changed.

    `reason` says why the change would be refused, null if it would not. `hosts` has at most 100; those that stay
    observed come first.
    """

    mode: FleetMode
    reason: str | None
    total: int
    taking: int
    staying: int
    hosts: list[ModeHostOut]
    notes: list[str]


class AssignmentOut(Answer):
    """A published version; both fields are null if nothing is assigned."""

    configuration_id: str | None
    version_number: int | None

    @classmethod
    def of_version(cls, assignment: Assignment | None) -> Self:
        if assignment is None:
            return cls(configuration_id=None, version_number=None)
        return cls(configuration_id=assignment.configuration_id, version_number=assignment.version_number)


class ExporterCounters(Answer):
    """Log records, spans and data points; `queue` is how full the sending queue is, from 0 to 1."""

    sent: int
    failed: int
    queue: float


class CountersOut(Answer):
    """The collector's counts of the last interval of `seconds`: log records, spans and data points together."""

    seconds: int
    accepted: int
    refused: int
    sent: int
    failed: int
    dropped: int
    queue: float
    exporters: dict[str, ExporterCounters]


class InstanceOut(Answer):
    """A collector. `assigned` is the version that its group is to run, `running` the one that it applied last.

    `name` is what the host calls itself, `labels` are its own and those that people set, which win. `drifted` are the
    top-level keys in which what the collector runs was changed on the host, `exits` how often the collector ended by
    itself since the last apply, `last_exits` when. They are null for a host whose supervisor does not report them, as
    are `supervisor_version` and `counters`.
    `token_id` tells with which of the fleet's tokens it last reported, `token_current` whether that is the present one.
    `host_key` tells the keys of hosts apart, null for a host that does not sign its messages. `distribution` is what
    the collector calls itself.
    """

    id: str
    deployment_id: str
    name: str | None
    labels: dict[str, str]
    host_name: str | None
    os: str | None
    arch: str | None
    collector_version: str | None
    distribution: Annotated[str | None, beyond()]
    state: InstanceState
    state_message: str | None
    assigned: AssignmentOut
    running: AssignmentOut
    supervisor_version: str | None
    drifted: list[str] | None
    exits: int | None
    last_exits: list[str]
    counters: CountersOut | None
    token_id: Annotated[str | None, beyond()]
    token_current: Annotated[bool | None, beyond()]
    host_key: Annotated[str | None, beyond()]
    last_seen_at: Time
    first_seen_at: Time

    @classmethod
    def of_seen(cls, seen: SeenInstance, **more: object) -> Self:
        instance = seen.instance
        fields: dict[str, object] = {
            "assigned": AssignmentOut.of_version(seen.assigned),
            "running": AssignmentOut.of_version(seen.running),
            "host_key": instance.identity.key.fingerprint if instance.identity.key else None,
        }
        reported = instance.reported
        fields["labels"] = instance.labels
        parts = (instance.identity, instance.contact, reported.host, reported.description)
        return cls.of(seen, instance, *parts, **{**fields, **more})


class ConnectionOut(Answer):
    endpoint: str
    fleet_id: str
    deployment_id: str
    token: str | None


class InstallOut(Answer):
    """`values_url` for kubernetes, `install_url` for the others; each null otherwise."""

    command: str
    platform: Platform
    deployment_id: str
    connection: ConnectionOut
    install_url: str | None
    values_url: str | None
    expires_at: Time
    notes: list[str]

    @classmethod
    def of_install(cls, platform: Platform, install: Install) -> Self:
        install_url, values_url = (None, install.url) if platform == "kubernetes" else (install.url, None)
        return cls.of(install, install.connection, platform=platform, install_url=install_url, values_url=values_url)

"""OpAMP messages: what this service reads of them, and what it answers. Only this module knows the protobuf classes.

The protocol is described at github.com/open-telemetry/opamp-spec, version 0.16.0.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import DecodeError

from headgate.foundation import errors
from headgate.foundation.log import logger
from headgate.instances.orders.captured import CaptureNews
from headgate.instances.reported.components import AvailableComponents
from headgate.instances.reported.host import HostReport
from headgate.instances.reported.model import AgentReport, Health, HostDescription, ReportedConfig, Status
from headgate.opamp import health_reports, host_reports, scan
from headgate.opamp.reasons import cause, reason
from headgate_opamp import opamp_pb2 as wire

MAX_MESSAGE_BYTES: Final = 4 * 1_048_576
"""An agent reports its effective configuration, which may be more than the megabyte that a stored one has at most."""
_UID_BYTES: Final = 16
# Longer texts of agents are cut to so many characters.
_NAME: Final = 255
_HASH_BYTES: Final = 64
_SECTIONS: Final = frozenset({"receivers", "processors", "exporters", "extensions", "connectors"})
_TYPE: Final = re.compile(r"[a-zA-Z][0-9a-zA-Z_]{0,62}")
_FILE: Final = re.compile(r"[A-Za-z0-9._/-]{1,253}")
_MOST_AILING: Final = 5
# The name of an object of Kubernetes with its namespace, which a bridge calls a part.
_OBJECT: Final = re.compile(r"[a-z0-9-]{1,63}/[a-z0-9.-]{1,253}")
_LONGEST_HEARTBEAT: Final = 64
_OF_HEARTBEAT: Final = frozenset({"instance_uid", "sequence_num", "capabilities"})

_STATUSES: Final[dict[int, Status]] = {
    wire.RemoteConfigStatuses_APPLYING: "applying",
    wire.RemoteConfigStatuses_APPLIED: "applied",
    wire.RemoteConfigStatuses_FAILED: "failed",
}
_CAPABILITIES: Final = (
    wire.ServerCapabilities_AcceptsStatus
    | wire.ServerCapabilities_OffersRemoteConfig
    | wire.ServerCapabilities_OffersConnectionSettings
)


class NotOpamp(errors.BadRequest):
    """The body is not a message that an agent may send."""

    code = "not_opamp"


@dataclass(frozen=True, slots=True)
class Offer:
    """A config to run: its YAML, None for nothing at all, its hash in hex, and what the agent calls its config."""

    config_hash: str
    yaml: str | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to an agent. `orders`, `collector` and `variables`, those of the offer, are for our supervisor, and
    so is `token`, its next one, sealed for its key.

    `has_news` is whether the message said or was told more than that the host is there.
    """

    uid: bytes
    offer: Offer | None = None
    heartbeat_seconds: int | None = None
    report_full_state: bool = False
    report_components: bool = False
    new_uid: bytes | None = None
    orders: Sequence[Mapping[str, object]] = ()
    collector: Mapping[str, object] | None = None
    capture: Mapping[str, object] | None = None
    token: str | None = None
    variables: Mapping[str, object] | None = None
    has_news: bool = True

    def encode(self) -> bytes:
        message = wire.ServerToAgent(instance_uid=self.uid, capabilities=_CAPABILITIES)
        if self.report_full_state:
            message.flags |= wire.ServerToAgentFlags_ReportFullState
        if self.report_components:
            message.flags |= wire.ServerToAgentFlags_ReportAvailableComponents
        if self.new_uid is not None:
            message.agent_identification.new_instance_uid = self.new_uid
        if self.heartbeat_seconds is not None:
            message.connection_settings.hash = self.heartbeat_seconds.to_bytes(4, "big")
            message.connection_settings.opamp.heartbeat_interval_seconds = self.heartbeat_seconds
        ours = {name: getattr(self, name) for name in ("collector", "variables", "capture", "token")}
        if self.orders or any(ours.values()):
            content: dict[str, object] = {
                "orders": list(self.orders),
                **{name: part for name, part in ours.items() if part},
            }
            message.custom_message.capability = host_reports.CAPABILITY
            message.custom_message.type = host_reports.ORDER
            message.custom_message.data = json.dumps(content, separators=(",", ":")).encode()
        if self.offer is not None:
            message.remote_config.config_hash = bytes.fromhex(self.offer.config_hash)
            # Present even if it is empty: an empty map is the config of a collector that runs nothing.
            message.remote_config.config.SetInParent()
            if self.offer.yaml is not None:
                file = message.remote_config.config.config_map[self.offer.name]
                file.body = self.offer.yaml.encode()
                file.content_type = "text/yaml"
        return message.SerializeToString()


def framed(message: bytes) -> bytes:
    """The message as a frame of a WebSocket has it: behind a header, which is 0."""
    return b"\0" + message


def unframed(frame: bytes) -> bytes:
    """The message in a frame. Old agents send no header, and no message begins with a zero."""
    return frame.removeprefix(b"\0")


def addressed(answer: bytes) -> tuple[bytes, bytes]:
    """The uid of the agent that is answered, and the one that it goes on with."""
    message = wire.ServerToAgent.FromString(answer)
    return message.instance_uid, message.agent_identification.new_instance_uid or message.instance_uid


def is_heartbeat(body: bytes) -> bool:
    """True for a message that says nothing but that its agent is there."""
    if len(body) > _LONGEST_HEARTBEAT:
        return False
    try:
        fields = wire.AgentToServer.FromString(body).ListFields()
    except DecodeError:
        return False
    return {field.name for field, _ in fields} <= _OF_HEARTBEAT


def report_again(uid: bytes) -> bytes:
    """The request for a connected agent's full state, whose answer brings what there is for the agent."""
    return Reply(uid, report_full_state=True).encode()


def refusal(detail: str, retry_after: int) -> bytes:
    """The answer to a message that was not accepted; after `retry_after` seconds, if not 0, it may be."""
    message = wire.ServerToAgent(capabilities=_CAPABILITIES)
    message.error_response.error_message = detail
    message.error_response.type = wire.ServerErrorResponseType_BadRequest
    if retry_after:
        message.error_response.type = wire.ServerErrorResponseType_Unavailable
        message.error_response.retry_info.retry_after_nanoseconds = retry_after * 1_000_000_000
    return message.SerializeToString()


def decode(body: bytes) -> AgentReport:
    """Raises NotOpamp."""
    try:
        message = wire.AgentToServer.FromString(scan.needed(body))
    except scan.Malformed as error:
        raise NotOpamp(str(error)) from error
    except DecodeError as error:
        raise NotOpamp("The body is not an OpAMP message of an agent") from error
    if len(message.instance_uid) != _UID_BYTES or not any(message.instance_uid):
        raise NotOpamp("instance_uid must be 16 bytes, not all zero")
    config, health = _config(message), message.health
    description, files, said = _description(message), _files(message), _host(message)
    reports_config = bool(message.capabilities & wire.AgentCapabilities_ReportsRemoteConfig)
    return AgentReport(
        uid=message.instance_uid,
        sequence_num=message.sequence_num,
        accepts_config=bool(message.capabilities & wire.AgentCapabilities_AcceptsRemoteConfig),
        # For an agent that accepts connection settings, an interval alone would be settings without TLS verification.
        takes_interval=bool(
            message.capabilities & wire.AgentCapabilities_ReportsHeartbeat
            and not message.capabilities & wire.AgentCapabilities_AcceptsOpAMPConnectionSettings
        ),
        description=description,
        health=_health(message),
        # If it says more than whether the collector is healthy.
        health_tree=health_reports.tree(health) if health.status or health.component_health_map else None,
        config=config,
        cause=cause(message.remote_config_status.error_message) if config and config.status == "failed" else None,
        full=description is not None and (config is not None or not reports_config),
        wants_uid=bool(message.flags & wire.AgentToServerFlags_RequestInstanceUid),
        leaves=message.HasField("agent_disconnect"),
        host=said if isinstance(said, HostReport) else None,
        capture=said if isinstance(said, CaptureNews) else None,
        files=files,
        config_name=_config_name(files) if files else None,
        available=_available(message) if message.HasField("available_components") else None,
    )


def _files(message: wire.AgentToServer) -> dict[str, bytes] | None:
    """The effective configuration by the names of its files, as it came: only `effective.redacted` may see it."""
    if not message.HasField("effective_config"):
        return None
    return {name[:_NAME]: file.body for name, file in message.effective_config.config_map.config_map.items()}


def _config_name(files: Mapping[str, bytes]) -> str:
    """The name of the one file; empty for a name that no agent needs."""
    name = next(iter(files))
    return name if len(files) == 1 and _FILE.fullmatch(name) else ""


def _available(message: wire.AgentToServer) -> AvailableComponents | None:
    """The components of the agent's program; None if they are not said by the collector's own names."""
    available = message.available_components
    if not message.capabilities & wire.AgentCapabilities_ReportsAvailableComponents:
        return None
    names = [
        f"{section.removesuffix('s')}/{type_}"
        for section, details in available.components.items()
        if section in _SECTIONS
        for type_ in details.sub_component_map
        if _TYPE.fullmatch(type_)
    ]
    return AvailableComponents(available.hash[:_HASH_BYTES].hex(), sorted(names))


def _health(message: wire.AgentToServer) -> Health | None:
    if message.HasField("health"):
        said = message.health
        ailing = sorted(name for name, part in said.component_health_map.items() if not part.healthy)
        takes = bool(message.capabilities & wire.AgentCapabilities_AcceptsRemoteConfig)
        if said.healthy and ailing and (not takes or all(map(_OBJECT.fullmatch, ailing))):
            # A bridge calls itself healthy, however its collectors fare.
            return Health(healthy=False, error=_reason(f"Not healthy: {', '.join(ailing[:_MOST_AILING])}"))
        return Health(said.healthy, _reason(said.last_error))
    # An agent that does not report health counts as healthy.
    return None if message.capabilities & wire.AgentCapabilities_ReportsHealth else Health(healthy=True)


def _config(message: wire.AgentToServer) -> ReportedConfig | None:
    if not message.HasField("remote_config_status"):
        return None
    reported = message.remote_config_status
    status = _STATUSES.get(reported.status, "unset")
    return ReportedConfig(reported.last_remote_config_hash[:_HASH_BYTES].hex(), status, _reason(reported.error_message))


def _reason(message: str) -> str:
    return reason(message) if message else ""


def _host(message: wire.AgentToServer) -> HostReport | CaptureNews | None:
    """The report that our supervisor adds, or its news of a capture in place of a report.

    A malformed one is left out: the OpAMP message itself still counts.
    """
    said = message.custom_message
    if said.capability != host_reports.CAPABILITY:
        return None
    is_capture = said.type == host_reports.CAPTURE
    try:
        return host_reports.decode_capture(said.data) if is_capture else host_reports.decode(said.data)
    except host_reports.Malformed as error:
        uid, field = message.instance_uid.hex(), str(error)
        if is_capture:
            logger.warning("capture_malformed", instance_uid=uid, field=field)
        else:
            logger.warning("host_report_malformed", instance_uid=uid, field=field)
        return None


def _description(message: wire.AgentToServer) -> HostDescription | None:
    if not message.HasField("agent_description"):
        return None
    described = message.agent_description
    texts = {
        attribute.key: attribute.value.string_value[:_NAME]
        for attributes in (described.non_identifying_attributes, described.identifying_attributes)
        for attribute in attributes
        if attribute.value.string_value
    }
    return HostDescription(
        host_name=texts.get("host.name"),
        # The bridge of the Kubernetes operator says `os.family`.
        os=texts.get("os.type") or texts.get("os.family"),
        arch=texts.get("host.arch"),
        collector_version=texts.get("service.version"),
        distribution=texts.get("service.name"),
    )

"""An OpAMP agent over plain HTTP, as the official supervisor behaves: its messages, and what it does with an answer."""

import base64
import json
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from headgate_opamp import anyvalue_pb2
from headgate_opamp import opamp_pb2 as wire

SUPERVISOR: Final = (
    wire.AgentCapabilities_ReportsStatus
    | wire.AgentCapabilities_AcceptsRemoteConfig
    | wire.AgentCapabilities_ReportsEffectiveConfig
    | wire.AgentCapabilities_ReportsHealth
    | wire.AgentCapabilities_ReportsRemoteConfig
    | wire.AgentCapabilities_ReportsHeartbeat
)

# What the supervisor puts before the words of a collector that refuses a configuration.
REFUSED: Final = "configuration validation failed: config validation failed: exit status 1, output: Error: "
Post = Callable[[bytes], bytes]
"""Sends a message and gives the body of the answer."""


def attribute(key: str, value: str) -> anyvalue_pb2.KeyValue:
    pair = anyvalue_pb2.KeyValue(key=key)
    pair.value.string_value = value
    return pair


@dataclass
class Agent:
    """Sends through `post`. `config` is what it was offered last, `status` what it last said of it."""

    post: Post
    host_name: str = "edge-1"
    uid: bytes = field(default_factory=lambda: uuid.uuid4().bytes)
    sequence_num: int = 0
    capabilities: int = SUPERVISOR
    health: wire.ComponentHealth = field(default_factory=lambda: wire.ComponentHealth(healthy=True))
    status: wire.RemoteConfigStatus = field(default_factory=wire.RemoteConfigStatus)
    config: bytes | None = None
    answer: wire.ServerToAgent = field(default_factory=wire.ServerToAgent)

    def message(self) -> wire.AgentToServer:
        return wire.AgentToServer(instance_uid=self.uid, sequence_num=self.sequence_num, capabilities=self.capabilities)

    def full(self) -> wire.AgentToServer:
        """All that it has to say, as in the first message and where the server asks for it."""
        message = self.message()
        message.agent_description.identifying_attributes.append(attribute("service.name", "otelcol-contrib"))
        message.agent_description.identifying_attributes.append(attribute("service.version", "0.139.0"))
        message.agent_description.non_identifying_attributes.append(attribute("host.name", self.host_name))
        message.agent_description.non_identifying_attributes.append(attribute("os.type", "linux"))
        message.agent_description.non_identifying_attributes.append(attribute("host.arch", "amd64"))
        message.health.CopyFrom(self.health)
        message.remote_config_status.CopyFrom(self.status)
        message.effective_config.config_map.config_map[""].body = b"exporters: {}"
        return message

    def start(self) -> wire.ServerToAgent:
        """The first message of a process: everything, under number 0."""
        self.sequence_num = 0
        return self.send(self.full())

    def heartbeat(self) -> wire.ServerToAgent:
        return self.send(self.message())

    def report(self, status: "wire.RemoteConfigStatuses", error: str = "", *, own: bool = False) -> wire.ServerToAgent:
        """Say what became of the config that was offered last; an error is the collector's, or the supervisor's own."""
        self.status.status = status
        self.status.error_message = REFUSED + error if error and not own else error
        message = self.message()
        message.remote_config_status.CopyFrom(self.status)
        return self.send(message)

    def applies(self) -> wire.ServerToAgent:
        self.report(wire.RemoteConfigStatuses_APPLYING)
        return self.report(wire.RemoteConfigStatuses_APPLIED)

    def says_health(self, healthy: bool, error: str = "") -> wire.ServerToAgent:
        self.health = wire.ComponentHealth(healthy=healthy, last_error=error)
        message = self.message()
        message.health.CopyFrom(self.health)
        return self.send(message)

    def tells(self, data: bytes, about: str = "report") -> wire.ServerToAgent:
        """A heartbeat with what our supervisor tells: a `report` of its host, or about a `capture`."""
        message = self.message()
        message.custom_message.capability = "io.headgate.host"
        message.custom_message.type = about
        message.custom_message.data = data
        return self.send(message)

    def captured(self, capture_id: str, lines: str = "", status: str = "ended", **more: object) -> wire.ServerToAgent:
        """A heartbeat with what our supervisor tells of a capture, by default that one record is its sample."""
        told: dict[str, object] = {"v": 1, "id": capture_id, "status": status, "left_out": 0, "redacted": 0}
        told |= {"records": 1 if lines else 0}
        if lines:
            told |= {"sample": base64.b64encode(zlib.compress(lines.encode())).decode(), "reason": "records"}
        return self.tells(json.dumps({**told, **more}).encode(), "capture")

    def leaves(self, why: bytes = b"") -> wire.ServerToAgent:
        """The last message of a supervisor that is stopped in order, and what it tells of that."""
        message = self.message()
        message.agent_disconnect.SetInParent()
        if why:
            message.custom_message.capability = "io.headgate.host"
            message.custom_message.type = "report"
            message.custom_message.data = why
        return self.send(message)

    def send(self, message: wire.AgentToServer) -> wire.ServerToAgent:
        """Send it, take what is offered, and give all that was missed when the server asks for it."""
        self.answer = wire.ServerToAgent.FromString(self.post(message.SerializeToString()))
        answer = self.answer
        self.sequence_num += 1
        if answer.HasField("remote_config"):
            self.status = wire.RemoteConfigStatus(last_remote_config_hash=answer.remote_config.config_hash)
            files = answer.remote_config.config.config_map
            self.config = files[""].body if "" in files else b""
        if answer.HasField("agent_identification"):
            self.uid = answer.agent_identification.new_instance_uid
        if answer.flags & wire.ServerToAgentFlags_ReportFullState:
            self.send(self.full())
        return answer

"""A simulated host: it reports to the fleet service as a supervisor does, and runs no collector."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from headgate_cli import VERSION
from headgate_cli.demo.content import LABEL, DemoHost
from headgate_opamp import anyvalue_pb2
from headgate_opamp import opamp_pb2 as wire

Post = Callable[[bytes], bytes]
"""Sends a message and gives the body of the answer."""

_CAPABILITIES: Final = (
    wire.AgentCapabilities_ReportsStatus
    | wire.AgentCapabilities_AcceptsRemoteConfig
    | wire.AgentCapabilities_ReportsHealth
    | wire.AgentCapabilities_ReportsRemoteConfig
    | wire.AgentCapabilities_ReportsHeartbeat
)
# As the supervisor asks where it was told nothing.
_HEARTBEAT_SECONDS: Final = 30
# Log records, spans and data points that a host claims to pass on in a second.
_RATE: Final = 40


def uid_of(fleet_id: str, name: str) -> bytes:
    """The same host of the same fleet is the same instance, also after it was started again."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"headgate:demo:{fleet_id}:{name}").bytes


@dataclass
class Agent:
    """`heartbeat_seconds` is what the service asked for, `version` the collector version that it says to run."""

    post: Post
    host: DemoHost
    uid: bytes
    version: str
    heartbeat_seconds: int = _HEARTBEAT_SECONDS
    _sequence: int = 0
    _status: wire.RemoteConfigStatus = field(default_factory=wire.RemoteConfigStatus)
    _reported_at: float = field(default_factory=time.monotonic)

    def start(self) -> None:
        """The first message of a process says everything."""
        self._sequence = 0
        self._send(self._whole())
        self._apply()

    def beat(self) -> None:
        """A heartbeat with what the host counted. What it is given it applies, or fails to."""
        self._send(self._with_report(self._message()))
        self._apply()

    def stop(self) -> None:
        """The last message of a supervisor that is stopped in order."""
        message = self._message()
        message.agent_disconnect.SetInParent()
        self._send(message)

    def _apply(self) -> None:
        if self._status.last_remote_config_hash and self._status.status == wire.RemoteConfigStatuses_UNSET:
            self._say(wire.RemoteConfigStatuses_APPLYING)
            if self.host.fails:
                self._say(wire.RemoteConfigStatuses_FAILED, self.host.fails)
            else:
                self._say(wire.RemoteConfigStatuses_APPLIED)

    def _say(self, status: wire.RemoteConfigStatuses, error: str = "") -> None:
        self._status.status = status
        self._status.error_message = error
        message = self._message()
        message.remote_config_status.CopyFrom(self._status)
        self._send(message)

    def _message(self) -> wire.AgentToServer:
        return wire.AgentToServer(instance_uid=self.uid, sequence_num=self._sequence, capabilities=_CAPABILITIES)

    def _whole(self) -> wire.AgentToServer:
        message = self._message()
        description = message.agent_description
        description.identifying_attributes.extend(
            [_attribute("service.name", "otelcol-contrib"), _attribute("service.version", self.version)]
        )
        description.non_identifying_attributes.extend(
            [_attribute("host.name", self.host.name), _attribute("os.type", "linux"), _attribute("host.arch", "amd64")]
        )
        message.health.healthy = True
        message.remote_config_status.CopyFrom(self._status)
        # Without it, the service forgets the host's labels until the next report.
        return self._with_report(message)

    def _with_report(self, message: wire.AgentToServer) -> wire.AgentToServer:
        message.custom_message.capability = "io.headgate.host"
        message.custom_message.type = "report"
        message.custom_message.data = self._report()
        return message

    def _report(self) -> bytes:
        now = time.monotonic()
        seconds = max(1, round(now - self._reported_at))
        self._reported_at = now
        passed = _RATE * seconds
        counters = {"seconds": seconds, "accepted": passed, "refused": 0, "sent": passed, "failed": 0, "dropped": 0}
        report = {
            "v": 1,
            "supervisor": {"version": VERSION},
            "labels": {LABEL[0]: LABEL[1]},
            "exits": {"since_apply": 0, "last": []},
            "counters": {**counters, "queue": 0.0, "exporters": {}},
        }
        return json.dumps(report).encode()

    def _send(self, message: wire.AgentToServer) -> None:
        answer = wire.ServerToAgent.FromString(self.post(message.SerializeToString()))
        self._sequence += 1
        if answer.HasField("remote_config"):
            self._status = wire.RemoteConfigStatus(last_remote_config_hash=answer.remote_config.config_hash)
        if answer.HasField("agent_identification"):
            self.uid = answer.agent_identification.new_instance_uid
        seconds = answer.connection_settings.opamp.heartbeat_interval_seconds
        self.heartbeat_seconds = seconds or self.heartbeat_seconds
        if answer.flags & wire.ServerToAgentFlags_ReportFullState:
            self._send(self._whole())


def _attribute(key: str, value: str) -> anyvalue_pb2.KeyValue:
    pair = anyvalue_pb2.KeyValue(key=key)
    pair.value.string_value = value
    return pair

"""The messages of a collector to the fleet service, one for each thing that it may have to tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from headgate_opamp import opamp_pb2 as wire
from tests.support.faults.rows import Row
from tests.support.fleet_endpoints import FLEET
from tests.support.opamp_agent import Agent
from tests.support.world import World, agent

OPAMP: Final = "POST /v1/opamp"
MESSAGES: Final = [
    Row(OPAMP, 200, message=name, name=name, settles=True, look=FLEET)
    for name in ("new", "restarted", "applied", "failed", "heartbeat", "moved")
]


@dataclass(frozen=True)
class Message:
    """What a collector says, and of which group it says to be."""

    deployment_id: str
    content: bytes


def messages(world: World) -> Mapping[str, Message]:
    """By the names of the rows, each of a collector of its own, which is where it has to be to say this."""
    group, other = world.ids["deployment_id"], world.ids["mounted_id"]
    senders = [agent(world.http, world.ids["fleet_id"], group) for _ in MESSAGES]
    for one in senders[1:]:
        one.start()
    new, restarted, applied, failed, beating, moved = senders
    beating.applies()
    restarted.sequence_num = 0
    return {
        "new": Message(group, new.full().SerializeToString()),
        "restarted": Message(group, restarted.full().SerializeToString()),
        "applied": Message(group, _status(applied, wire.RemoteConfigStatuses_APPLIED)),
        "failed": Message(group, _status(failed, wire.RemoteConfigStatuses_FAILED)),
        "heartbeat": Message(group, beating.message().SerializeToString()),
        "moved": Message(other, moved.full().SerializeToString()),
    }


def _status(sender: Agent, status: "wire.RemoteConfigStatuses") -> bytes:
    """That it has come to this with the config that it was offered."""
    message = sender.message()
    message.remote_config_status.CopyFrom(sender.status)
    message.remote_config_status.status = status
    return message.SerializeToString()

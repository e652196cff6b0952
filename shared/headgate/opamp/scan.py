"""The parts of a message that are read, cut out of its bytes before any object is built of it.

Two bytes make an attribute: four megabytes of them were 1.9 million objects, which took 1.6 s. Only the fields that
this service reads go on to the protobuf classes, counted before, in a time that is bounded whatever the bytes say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from google.protobuf.message import Message

from headgate.instances.reported.health_tree import DEEPEST, MOST_PARTS
from headgate_opamp import opamp_pb2 as wire

MOST_FIELDS: Final = 200
"""Limit for one message; a supervisor sends about ten."""
MOST_ATTRIBUTES: Final = 1_000
LONGEST_DESCRIPTION: Final = 64 << 10
"""Bytes. What is within an attribute is not counted, so this bounds it."""
LARGEST_CONFIGURATION: Final = 512 << 10
"""Bytes of an effective configuration; a larger one is passed over."""
MOST_OF_HEALTH: Final = 10_000
"""Fields of the report of health, with those of pipelines and components."""
MOST_OF_COMPONENTS: Final = 10_000
"""Fields of the list of components that the agent's program has; a longer one is passed over."""
LARGEST_LIST: Final = 512 << 10
"""Bytes of that list; a larger one is passed over."""

_OTHER: Final = "The body is not an OpAMP message of an agent"
_LONGEST_VARINT: Final = 10
_Form: TypeAlias = "Mapping[int, _Form | None]"
"""The fields that are read of a message by their numbers, each with the form of a message in it, or as it came."""


class Malformed(ValueError):
    """The bytes are not fields of protobuf, or more than any agent sends. The message says which."""


def needed(body: bytes) -> bytes:
    """The message with only the fields that `messages.decode` reads. Raises Malformed."""
    parts: list[bytes] = []
    for number, start, content, end in _fields(body, 0, len(body), MOST_FIELDS):
        if number not in _READ:
            continue
        if number == _DESCRIPTION:
            if end - content > LONGEST_DESCRIPTION:
                raise Malformed(f"agent_description is over {LONGEST_DESCRIPTION:,} bytes")
            for _ in _fields(body, content, end, MOST_ATTRIBUTES):
                pass
        if number == _CONFIGURATION:
            # An empty one stands for one that is too large.
            fits = end - content <= LARGEST_CONFIGURATION
            parts.append(body[start:end] if fits else _message(_CONFIGURATION, b""))
            continue
        if number == _HEALTH:
            parts.append(_message(_HEALTH, _Cut(body, MOST_OF_HEALTH).needed(content, end, _of_health(DEEPEST))))
        elif number == _COMPONENTS:
            parts.append(_message(_COMPONENTS, _components(body, content, end)))
        else:
            parts.append(body[start:end])
    return b"".join(parts)


class _Cut:
    """Cuts a field of the message to what is read of it; its fields are counted over all of its levels."""

    def __init__(self, body: bytes, most_fields: int) -> None:
        self._body = body
        self._fields_left = most_fields
        # One more than is read, by which the reader sees that there are more.
        self._parts_left = MOST_PARTS + 1

    def needed(self, at: int, end: int, form: _Form) -> bytes:
        """The fields that the form has. Raises Malformed for too many."""
        parts: list[bytes] = []
        for field, first, content, last in _fields(self._body, at, end, self._fields_left):
            self._fields_left -= 1
            if field not in form or (field == _PARTS and not self._parts_left):
                continue
            if field == _PARTS:
                self._parts_left -= 1
            within = form[field]
            if within is None:
                parts.append(self._body[first:last])
            else:
                parts.append(_message(field, self.needed(content, last, within)))
        return b"".join(parts)


def _components(body: bytes, at: int, end: int) -> bytes:
    """The agent's hash and the names in both levels; nothing if there are too many: a program has some hundreds."""
    try:
        return _Cut(body, MOST_OF_COMPONENTS).needed(at, end, _OF_COMPONENTS) if end - at <= LARGEST_LIST else b""
    except Malformed:
        return b""


def _numbers(message: type[Message], *names: str) -> frozenset[int]:
    return frozenset(message.DESCRIPTOR.fields_by_name[name].number for name in names)


_READ: Final = _numbers(
    wire.AgentToServer,
    "instance_uid",
    "sequence_num",
    "agent_description",
    "capabilities",
    "health",
    "remote_config_status",
    "agent_disconnect",
    "flags",
    "custom_message",
    "effective_config",
    "available_components",
)
_OF_HEALTH: Final = _numbers(
    wire.ComponentHealth, "healthy", "last_error", "status", "status_time_unix_nano", "start_time_unix_nano"
)
_PARTS: Final = wire.ComponentHealth.COMPONENT_HEALTH_MAP_FIELD_NUMBER
_COMPONENTS: Final = wire.AgentToServer.AVAILABLE_COMPONENTS_FIELD_NUMBER
_HASH: Final = wire.AvailableComponents.HASH_FIELD_NUMBER
_LISTS: Final = wire.AvailableComponents.COMPONENTS_FIELD_NUMBER
_SUBS: Final = wire.ComponentDetails.SUB_COMPONENT_MAP_FIELD_NUMBER
# Of an entry of a map.
_KEY, _VALUE = 1, 2
_OF_COMPONENTS: Final[_Form] = {_HASH: None, _LISTS: {_KEY: None, _VALUE: {_SUBS: {_KEY: None}}}}
_DESCRIPTION: Final = wire.AgentToServer.AGENT_DESCRIPTION_FIELD_NUMBER
_HEALTH: Final = wire.AgentToServer.HEALTH_FIELD_NUMBER
_CONFIGURATION: Final = wire.AgentToServer.EFFECTIVE_CONFIG_FIELD_NUMBER


def _of_health(levels: int) -> _Form:
    """The form of a part. One level more than is read has parts without a content."""
    below: _Form = {_VALUE: _of_health(levels - 1)} if levels else {}
    return {**dict.fromkeys(_OF_HEALTH), _PARTS: {_KEY: None, **below}}


def _fields(body: bytes, at: int, end: int, most: int) -> Iterator[tuple[int, int, int, int]]:
    """Each field's number, and where it, its content and what follows it begin. Raises Malformed."""
    for _ in range(most):
        if at == end:
            return
        tag, content = _varint(body, at, end)
        match tag & 7:
            case 0:
                after = _varint(body, content, end)[1]
            case 1:
                after = content + 8
            case 2:
                length, content = _varint(body, content, end)
                after = content + length
            case 5:
                after = content + 4
            case _:
                raise Malformed(_OTHER)
        if after > end or not tag >> 3:
            raise Malformed(_OTHER)
        yield tag >> 3, at, content, after
        at = after
    if at != end:
        raise Malformed(f"A part of the message has more than {most:,} fields")


def _varint(body: bytes, at: int, end: int) -> tuple[int, int]:
    """The number that begins there, and where what follows it begins. Raises Malformed."""
    value = 0
    for place in range(_LONGEST_VARINT):
        if at + place >= end:
            break
        byte = body[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise Malformed(_OTHER)


def _message(number: int, content: bytes) -> bytes:
    """A field that is a message."""
    return _encoded(number << 3 | 2) + _encoded(len(content)) + content


def _encoded(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)

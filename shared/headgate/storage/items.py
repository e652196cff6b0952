"""DynamoDB's item format, and how an item expires, for every store.

The low-level client is used throughout: boto3's resource layer adds some 50 ms to a cold start.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias, cast

from headgate.foundation import clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

Value: TypeAlias = str | int | bool | bytes | frozenset[str] | Sequence["Value"] | Mapping[str, "Value"] | None
Item: TypeAlias = dict[str, Value]


def marshal(values: Mapping[str, Value]) -> dict[str, AttributeValueTypeDef]:
    """The attributes in DynamoDB's form, without those that are None."""
    return {name: _attribute(value) for name, value in values.items() if value is not None}


def unmarshal(attributes: Mapping[str, AttributeValueTypeDef]) -> Item:
    return {name: _value(cast("Mapping[str, object]", attribute)) for name, attribute in attributes.items()}


def streamed(image: Mapping[str, object]) -> Item:
    """The item in a record of a table's stream, as Lambda passes it on: as JSON, in which bytes are Base64."""
    return {name: _value(_decoded(cast("Mapping[str, object]", attribute))) for name, attribute in image.items()}


def _decoded(attribute: Mapping[str, object]) -> Mapping[str, object]:
    match attribute:
        case {"B": str(content)}:
            return {"B": b64decode(content)}
        case {"M": Mapping() as entries}:
            return {"M": {name: _decoded(entry) for name, entry in entries.items()}}
        case {"L": list(entries)}:
            return {"L": [_decoded(entry) for entry in entries]}
    return attribute


def _attribute(value: Value) -> AttributeValueTypeDef:
    match value:
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case None:
            return {"NULL": True}
        case frozenset():
            return {"SS": sorted(value)}
        case Mapping():
            return {"M": {name: _attribute(entry) for name, entry in value.items()}}
        case Sequence():
            return {"L": [_attribute(entry) for entry in value]}
    raise TypeError(f"{type(value).__name__} cannot be stored in a table")


def _value(attribute: Mapping[str, object]) -> Value:
    ((kind, content),) = attribute.items()
    match kind, content:
        case (("S" | "BOOL" | "B"), (str() | bool() | bytes())):
            return content
        case "N", str():
            return int(Decimal(content))
        case "NULL", _:
            return None
        case "M", Mapping():
            return {name: _value(entry) for name, entry in content.items()}
        case "SS", list():
            return frozenset(content)
        case "L", list():
            return [_value(entry) for entry in content]
    raise TypeError(f"attributes of type {kind} are not read from tables")


def text(item: Mapping[str, Value], name: str) -> str:
    """The attribute as text. Raises TypeError if it is something else."""
    value = item.get(name)
    if not isinstance(value, str):
        raise TypeError(f"the attribute {name} is not text")
    return value


def optional_text(item: Mapping[str, Value], name: str) -> str | None:
    return None if item.get(name) is None else text(item, name)


def number(item: Mapping[str, Value], name: str) -> int:
    value = item.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"the attribute {name} is not a number")
    return value


def optional_number(item: Mapping[str, Value], name: str) -> int | None:
    return None if item.get(name) is None else number(item, name)


def mapping(item: Mapping[str, Value], name: str) -> Mapping[str, Value]:
    value = item.get(name)
    if not isinstance(value, Mapping):
        raise TypeError(f"the attribute {name} is not a map")
    return value


def expiry(at: datetime) -> Item:
    """The attributes of an item that expires at `at`: `expires` for DynamoDB, `expires_at` for the code that reads it.

    DynamoDB removes the item up to some days later.
    """
    return {"expires": int(at.timestamp()), "expires_at": clock.rfc3339(at)}


def expired(item: Mapping[str, Value], at: datetime) -> bool:
    """True if the item expired by its attribute `expires_at`. One without it never does."""
    expires_at = optional_text(item, "expires_at")
    return expires_at is not None and clock.parse(expires_at) <= at

"""Reads what a host tells of a capture from the custom message that our supervisor adds: a stranger's JSON.

Written by layers/supervisor/internal/capture.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Final

from headgate.instances.orders.captured import HOST_REASONS, CaptureNews
from headgate.opamp.host_reports import Malformed

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

CAPTURE: Final = "capture"
LARGEST: Final = 1_500_000
"""Bytes of a message: a sample of a megabyte that cannot be compressed, in base64."""


def decode(data: bytes) -> CaptureNews:
    """Read a custom message about a capture. Raises Malformed."""
    from pydantic_core import ValidationError

    if len(data) > LARGEST:
        raise Malformed(f"it has {len(data)} bytes")
    try:
        said = _validator().validate_json(data)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
        raise Malformed(place or "it is not a JSON object") from error
    try:
        sample = base64.b64decode(said["sample"], validate=True) if "sample" in said else None
    except ValueError as error:
        raise Malformed("sample") from error
    running = said["status"] == "running"
    return CaptureNews(
        id=said["id"],
        reason=None if running else said.get("reason", "failed"),
        error=said.get("error", ""),
        records=said["records"],
        left_out=said["left_out"],
        redacted=said["redacted"],
        sample=sample,
    )


@cache
def _validator() -> SchemaValidator:
    """Fields as in host_reports; docs/fleets-explained.md has the reasons."""
    from pydantic_core import SchemaValidator
    from pydantic_core import core_schema as schema

    count = schema.int_schema(strict=True, ge=0, le=1 << 31)
    needed = {
        "v": schema.literal_schema([1]),
        "id": schema.str_schema(pattern="^cap_[0-9a-z]{1,60}$", strict=True),
        "status": schema.literal_schema(["running", "ended"]),
        "records": count,
        "left_out": count,
        "redacted": count,
    }
    optional = {
        "reason": schema.literal_schema(list(HOST_REASONS)),
        "error": schema.str_schema(max_length=2_000, strict=True),
        "sample": schema.str_schema(strict=True),
    }
    fields = {name: schema.typed_dict_field(each, required=True) for name, each in needed.items()}
    fields |= {name: schema.typed_dict_field(each, required=False) for name, each in optional.items()}
    return SchemaValidator(schema.typed_dict_schema(fields))

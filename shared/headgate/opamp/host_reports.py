"""Reads what a host reports of itself, and of a capture, from the custom message of our supervisor: a stranger's JSON.

Written by layers/supervisor/internal/host and layers/supervisor/internal/capture.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, get_args

from headgate.instances.orders.captured import HOST_REASONS, CaptureNews
from headgate.instances.reported.host import (
    ABILITIES,
    MOST_LABELS,
    CrashLoop,
    Exporter,
    HostCounters,
    HostReport,
    Platform,
)
from headgate.instances.series.model import QUEUE, Totals

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator
    from pydantic_core.core_schema import CoreSchema

CAPABILITY: Final = "io.headgate.host"
ORDER: Final = "order"
CAPTURE: Final = "capture"
LARGEST: Final = 8 << 10
"""Bytes of a report, without a list of components."""
MOST_COUNTED: Final = 128
"""Components of a report, each in the pipelines that it is in."""
LARGEST_LIST: Final = 64 << 10
LARGEST_CAPTURE: Final = 1_500_000
"""Bytes of a message about a capture: a sample of a megabyte that cannot be compressed, in base64."""


class Malformed(ValueError):
    """Not such a report. The message names the field, and quotes nothing."""


def decode(data: bytes) -> HostReport:
    """The report in a custom message of a host. Raises Malformed."""
    said = _validated(data, LARGEST + LARGEST_LIST, _of_host)
    components = said.get("components", {})
    size = len(data) - sum(len(name) + len('"",') for name in components.get("list", ()))
    if size > LARGEST:
        raise Malformed(f"it has {size} bytes")
    return _report(said, components)


def _report(said: Mapping[str, Any], components: Mapping[str, Any]) -> HostReport:
    config, exits, loop = (said.get(name, {}) for name in ("config", "exits", "crash_loop"))
    return HostReport(
        supervisor_version=said.get("supervisor", {}).get("version"),
        name=said.get("name"),
        labels=said.get("labels"),
        text_hash=config.get("hash"),
        drifted=config.get("drifted"),
        exits=exits.get("since_apply"),
        last_exits=exits.get("last"),
        crash_loop=CrashLoop(loop["hash"], loop["exits"]) if loop else None,
        # A later supervisor may understand more.
        can=tuple(ability for ability in ABILITIES if ability in said["can"]) if "can" in said else None,
        platform=said.get("platform"),
        components=components.get("hash"),
        counters=_counters(said["counters"]) if "counters" in said else None,
        totals=Totals(**said["totals"]) if "totals" in said else None,
        collector_version=said.get("collector", {}).get("version"),
        done=said.get("done", ()),
        failed={each["id"]: each["reason"] for each in said.get("failed", ())},
        component_list=components.get("list"),
        uninstalled=said.get("uninstalled", False),
        variables=said.get("variables", {}).get("digest"),
    )


def _counters(said: Mapping[str, Any]) -> HostCounters:
    exporters = {name: Exporter(**each) for name, each in said.get("exporters", {}).items()}
    return HostCounters(**{**said, "exporters": exporters})


def decode_capture(data: bytes) -> CaptureNews:
    """Read a custom message about a capture. Raises Malformed."""
    said = _validated(data, LARGEST_CAPTURE, _of_capture)
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


def _validated(data: bytes, largest: int, validator: Callable[[], SchemaValidator]) -> Mapping[str, Any]:
    # Imported here: with the reading of the first report, not in every cold start.
    from pydantic_core import ValidationError

    if len(data) > largest:
        raise Malformed(f"it has {len(data)} bytes")
    try:
        said: Mapping[str, Any] = validator().validate_json(data)
    except ValidationError as error:
        # Names below the first level may be keys that the host chose.
        place = error.errors(include_url=False, include_input=False)[0]["loc"][:1]
        raise Malformed(str(*place) or "it is not a JSON object") from error
    return said


def _record(needed: Mapping[str, CoreSchema], optional: Mapping[str, CoreSchema] | None = None) -> CoreSchema:
    from pydantic_core import core_schema as schema

    fields = {name: schema.typed_dict_field(each, required=True) for name, each in needed.items()}
    fields |= {name: schema.typed_dict_field(each, required=False) for name, each in (optional or {}).items()}
    return schema.typed_dict_schema(fields)


@cache
def _of_host() -> SchemaValidator:
    """pydantic's core without pydantic, whose import takes six times as long (docs/fleets-explained.md)."""
    from pydantic_core import SchemaValidator
    from pydantic_core import core_schema as schema

    def text(pattern: str) -> CoreSchema:
        return schema.str_schema(pattern=f"^(?:{pattern})$", strict=True)

    def texts(pattern: str, most: int) -> CoreSchema:
        return schema.tuple_schema([text(pattern)], variadic_item_index=0, max_length=most, fail_fast=True)

    signal = schema.literal_schema(["logs", "metrics", "traces"])
    count = schema.int_schema(strict=True, ge=0, le=1 << 53)
    share = schema.float_schema(ge=0, le=1, allow_inf_nan=False, strict=True)
    line = text(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,255}")
    key, sha256 = "[A-Za-z0-9][A-Za-z0-9._/-]{0,62}", "[0-9a-f]{64}"
    order, version = "[a-z0-9_]{1,64}", "[0-9A-Za-z][0-9A-Za-z.+-]{0,63}"
    exporter = _record({"sent": count, "failed": count, "queue": share})
    counts = dict.fromkeys(("seconds", "accepted", "refused", "sent", "failed", "dropped"), count)
    # Its pipelines and its id, as in `logs|logs/audit|receiver/otlp`.
    counted = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,512}"
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z"
    component = "[A-Za-z0-9_]{1,64}/[A-Za-z0-9_.-]{1,128}"
    return SchemaValidator(
        _record(
            {"v": schema.literal_schema([1])},
            {
                "supervisor": _record({"version": text(version)}),
                "name": line,
                "labels": schema.dict_schema(text(key), line, max_length=MOST_LABELS),
                # A host that does not know what it runs leaves the hash out.
                "config": _record({"drifted": texts(key, 20)}, {"hash": text(f"{sha256}|")}),
                "exits": _record({"since_apply": count, "last": texts(time, 5)}),
                "crash_loop": _record({"hash": text(f"{sha256}|"), "exits": count}),
                "components": _record({"hash": text(sha256)}, {"list": texts(component, 2_000)}),
                "can": texts("[a-z_]{1,32}", 16),
                "uninstalled": schema.bool_schema(strict=True),
                "platform": schema.literal_schema(list(get_args(Platform))),
                "done": texts(order, 16),
                "failed": schema.tuple_variable_schema(_record({"id": text(order), "reason": line}), max_length=4),
                "collector": _record({"version": text(version)}),
                "variables": _record({"digest": text(f"{sha256}|")}),
                "totals": _record(
                    {
                        "run": count,
                        "milliseconds": count,
                        "of": schema.dict_schema(
                            text(counted),
                            schema.tuple_schema([count], variadic_item_index=0, max_length=QUEUE + 1, fail_fast=True),
                            max_length=MOST_COUNTED,
                        ),
                    }
                ),
                "counters": _record(
                    {**counts, "queue": share},
                    {
                        "exporters": schema.dict_schema(line, exporter, max_length=16),
                        "delivered": schema.dict_schema(signal, count, max_length=3),
                        "memory": count,
                        "cpu": count,
                    },
                ),
            },
        )
    )


@cache
def _of_capture() -> SchemaValidator:
    from pydantic_core import SchemaValidator
    from pydantic_core import core_schema as schema

    count = schema.int_schema(strict=True, ge=0, le=1 << 31)
    return SchemaValidator(
        _record(
            {
                "v": schema.literal_schema([1]),
                "id": schema.str_schema(pattern="^cap_[0-9a-z]{1,60}$", strict=True),
                "status": schema.literal_schema(["running", "ended"]),
                **dict.fromkeys(("records", "left_out", "redacted"), count),
            },
            {
                "reason": schema.literal_schema(list(HOST_REASONS)),
                "error": schema.str_schema(max_length=2_000, strict=True),
                "sample": schema.str_schema(strict=True),
            },
        )
    )

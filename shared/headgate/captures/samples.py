"""A sample as a host sends it: a stranger's bytes, which are unpacked and looked at before anything is stored."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from headgate_engine.collector import StableSignal

MOST_BYTES: Final = 1 << 20
DEEPEST: Final = 48
"""A host sends records that nest up to 32 deep, in a document of a resource and a scope."""
_LEVELS: Final[dict[StableSignal, tuple[str, str, str]]] = {
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "metrics": ("resourceMetrics", "scopeMetrics", "metrics"),
}
_METRICS: Final = ("gauge", "sum", "histogram", "exponentialHistogram", "summary")


class NotASample(ValueError):
    """The bytes are not a sample of that signal. The message quotes nothing."""


def unpacked(packed: bytes) -> str:
    """The text of a stored sample: documents of OTLP's JSON, one a line."""
    return zlib.decompress(packed).decode()


def require_sample(packed: bytes, signal: StableSignal, records: int, most_records: int) -> None:
    """Raises NotASample unless it has as many records as the host says, and no more than were asked for."""
    counted = sum(_records(line, signal) for line in _lines(packed))
    if not 0 < counted == records <= most_records:
        raise NotASample(f"it has {counted:,} records, {records:,} by the host; up to {most_records} were asked for")


def _lines(packed: bytes) -> list[bytes]:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, MOST_BYTES + 1)
    except zlib.error as error:
        raise NotASample("it is not compressed by zlib") from error
    if len(text) > MOST_BYTES:
        raise NotASample(f"it has over {MOST_BYTES:,} bytes")
    if not unpacking.eof or unpacking.unused_data:
        raise NotASample("it is not one whole stream of zlib")
    return text.removesuffix(b"\n").split(b"\n")


def _records(line: bytes, signal: StableSignal) -> int:
    # Imported here: only a host that was asked for a capture sends one.
    from pydantic_core import from_json

    try:
        # Its reader ends at a depth of 200, long before the interpreter's stack does.
        document = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        raise NotASample("a line of it is not JSON") from error
    if _depth(document) > DEEPEST:
        raise NotASample(f"it nests deeper than {DEEPEST}")
    if not isinstance(document, Mapping):
        raise NotASample("a line of it is not a document of OTLP")
    resources, scopes, records = _LEVELS[signal]
    if set(document) != {resources}:
        raise NotASample(f"a line of it has not {resources} alone")
    within = (record for resource in _objects(document[resources]) for record in _scopes(resource, scopes, records))
    return sum(_points(record) if signal == "metrics" else 1 for record in within)


def _scopes(resource: Mapping[str, object], scopes: str, records: str) -> Iterator[Mapping[str, object]]:
    for scope in _objects(resource.get(scopes, ())):
        yield from _objects(scope.get(records, ()))


def _points(metric: Mapping[str, object]) -> int:
    kinds = [metric[kind] for kind in _METRICS if kind in metric]
    if len(kinds) != 1 or not isinstance(kinds[0], Mapping):
        raise NotASample("a metric of it has not one kind of data")
    return len(_objects(kinds[0].get("dataPoints", ())))


def _objects(value: object) -> Sequence[Mapping[str, object]]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, Mapping) for each in value):
        raise NotASample("a list of it is not one of objects")
    return value


def _depth(value: object) -> int:
    """By levels and not by recursion."""
    depth, level = 0, [value]
    while level:
        collections = [each for each in level if isinstance(each, Mapping | list)]
        depth += bool(collections)
        level = [
            inner
            for collection in collections
            for inner in (collection.values() if isinstance(collection, Mapping) else collection)
        ]
    return depth

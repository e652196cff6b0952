"""An output by services: records and bytes by the resource attribute `service.name`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

NAME: Final = "service.name"
_PARTS: Final = {
    "resourceLogs": ("scopeLogs", "logRecords"),
    "resourceSpans": ("scopeSpans", "spans"),
    "resourceMetrics": ("scopeMetrics", "metrics"),
}
_KINDS: Final = ("gauge", "sum", "histogram", "exponentialHistogram", "summary")


def by_service(output: str) -> Mapping[str, tuple[int, int]]:
    """Records and bytes of OTLP/JSON by service, of resources that name one; data points count as records."""
    sums: dict[str, tuple[int, int]] = {}
    for line in output.splitlines():
        try:
            document: object = json.loads(line)
        except ValueError:
            continue
        for resource, inner, records in _resources(document):
            name = _service(resource)
            if name:
                count, size = sums.get(name, (0, 0))
                added = sum(_counted(each) for scope in _objects(resource, inner) for each in _objects(scope, records))
                written = json.dumps(resource, ensure_ascii=False, separators=(",", ":"))
                sums[name] = count + added, size + len(written.encode())
    return sums


def _resources(document: object) -> Iterator[tuple[Mapping[str, object], str, str]]:
    for part, (inner, records) in _PARTS.items():
        for resource in _objects(document, part):
            yield resource, inner, records


def _service(resource: Mapping[str, object]) -> str:
    for attribute in _objects(resource.get("resource"), "attributes"):
        value = attribute.get("value")
        if attribute.get("key") == NAME and isinstance(value, Mapping):
            return str(value.get("stringValue", ""))
    return ""


def _counted(record: Mapping[str, object]) -> int:
    """One, or how many data points a metric has."""
    kinds = [record[kind] for kind in _KINDS if kind in record]
    return sum(len(_objects(kind, "dataPoints")) for kind in kinds) if kinds else 1


def _objects(holder: object, name: str) -> list[Mapping[str, object]]:
    listed = holder.get(name) if isinstance(holder, Mapping) else None
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []

"""The texts in which a processor, connector or extension is tried: with right settings, and with one that is wrong."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from headgate_engine.reference.model import Component

BASES: Final = Path(__file__).parent / "bases.yaml"
WRONG: Final[Sequence[object]] = (
    *("headgate wrong", "(", "a[", "$", "", "localhost:1", "1s", -7, 0, 7, 7.5, True, None),
    *([], [""], ["("], ["headgate wrong"], [7], {}, {"headgate": "wrong"}, [{}]),
)
"""Values of each type: unknown names, and invalid patterns, paths and expressions."""
_SIGNALS: Final = ("logs", "metrics", "traces")
# Connectors whose settings name pipelines, and the signal of those.
_SIGNAL: Final = {"failover": "logs", "routing": "logs"}
# Sections that a base does not have are tried as far down, in entries of lists not at all: those have their type's.
_DEEPEST: Final = 3

Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A component with right settings. `settings` is None where it is tried with its defaults."""

    component: Component
    settings: object

    @property
    def name(self) -> str:
        return f"{self.component.kind}/{self.component.type}"

    @property
    def path(self) -> str:
        return f"{self.component.kind}s::{self.component.type}"

    def text(self, settings: object) -> str:
        """A configuration in which it has these settings."""
        around = _around(self.component, settings)
        return str(yaml.dump(around, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=4_000))

    def with_value(self, path: Path_, value: object) -> object:
        """Its settings with a value at a path, which may lead through sections that they do not have."""
        settings = copy.deepcopy(self.settings) if self.settings is not None else {}
        at: Any = settings
        for step, following in itertools.pairwise(path):
            if isinstance(step, str) and at.get(step) is None:
                at[step] = {}
            at = at[step]
            if not isinstance(at, dict if isinstance(following, str) else list):
                return None
        at[path[-1]] = value
        return settings

    def places(self) -> Iterator[Path_]:
        """The paths of all settings: those that its schema has, in each section and entry that its settings have."""
        schema = json.loads(self.component.schema)
        yield from _places(schema, schema.get("$defs", {}), self.settings or {}, (), _DEEPEST)


def subjects(components: Sequence[Component]) -> Sequence[Subject]:
    """These components, with the settings that bases.yaml has for them. Releases put underscores into types."""
    bases = {
        (section, type_.replace("_", "")): settings
        for section, types in yaml.safe_load(BASES.read_text(encoding="utf-8")).items()
        for type_, settings in types.items()
    }
    keys = [(f"{component.kind}s", component.type.replace("_", "")) for component in components]
    return [Subject(component, bases.get(key)) for component, key in zip(components, keys, strict=True)]


def _places(schema: Any, definitions: Mapping[str, Any], value: object, path: Path_, left: int) -> Iterator[Path_]:
    forms = list(_forms(schema, definitions, 8))
    if isinstance(value, dict):
        properties = {key: inner for form in forms for key, inner in form.get("properties", {}).items()}
        for key, inner in properties.items():
            yield (*path, key)
            if key in value:
                yield from _places(inner, definitions, value[key], (*path, key), left)
            elif left > 0:
                yield from _places(inner, definitions, {}, (*path, key), left - 1)
        for form in forms:
            inner = form.get("additionalProperties")
            for key in value.keys() - properties.keys() if isinstance(inner, dict) else ():
                yield (*path, key)
                yield from _places(inner, definitions, value[key], (*path, key), left)
    elif isinstance(value, list):
        items: Mapping[str, Any] = next((form["items"] for form in forms if isinstance(form.get("items"), dict)), {})
        for index, entry in enumerate(value):
            yield (*path, index)
            yield from _places(items, definitions, entry, (*path, index), 0)


def _forms(schema: Any, definitions: Mapping[str, Any], left: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, dict) or left == 0:
        return
    yield schema
    name = schema.get("$ref", "").removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
    if name in definitions:
        yield from _forms(definitions[name], definitions, left - 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(keyword, ()):
            yield from _forms(inner, definitions, left - 1)


def _around(component: Component, settings: object) -> Mapping[str, Any]:
    around: dict[str, Any] = {
        "receivers": {"otlp": {"protocols": {"grpc": None}}},
        "exporters": {"debug": None},
        "service": {"pipelines": {}},
    }
    pipelines: dict[str, Any] = around["service"]["pipelines"]
    around[f"{component.kind}s"] = around.get(f"{component.kind}s", {}) | {component.type: settings}
    ends: dict[str, Any] = {"receivers": ["otlp"], "exporters": ["debug"]}
    if component.kind == "processor":
        for signal in [entry for entry in _SIGNALS if component.stability.get(entry)]:
            pipelines[signal] = ends | {"processors": [component.type]}
    elif component.kind == "connector":
        for pair in component.stability:
            source, _, target = pair.partition("_to_")
            if source in _SIGNALS and target in _SIGNALS and _SIGNAL.get(component.type) in (None, source):
                pipelines[f"{source}/in"] = ends | {"exporters": [component.type]}
                for name in ("out", "out2"):
                    pipelines[f"{target}/{name}"] = ends | {"receivers": [component.type]}
    else:
        around["service"]["extensions"] = [component.type]
        pipelines["logs"] = ends
    return around

"""The JSON Schema of a whole configuration, as the collector writes it, asked by paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from headgate_cli.lsp.tree import Path

# The sections that hold components, and the kind of each.
KINDS: Final = {
    "receivers": "receiver",
    "processors": "processor",
    "exporters": "exporter",
    "connectors": "connector",
    "extensions": "extension",
}
SECTIONS: Final = (*KINDS, "service")
SIGNALS: Final = ("traces", "metrics", "logs", "profiles")
COMPONENT_ID: Final = "component-id"

_MOST_ALTERNATIVES: Final = 200
_MOST_LEVELS: Final = 60
_REFERENCE: Final = "#/$defs/"
_VARIABLE: Final = f"{_REFERENCE}variable"
# A part of a pattern that may match many times.
_REPEATS: Final = re.compile(r"[*+{]")

Schema = Mapping[str, object]
# The text of the scalar at a path of the configuration; empty if there is none.
Known = Callable[[Path], str]


@dataclass(frozen=True)
class KnownComponent:
    """A component type of the build."""

    kind: str
    type: str
    summary: str
    deprecated: str
    stability: Mapping[str, str]
    aliases: tuple[str, ...]

    def stands_in(self, role: str, signal: str) -> bool:
        """True if it can be a receiver or exporter (`role`) of a pipeline of that signal."""
        if not self.stability:
            return True
        if self.kind != "connector":
            return signal in self.stability
        if role == "receivers":
            return any(pair.endswith(f"_to_{signal}") for pair in self.stability)
        return any(pair.startswith(f"{signal}_to_") for pair in self.stability)


class ServedSchema:
    """The settings that the collector accepts."""

    def __init__(self, document: Schema) -> None:
        self._document = document
        self._definitions = _mapping(document.get("$defs"))
        self._at = lru_cache(maxsize=2_000)(self._found)
        self.is_reduced = document.get("x-reduced") is True

    @cached_property
    def components(self) -> Mapping[tuple[str, str], KnownComponent]:
        """By kind and type, and also by kind and deprecated alias."""
        components: dict[tuple[str, str], KnownComponent] = {}
        for name, schema in self._definitions.items():
            kind, _, type_ = name.partition("/")
            if kind not in KINDS.values() or not type_ or not isinstance(schema, Mapping):
                continue
            component = KnownComponent(
                kind,
                type_,
                str(schema.get("description") or ""),
                _reason(schema.get("deprecated")),
                {str(key): str(value) for key, value in _mapping(schema.get("x-stability")).items()},
                tuple(str(alias) for alias in _sequence(schema.get("x-aliases"))),
            )
            components[kind, type_] = component
            for alias in component.aliases:
                components.setdefault((kind, alias), component)
        return components

    def types(self, section: str) -> list[KnownComponent]:
        """The component types of a section, by name."""
        kind = KINDS.get(section, "")
        return [
            component
            for (kind_of_type, name), component in sorted(self.components.items())
            if kind_of_type == kind and component.type == name
        ]

    def component(self, section: str, component_id: str) -> KnownComponent | None:
        """The type of a component by its id, `otlp/edge`."""
        return self.components.get((KINDS.get(section, ""), type_of(component_id)))

    def at(self, path: Path, known: Known | None = None) -> list[Schema]:
        """The alternatives that may stand at a path, each without references.

        `known` chooses between those that differ by a constant, such as the `type` of an operator.
        """
        if known is None:
            return self._at(path)
        return self._found(path, known)

    def _found(self, path: Path, known: Known | None = None) -> list[Schema]:
        if len(path) > _MOST_LEVELS:
            return []
        current: list[Schema] = [self._document]
        done = 0
        if len(path) > 1 and path[0] in KINDS:
            # By name: patterns of a hundred types would be tried one after the other.
            component = self.component(str(path[0]), str(path[1]))
            if component is None:
                return []
            current = [_mapping(self._definitions.get(f"{component.kind}/{component.type}"))]
            done = 2
        for at in range(done, len(path) + 1):
            expanded = [alternative for schema in current for alternative in self.alternatives(schema)][
                :_MOST_ALTERNATIVES
            ]
            current = _chosen(expanded, path[:at], known)
            if at < len(path):
                current = [inner for schema in current for inner in _inner(schema, path[at])]
        return current

    def alternatives(self, schema: Schema) -> Iterator[Schema]:
        """The schema without `$ref`, `anyOf`, `oneOf` and `allOf`; annotations beside them hold for each."""
        waiting: list[tuple[Schema, int]] = [(schema, 0)]
        while waiting:
            current, depth = waiting.pop(0)
            reference = current.get("$ref")
            if reference == _VARIABLE or depth > _MOST_LEVELS:
                continue
            beside = {
                key: value
                for key, value in current.items()
                if key not in ("$ref", "anyOf", "oneOf", "allOf", "$defs", "$comment")
            }
            if isinstance(reference, str):
                target = _mapping(self._definitions.get(reference.removeprefix(_REFERENCE)))
                waiting.insert(0, ({**target, **beside}, depth + 1))
                continue
            nested = [
                inner
                for key in ("anyOf", "oneOf", "allOf")
                for inner in _sequence(current.get(key))
                if isinstance(inner, Mapping)
            ]
            if not nested:
                yield current
                continue
            waiting[:0] = [({**beside, **inner}, depth + 1) for inner in nested]


def type_of(component_id: str) -> str:
    return component_id.partition("/")[0].strip()


def properties(schemas: Sequence[Schema]) -> Mapping[str, Schema]:
    """The keys that a mapping may have, each with its schema, over all alternatives."""
    keys: dict[str, Schema] = {}
    for schema in schemas:
        for name, inner in _mapping(schema.get("properties")).items():
            if isinstance(inner, Mapping) and (name not in keys or "const" in keys[name]):
                keys[name] = _with_values(keys.get(name), inner)
            elif isinstance(inner, Mapping) and "const" in inner:
                keys[name] = _with_values(keys[name], inner)
    return keys


def types(schemas: Sequence[Schema]) -> set[str]:
    """The JSON types that the alternatives take; without `null`, which a key alone stands for."""
    kinds: set[str] = set()
    for schema in schemas:
        said = schema.get("type")
        own = {said} if isinstance(said, str) else {str(kind) for kind in _sequence(said)}
        if "properties" in schema or "patternProperties" in schema:
            own.add("object")
        if own & {"object", "array"}:
            # Only for a variable in its place.
            own.discard("string")
        kinds |= own
    return kinds - {"null"}


def listed(schemas: Sequence[Schema]) -> list[object]:
    """The values that are listed (`enum`, `const`), each once."""
    possible: list[object] = []
    for schema in schemas:
        own = [*_sequence(schema.get("enum")), *([schema["const"]] if "const" in schema else [])]
        possible += [value for value in own if value not in (None, "") and value not in possible]
    return possible


def values(schemas: Sequence[Schema]) -> list[object]:
    """The values that are listed, or the two of a boolean."""
    return listed(schemas) or ([True, False] if "boolean" in types(schemas) else [])


def default(schemas: Sequence[Schema]) -> object | None:
    """The default; None if there is none."""
    return next((schema["default"] for schema in schemas if schema.get("default") is not None), None)


def description(schemas: Sequence[Schema]) -> str:
    return next((str(schema["description"]) for schema in schemas if schema.get("description")), "")


def deprecated(schemas: Sequence[Schema]) -> str:
    """The reason why it is deprecated; empty if it is not."""
    return next((_reason(schema["deprecated"]) for schema in schemas if schema.get("deprecated")), "")


def shown_types(schemas: Sequence[Schema]) -> list[str]:
    """The types in the reader's words."""
    if has_format(schemas, "go-duration"):
        return ["duration"]
    kinds = types(schemas)
    if "number" in kinds and any(str(schema.get("format", "")).startswith(("int", "uint")) for schema in schemas):
        kinds = kinds - {"number"} | {"integer"}
    return sorted({"object": "mapping", "array": "list"}.get(kind, kind) for kind in kinds)


def is_secret(schemas: Sequence[Schema]) -> bool:
    return any(schema.get("x-secret") is True for schema in schemas)


def has_format(schemas: Sequence[Schema], name: str) -> bool:
    return any(schema.get("format") == name for schema in schemas)


def _chosen(schemas: list[Schema], path: Path, known: Known | None) -> list[Schema]:
    """Without the alternatives whose constants are others than the text has."""
    if known is None or len(schemas) < 2:
        return schemas
    fitting = [
        schema
        for schema in schemas
        if all(
            known((*path, name)) in ("", str(inner["const"]))
            for name, inner in _mapping(schema.get("properties")).items()
            if isinstance(inner, Mapping) and "const" in inner
        )
    ]
    return fitting or schemas


def _inner(schema: Schema, step: str | int) -> Iterator[Schema]:
    if isinstance(step, int):
        prefix = _sequence(schema.get("prefixItems"))
        inner = prefix[step] if step < len(prefix) else schema.get("items")
        if isinstance(inner, Mapping):
            yield inner
        return
    named = _mapping(schema.get("properties")).get(step)
    if isinstance(named, Mapping):
        yield named
        return
    for pattern, inner in _mapping(schema.get("patternProperties")).items():
        if isinstance(inner, Mapping) and _matches(pattern, step):
            yield inner
            return
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping):
        yield more


def _matches(pattern: str, name: str) -> bool:
    """True if the server's pattern is in the name. One that repeats more than once could take it for ever."""
    if len(_REPEATS.findall(pattern)) > 1:
        return False
    try:
        return re.search(pattern, name[:1_000]) is not None
    except re.error:
        return False


def _with_values(known: Schema | None, added: Schema) -> Schema:
    """Two schemas of the same key in alternatives that it tells apart: any of their values."""
    if known is None or not ("const" in added or "enum" in known):
        return added
    listed = [*_sequence(known.get("enum")), *([known["const"]] if "const" in known else [])]
    listed += [value for value in (added.get("const"),) if value is not None and value not in listed]
    return {**{key: value for key, value in known.items() if key != "const"}, "enum": listed}


def _reason(deprecated: object) -> str:
    if deprecated is True:
        return "It is deprecated."
    return str(deprecated) if deprecated else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []

"""Declarations of a configuration, and the places that refer to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from headgate_cli.lsp import schema
from headgate_cli.lsp.schema import KINDS, SECTIONS, ServedSchema
from headgate_cli.lsp.tree import Node, Path, Tree, entries, get, items

# The language ids under which an editor sends nothing but collector configurations.
LANGUAGES: Final = ("otelcol", "otel-collector", "opentelemetry-collector")
_TOP_LEVEL: Final = re.compile(r"""^(["']?)([A-Za-z_][\w.-]*)\1[ \t]*:(?=\s|$)""", re.MULTILINE)
_COLLECTOR_FILE: Final = re.compile(r"otel|collector", re.IGNORECASE)
_MOST_VISITS: Final = 200_000
# The settings of connectors that name pipelines: routing, failover, round robin.
_NAMES_PIPELINES: Final = ("pipelines", "default_pipelines", "priority_levels")

PIPELINES: Final = "pipelines"


@dataclass(frozen=True)
class Declaration:
    """A component in its section, or a pipeline (`section` is `pipelines`)."""

    section: str
    id: str
    key: Node
    body: Node


@dataclass(frozen=True)
class ComponentUse:
    """A place that names a component of one of the sections, or a pipeline. `role` is the list that it stands in."""

    sections: tuple[str, ...]
    id: str
    node: Node
    role: str
    pipeline: str = ""


def is_collector(content: str, language: str, file: str) -> bool:
    """True if a text is a collector configuration: editors send all YAML.

    By the language id; else by its sections: two of them, or nothing else. In a file named like a collector's, one
    suffices, or an empty text.
    """
    if language in LANGUAGES:
        return True
    keys = {match[2] for match in _TOP_LEVEL.finditer(content)}
    known = keys & set(SECTIONS)
    if len(known) > 1 or (known and known == keys and known != {"service"}):
        return True
    named = _COLLECTOR_FILE.search(file.rpartition("/")[2]) is not None and "apiVersion" not in keys
    return named and (bool(known) or not keys)


class ParsedConfiguration:
    """The declarations and uses of a tree."""

    def __init__(self, tree: Tree, reference: ServedSchema | None) -> None:
        self.tree = tree
        self._reference = reference

    @cached_property
    def declarations(self) -> list[Declaration]:
        components = [
            Declaration(section, key.text, key, value)
            for section in KINDS
            for key, value in entries(get(self.tree.root, section))
        ]
        pipelines = get(get(self.tree.root, "service"), PIPELINES)
        return components + [Declaration(PIPELINES, key.text, key, value) for key, value in entries(pipelines)]

    @cached_property
    def uses(self) -> list[ComponentUse]:
        service = get(self.tree.root, "service")
        uses = [
            ComponentUse(("extensions",), item.text, item, "extensions") for item in items(get(service, "extensions"))
        ]
        for pipeline, body in entries(get(service, PIPELINES)):
            for role in ("receivers", "processors", "exporters"):
                sections = (role,) if role == "processors" else (role, "connectors")
                uses += [
                    ComponentUse(sections, item.text, item, role, pipeline.text) for item in items(get(body, role))
                ]
        return uses + [use for declared in self.declarations for use in self._within(declared)]

    @cached_property
    def _by_id(self) -> dict[tuple[str, str], Declaration]:
        return {(declared.section, declared.id): declared for declared in reversed(self.declarations)}

    def declared(self, section: str) -> list[str]:
        return [declared.id for declared in self.declarations if declared.section == section]

    def declaration(self, sections: tuple[str, ...], component_id: str) -> Declaration | None:
        candidates = (self._by_id.get((section, component_id)) for section in sections)
        return next((candidate for candidate in candidates if candidate is not None), None)

    def uses_of(self, declaration: Declaration) -> list[ComponentUse]:
        return [
            use
            for use in self.uses
            if use.id == declaration.id
            and declaration.section in use.sections
            and self.declaration(use.sections, use.id) in (declaration, None)
        ]

    def symbol_at(self, offset: int) -> tuple[Declaration | None, ComponentUse | None]:
        """The declaration whose key is here, or the use that is."""
        node = self.tree.scalar_at(offset)
        if node is None:
            return None, None
        declared = next((candidate for candidate in self.declarations if candidate.key is node), None)
        return declared, None if declared else next((use for use in self.uses if use.node is node), None)

    def _within(self, declared: Declaration) -> Iterator[ComponentUse]:
        """The uses in a component's own settings: extensions by the schema, pipelines in connectors."""
        if declared.section == PIPELINES or (declared.section != "connectors" and self._reference is None):
            return
        extensions = set(self.declared("extensions"))
        waiting: list[tuple[Node, Path]] = [(declared.body, (declared.section, declared.id))]
        visits = 0
        while waiting:
            node, path = waiting.pop()
            visits += 1
            if visits > _MOST_VISITS:
                return
            if node.kind == "mapping":
                waiting += [(value, (*path, key.text)) for key, value in node.pairs]
            elif node.kind == "sequence":
                waiting += [(item, (*path, 0)) for item in node.items]
            elif node.text and declared.section == "connectors" and any(name in path for name in _NAMES_PIPELINES):
                yield ComponentUse((PIPELINES,), node.text, node, PIPELINES)
            elif node.text in extensions and self._names_component(path):
                yield ComponentUse(("extensions",), node.text, node, "reference")

    def _names_component(self, path: Path) -> bool:
        return self._reference is not None and schema.has_format(self._reference.at(path), schema.COMPONENT_ID)

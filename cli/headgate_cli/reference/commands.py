"""`component list | show` and `schema`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Final

import click

from headgate_cli.api import Api, Entity, entities, optional, text
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.command_group import Group
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import Failed
from headgate_cli.output import print_json, print_json_text, print_result, print_text, table
from headgate_cli.untrusted import block, one_line

_KINDS: Final = ("receiver", "processor", "exporter", "connector", "extension")
_TYPE: Final = re.compile("[A-Za-z][A-Za-z0-9_]{0,62}")

of_version = click.option(
    "--version", type=CollectorVersion(), help="The collector version; the server's default one without it."
)


@click.group(cls=Group)
def component() -> None:
    """See what the collector's components can be configured with.

    \b
    Examples:
      headgate component list --kind exporter
      headgate component show otlp --kind receiver
    """


@component.command("list")
@click.option("--kind", type=click.Choice(_KINDS), help="Only components of this kind.")
@of_version
@as_json
@connected
def list_(api: Api, kind: str | None, version: str | None, as_json: bool) -> None:
    """List the components of a collector version.

    \b
    Examples:
      headgate component list
      headgate component list --kind processor --version 0.158.0
    """
    components = list(api.items("/components", **_given(kind=kind, version=version)))
    if as_json:
        print_json(components)
        return
    rows = [(text(one, "kind"), _names(one), _stability(one), text(one, "summary")) for one in components]
    table(("KIND", "TYPE", "STABILITY", "SUMMARY"), rows, nothing="This collector has no such components")


@component.command()
@click.argument("type_", metavar="TYPE")
@click.option("--kind", type=click.Choice(_KINDS), help="The kind, if several have this type.")
@of_version
@as_json
@connected
def show(api: Api, type_: str, kind: str | None, version: str | None, as_json: bool) -> None:
    """Show a component: its fields with types, defaults and descriptions, and an example.

    TYPE is what a configuration calls it, or called it before. --json adds the JSON Schema.

    \b
    Examples:
      headgate component show batch
      headgate component show otlp --kind receiver
    """
    name = type_.partition("/")[0]
    if not _TYPE.fullmatch(name):
        raise click.UsageError(f"{type_!r} is not a component type, such as otlp")
    parameters = _given(version=version)
    found = api.get(f"/components/{kind or _kind_of(api, name, parameters)}/{name}", **parameters)
    if as_json:
        print_json(found)
        return
    _print(found)


@click.command()
@of_version
@as_json
@connected
def schema(api: Api, version: str | None, as_json: bool) -> None:
    """Print the JSON Schema of a whole configuration, for an editor or a validator. It is JSON with and without --json.

    \b
    Examples:
      headgate schema > otelcol.schema.json
      headgate schema --version 0.158.0 > otelcol.schema.json
    """
    written = api.text("/components/schema.json", **_given(version=version))
    if as_json:
        print_json_text(written)
    else:
        print_text(written)


def _kind_of(api: Api, type_: str, parameters: Mapping[str, str]) -> str:
    """The one kind that has this type, or had it under this name. Raises Failed."""
    components = list(api.items("/components", **parameters))
    kinds = [text(one, "kind") for one in components if type_ in (text(one, "type"), *_texts(one, "aliases"))]
    if len(kinds) == 1 and kinds[0] in _KINDS:
        return kinds[0]
    if kinds:
        raise Failed(f"{type_} is {' and '.join(map(one_line, kinds))}: choose one with --kind")
    similar = difflib.get_close_matches(type_, {text(one, "type") for one in components}, n=3)
    meant = f", did you mean {' or '.join(map(one_line, similar))}?" if similar else ""
    raise Failed(f"this collector has no component {type_}{meant}: `headgate component list` shows them")


def _print(found: Entity) -> None:
    print_result(click.style(f"{one_line(text(found, 'type'))} {one_line(text(found, 'kind'))}", bold=True))
    for line in _about(found):
        print_result(line)
    example = found.get("example")
    if isinstance(example, dict):
        print_result(f"\nFrom the flow {one_line(text(example, 'flow'))}:\n{block(text(example, 'yaml'))}")
    print_result("")
    rows = [(text(one, "path"), _type(one), optional(one, "default"), _about_field(one)) for one in _fields(found)]
    table(("FIELD", "TYPE", "DEFAULT", "DESCRIPTION"), rows, nothing="It has no settings", whole=True)


def _about(found: Entity) -> Iterator[str]:
    if optional(found, "summary"):
        yield block(optional(found, "summary"))
    if found.get("deprecated") is not None:
        yield f"Deprecated: {block(optional(found, 'deprecated'))}"
    if _texts(found, "aliases"):
        yield f"Formerly {', '.join(map(one_line, _texts(found, 'aliases')))}"
    yield f"Stability: {one_line(_stability(found))}"


def _fields(found: Entity) -> list[Entity]:
    return entities(found, "fields")


def _type(field: Entity) -> str:
    values = _texts(field, "values")
    return f"{text(field, 'type')}: {', '.join(values)}" if values else text(field, "type")


def _about_field(field: Entity) -> str:
    marks = [mark for mark in ("deprecated", "secret") if field.get(mark) is True]
    return " ".join([*(f"({mark})" for mark in marks), optional(field, "description")])


def _names(entry: Entity) -> str:
    aliases = _texts(entry, "aliases")
    return f"{text(entry, 'type')} (formerly {', '.join(aliases)})" if aliases else text(entry, "type")


def _stability(entry: Entity) -> str:
    """`beta`, or `beta: logs, traces; alpha: metrics` if it differs by signal."""
    stability = entry.get("stability")
    by_level: dict[str, list[str]] = {}
    for signal, level in (stability if isinstance(stability, dict) else {}).items():
        by_level.setdefault(str(level), []).append(str(signal))
    if len(by_level) == 1:
        return next(iter(by_level))
    return "; ".join(f"{level}: {', '.join(signals)}" for level, signals in by_level.items())


def _texts(entity: Entity, name: str) -> list[str]:
    value = entity.get(name)
    return [str(entry) for entry in value] if isinstance(value, list) else []


def _given(**parameters: str | None) -> dict[str, str]:
    return {name: value for name, value in parameters.items() if value}

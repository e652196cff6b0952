"""`component list | show` and `schema`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.output import print_json_text, print_outcome, print_result, print_text, show_list, table
from headgate_cli.shapes import ComponentDetail, ComponentSummary, FieldOut
from headgate_cli.untrusted import block, one_line

_KINDS: Final = ("receiver", "processor", "exporter", "connector", "extension")
_TYPE: Final = re.compile("[A-Za-z][A-Za-z0-9_]{0,62}")

of_version = click.option(
    "--version", type=CollectorVersion(), help="The collector version; the server's default one without it."
)


@click.group(cls=CommandGroup)
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
@connected
def list_(api: Api, kind: str | None, version: str | None, as_json: bool) -> None:
    """List the components of a collector version.

    \b
    Examples:
      headgate component list
      headgate component list --kind processor --version 0.158.0
    """
    components = list(api.items(ComponentSummary, "/components", kind=kind, version=version))
    show_list(
        components,
        as_json,
        "This collector has no such components",
        {
            "KIND": lambda entry: entry["kind"],
            "TYPE": lambda entry: _names(entry),
            "STABILITY": lambda entry: _stability(entry),
            "SUMMARY": lambda entry: entry["summary"],
        },
    )


@component.command()
@click.argument("type_", metavar="TYPE")
@click.option("--kind", type=click.Choice(_KINDS), help="The kind, if several have this type.")
@of_version
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
    path = f"/components/{kind or _kind_of(api, name, version)}/{name}"
    detail = api.get(ComponentDetail, path, version=version)
    print_outcome(detail, as_json, lambda: _print(detail))


@click.command()
@of_version
@connected
def schema(api: Api, version: str | None, as_json: bool) -> None:
    """Print the JSON Schema of a whole configuration, for an editor or a validator. It is JSON with and without --json.

    \b
    Examples:
      headgate schema > otelcol.schema.json
      headgate schema --version 0.158.0 > otelcol.schema.json
    """
    written = api.text("/components/schema.json", version=version)
    if as_json:
        print_json_text(written)
    else:
        print_text(written)


def _kind_of(api: Api, type_: str, version: str | None) -> str:
    """The one kind that has this type, or had it under this name. Raises Failed."""
    components = list(api.items(ComponentSummary, "/components", version=version))
    kinds = [entry["kind"] for entry in components if type_ in (entry["type"], *entry["aliases"])]
    if len(kinds) == 1 and kinds[0] in _KINDS:
        return kinds[0]
    if kinds:
        raise Failed(f"{type_} is {' and '.join(map(one_line, kinds))}: choose one with --kind")
    similar = difflib.get_close_matches(type_, {entry["type"] for entry in components}, n=3)
    meant = f", did you mean {' or '.join(map(one_line, similar))}?" if similar else ""
    raise Failed(f"this collector has no component {type_}{meant}: `headgate component list` shows them")


def _print(detail: ComponentDetail) -> None:
    print_result(click.style(f"{one_line(detail['type'])} {one_line(detail['kind'])}", bold=True))
    for line in _about(detail):
        print_result(line)
    if example := detail["example"]:
        print_result(f"\nFrom the flow {one_line(example['flow'])}:\n{block(example['yaml'])}")
    print_result("")
    rows = [(field["path"], _type(field), field["default"], _about_field(field)) for field in detail["fields"]]
    table(("FIELD", "TYPE", "DEFAULT", "DESCRIPTION"), rows, nothing="It has no settings", whole=True)


def _about(detail: ComponentDetail) -> Iterator[str]:
    if detail["summary"]:
        yield block(detail["summary"])
    if detail["deprecated"] is not None:
        yield f"Deprecated: {block(detail['deprecated'])}"
    if detail["aliases"]:
        yield f"Formerly {', '.join(map(one_line, detail['aliases']))}"
    yield f"Stability: {one_line(_stability(detail))}"


def _type(field: FieldOut) -> str:
    return f"{field['type']}: {', '.join(field['values'])}" if field["values"] else field["type"]


def _about_field(field: FieldOut) -> str:
    marks = [mark for mark, is_set in (("deprecated", field["deprecated"]), ("secret", field["secret"])) if is_set]
    return " ".join([*(f"({mark})" for mark in marks), field["description"]])


def _names(entry: ComponentSummary) -> str:
    aliases = entry["aliases"]
    return f"{entry['type']} (formerly {', '.join(aliases)})" if aliases else entry["type"]


def _stability(entry: ComponentSummary | ComponentDetail) -> str:
    """`beta`, or `beta: logs, traces; alpha: metrics` if it differs by signal."""
    by_level: dict[str, list[str]] = {}
    for signal, level in entry["stability"].items():
        by_level.setdefault(level, []).append(signal)
    if len(by_level) == 1:
        return next(iter(by_level))
    return "; ".join(f"{level}: {', '.join(signals)}" for level, signals in by_level.items())

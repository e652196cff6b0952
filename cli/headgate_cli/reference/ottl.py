"""`ottl reference`."""

from __future__ import annotations

import click

from headgate_cli.api import Api, Entity, entities, optional, text
from headgate_cli.command_group import Group
from headgate_cli.connection import as_json, connected
from headgate_cli.output import print_json, print_result, table
from headgate_cli.reference.commands import of_version


@click.group(cls=Group)
def ottl() -> None:
    """See what OTTL statements and conditions can be made of.

    \b
    Examples:
      headgate ottl reference transform log
    """


@ottl.command()
@click.argument("component", default="")
@click.argument("context", default="")
@of_version
@as_json
@connected
def reference(api: Api, component: str, context: str, version: str | None, as_json: bool) -> None:
    """Show the paths, functions and enums of a context of a component.

    Without CONTEXT, list the components that take OTTL with their contexts.

    \b
    Examples:
      headgate ottl reference
      headgate ottl reference transform log
    """
    parameters = {"version": version} if version else {}
    if component and context:
        parameters |= {"component": component, "context": context}
    found = api.get("/ottl/reference", **parameters)
    if as_json:
        print_json(found)
    elif "component" in parameters:
        _print(found)
    else:
        _print_components(found, component)


def _print_components(found: Entity, component: str) -> None:
    rows = [
        (text(one, "component"), text(one, "kind"), ", ".join(map(str, contexts)))
        for one in entities(found, "components")
        if not component or text(one, "component") == component
        if isinstance(contexts := one.get("contexts"), list)
    ]
    table(("COMPONENT", "KIND", "CONTEXTS"), rows, nothing=f"{component or 'No component'} takes no OTTL")


def _print(found: Entity) -> None:
    paths = [
        (
            _any_key(text(one, "path")),
            text(one, "type"),
            None if one.get("writable") is True else "read only",
            _said(one),
        )
        for one in entities(found, "paths")
    ]
    table(("PATH", "TYPE", "", "DESCRIPTION"), paths, nothing="This context has no paths", whole=True)
    print_result("")
    functions = [
        (text(one, "signature"), text(one, "kind"), _within(one), _said(one)) for one in entities(found, "functions")
    ]
    table(("FUNCTION", "KIND", "IN", "DESCRIPTION"), functions, nothing="This context has no functions", whole=True)
    print_result("")
    enums = [(text(one, "name"), optional(one, "value"), _said(one)) for one in entities(found, "enums")]
    table(("ENUM", "VALUE", "DESCRIPTION"), enums, nothing="This context has no enums", whole=True)


def _any_key(path: str) -> str:
    """`attributes["<key>"]` for what the reference calls `attributes[""]`."""
    return path.replace('[""]', '["<key>"]')


def _within(function: Entity) -> str:
    """The kinds of expressions that may call it."""
    kinds = function.get("in")
    return ", ".join(str(kind).replace("_", " ") for kind in kinds) if isinstance(kinds, list) else ""


def _said(entry: Entity) -> str:
    return optional(entry, "description")

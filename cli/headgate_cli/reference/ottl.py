"""`ottl reference`."""

from __future__ import annotations

import click

from headgate_cli.api import Api
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.output import print_json, print_result, table
from headgate_cli.reference.commands import of_version
from headgate_cli.shaped import PlainAnswer, shaped
from headgate_cli.shapes import OttlComponents, OttlReferenceOut


@click.group(cls=CommandGroup)
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
@connected
def reference(api: Api, component: str, context: str, version: str | None, as_json: bool) -> None:
    """Show the paths, functions and enums of a context of a component.

    Without CONTEXT, list the components that take OTTL with their contexts.

    \b
    Examples:
      headgate ottl reference
      headgate ottl reference transform log
    """
    names = {"component": component, "context": context} if component and context else {}
    answer = api.get(PlainAnswer, "/ottl/reference", version=version, **names)
    if as_json:
        print_json(answer)
    elif names:
        _print(shaped(OttlReferenceOut, answer))
    else:
        _print_components(shaped(OttlComponents, answer), component)


def _print_components(listed: OttlComponents, component: str) -> None:
    rows = [
        (entry["component"], entry["kind"], ", ".join(entry["contexts"]))
        for entry in listed["components"]
        if component in ("", entry["component"])
    ]
    table(("COMPONENT", "KIND", "CONTEXTS"), rows, nothing=f"{component or 'No component'} takes no OTTL")


def _print(reference: OttlReferenceOut) -> None:
    paths = [
        (_any_key(path["path"]), path["type"], None if path["writable"] else "read only", path["description"])
        for path in reference["paths"]
    ]
    table(("PATH", "TYPE", "", "DESCRIPTION"), paths, nothing="This context has no paths", whole=True)
    print_result("")
    functions = [
        (
            function["signature"],
            function["kind"],
            ", ".join(kind.replace("_", " ") for kind in function["in"]),
            function["description"],
        )
        for function in reference["functions"]
    ]
    table(("FUNCTION", "KIND", "IN", "DESCRIPTION"), functions, nothing="This context has no functions", whole=True)
    print_result("")
    enums = [(enum["name"], enum["value"], enum["description"]) for enum in reference["enums"]]
    table(("ENUM", "VALUE", "DESCRIPTION"), enums, nothing="This context has no enums", whole=True)


def _any_key(path: str) -> str:
    """`attributes["<key>"]` for what the reference calls `attributes[""]`."""
    return path.replace('[""]', '["<key>"]')

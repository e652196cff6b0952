"""`flow list | show | use`."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

import click

from headgate_cli.api import Api, Entity, ServerError, text
from headgate_cli.command_group import Group
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import Failed
from headgate_cli.output import dump, print_text, say, table, tell
from headgate_cli.untrusted import block, one_line
from headgate_cli.yaml_files import SIGNALS

_SLUG: Final = re.compile("[a-z0-9-]{1,64}")


@click.group(cls=Group)
def flow() -> None:
    """Browse the gallery of flows, and start from one.

    \b
    Examples:
      headgate flow list --signal logs
      headgate flow use nginx --name edge-nginx
    """


@flow.command("list")
@click.option("--signal", type=click.Choice(SIGNALS), help="Those of one signal only.")
@click.option("--tag", default="", help="Those with this tag only.")
@as_json
@connected
def list_(api: Api, signal: str | None, tag: str, as_json: bool) -> None:
    """List the gallery.

    \b
    Examples:
      headgate flow list
      headgate flow list --signal logs
    """
    found = [
        one
        for one in api.items("/flows")
        if (not signal or signal in _texts(one, "signals")) and (not tag or tag in _texts(one, "tags"))
    ]
    if as_json:
        dump(found)
        return
    rows = [(text(one, "slug"), ", ".join(_texts(one, "signals")), text(one, "summary")) for one in found]
    table(("SLUG", "SIGNALS", "SUMMARY"), rows, nothing="No flow is like that")


@flow.command()
@click.argument("slug")
@click.option("--yaml", "yaml_only", is_flag=True, help="Print the configuration and nothing else.")
@as_json
@connected
def show(api: Api, slug: str, yaml_only: bool, as_json: bool) -> None:
    """Show a flow with its configuration.

    \b
    Examples:
      headgate flow show nginx
      headgate flow show nginx --yaml > collector.yaml
    """
    found = _found(api, slug)
    if as_json:
        dump(found)
        return
    if not yaml_only:
        say(click.style(one_line(text(found, "name")), bold=True) + f"  by {one_line(text(found, 'author'))}")
        say(f"{block(text(found, 'description'))}\n")
    print_text(text(found, "yaml"))


@flow.command()
@click.argument("slug")
@click.option("--name", default="", help="The configuration's name; the flow's by default.")
@as_json
@connected
def use(api: Api, slug: str, name: str, as_json: bool) -> None:
    """Create a configuration of your own from a flow, a draft.

    \b
    Examples:
      headgate flow use nginx --name edge-nginx
    """
    found = _found(api, slug)
    request = {"name": name or text(found, "name"), "yaml": text(found, "yaml"), "description": text(found, "summary")}
    made = api.create("/configurations", request)
    if as_json:
        dump(made)
        return
    made_id = one_line(text(made, "id"))
    tell(made_id)
    say(f"{one_line(text(made, 'name'))} v1 is a draft. Next: `headgate config edit {made_id}`")


def _found(api: Api, slug: str) -> Entity:
    try:
        # A slug holds nothing else; a path that is none would be asked for something else.
        if _SLUG.fullmatch(slug):
            return api.get(f"/flows/{slug}")
    except ServerError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
    raise Failed(f"there is no flow {slug!r}: look with `headgate flow list`")


def _texts(one: Entity, name: str) -> list[str]:
    value = one.get(name)
    return [str(entry) for entry in value] if isinstance(value, list) else []

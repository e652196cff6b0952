"""`config rename | describe | archive | restore | delete`."""

from __future__ import annotations

import click

from headgate_cli.api import Api
from headgate_cli.configurations import lookup
from headgate_cli.connection import connected
from headgate_cli.output import confirm, print_outcome
from headgate_cli.shapes import ConfigurationSummary
from headgate_cli.untrusted import one_line

_CONFIGURATION = "CONFIGURATION"


@click.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@click.argument("name")
@connected
def rename(api: Api, configuration: str, name: str, as_json: bool) -> None:
    """Give a configuration another name. Files that `pull` or `push` recorded stay connected with it.

    \b
    Examples:
      headgate config rename edge edge-eu
    """
    if not name.strip():
        raise click.UsageError("NAME is empty: write a name of 1 to 200 characters")
    after = api.patch(ConfigurationSummary, f"/configurations/{lookup.find(api, configuration)}", {"name": name})
    _say(after, "{id} is called {name}", as_json=as_json)


@click.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@click.argument("description")
@connected
def describe(api: Api, configuration: str, description: str, as_json: bool) -> None:
    """Say what a configuration is for. An empty DESCRIPTION removes the one that is there.

    \b
    Examples:
      headgate config describe edge "Logs of the shops, without card numbers"
      headgate config describe edge ""
    """
    changes = {"description": description if description.strip() else None}
    after = api.patch(ConfigurationSummary, f"/configurations/{lookup.find(api, configuration)}", changes)
    done = "is described" if changes["description"] else "has no description"
    _say(after, f"{{name}} {done}", as_json=as_json)


@click.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@connected
def archive(api: Api, configuration: str, as_json: bool) -> None:
    """Keep a configuration that is not used any longer: it leaves the lists, and `config restore` brings it back.

    Ends with 1 while a deployment group, a rollout or an override uses it, and names each.

    \b
    Examples:
      headgate config archive edge
    """
    after = api.post(ConfigurationSummary, f"/configurations/{lookup.find(api, configuration)}/archive")
    _say(after, "{name} is archived", as_json=as_json)


@click.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@connected
def restore(api: Api, configuration: str, as_json: bool) -> None:
    """Bring an archived configuration back. CONFIGURATION is looked for among archived ones first.

    \b
    Examples:
      headgate config restore edge
    """
    configuration_id = lookup.find(api, configuration, archived_first=True)
    after = api.post(ConfigurationSummary, f"/configurations/{configuration_id}/restore")
    _say(after, "{name} is not archived any longer", as_json=as_json)


@click.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@click.option("--yes", is_flag=True, help="Do not ask.")
@connected
def delete(api: Api, configuration: str, yes: bool, as_json: bool) -> None:
    """Delete a configuration that was never published, with its versions, rules and tests, for good.

    Asks before it does; without a terminal, --yes is required. What was published can be archived.

    \b
    Examples:
      headgate config delete attempt --yes
    """
    configuration_id = lookup.find(api, configuration)
    if not yes:
        question = f"Delete {one_line(configuration)} ({configuration_id}) with all its versions?"
        confirm(question, "without a terminal to ask on, confirm with --yes", "nothing was deleted")
    api.delete(f"/configurations/{configuration_id}")
    print_outcome({"deleted": configuration_id}, as_json, f"{one_line(configuration)} is deleted")


def _say(configuration: ConfigurationSummary, sentence: str, *, as_json: bool) -> None:
    message = sentence.format(id=configuration["id"], name=configuration["name"])
    print_outcome(configuration, as_json, one_line(message))

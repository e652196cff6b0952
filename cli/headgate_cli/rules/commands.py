"""`rules get` and `rules set`."""

from __future__ import annotations

import click

from headgate_cli.api import Api, entities
from headgate_cli.command_group import Group
from headgate_cli.configurations import lookup
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import as_json, connected
from headgate_cli.output import dump, print_text, say, tell
from headgate_cli.rules import files
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import shown

_version = click.option("--version", "n", type=VersionNumber(), help="The version; the latest one by default.")


@click.group(cls=Group)
def rules() -> None:
    """Read and save the rules of a version's pipelines.

    \b
    Examples:
      headgate rules get edge > rules.yaml
      headgate rules set edge rules.yaml
    """


@rules.command()
@click.argument("configuration", metavar="CONFIGURATION")
@_version
@as_json
@connected
def get(api: Api, configuration: str, n: int | None, as_json: bool) -> None:
    """Print the saved rules as a file that `rules set` takes.

    \b
    Examples:
      headgate rules get edge > rules.yaml
    """
    answer = api.get(_path(api, configuration, n))
    if as_json:
        dump(answer["items"])
        return
    sets = files.of_answer(answer)
    by_hand = sum(not rule.get("api_owned") for one in entities(answer, "items") for rule in entities(one, "rules"))
    if by_hand:
        say(f"Left out: {by_hand} that were added by hand in the application; `set` keeps them")
    if sets:
        print_text(shown(sets))
    else:
        say("No rules yet")


@rules.command("set")
@click.argument("configuration", metavar="CONFIGURATION")
@click.argument("file", metavar="FILE")
@_version
@as_json
@connected
def set_(api: Api, configuration: str, file: str, n: int | None, as_json: bool) -> None:
    """Save the rules of a file, a set for each pipeline in it; rules added by hand in the application are kept.

    \b
    Examples:
      headgate rules set edge rules.yaml
    """
    path = _path(api, configuration, n)
    saved = []
    for one in files.rule_sets(file):
        body: dict[str, object] = {"signal_type": one.signal_type, "rules": one.rules}
        # A slash in a pipeline's name is a part of it.
        answer = api.put(f"{path}/{one.pipeline.replace('/', '%2F')}", body | ({"name": one.name} if one.name else {}))
        saved.append(answer)
        if not as_json:
            tell(f"{one_line(one.pipeline)}: {len(entities(answer, 'rules'))} rules")
    if as_json:
        dump(saved)


def _path(api: Api, configuration: str, n: int | None) -> str:
    configuration_id = lookup.find(api, configuration)
    version = n or lookup.latest(api, configuration_id).version
    return f"/configurations/{configuration_id}/versions/{version}/validation-pipelines"

"""`rules get` and `rules set`."""

from __future__ import annotations

from urllib.parse import quote

import click

from headgate_cli.api import Api, ServerError
from headgate_cli.command_group import CommandGroup
from headgate_cli.configurations import lookup
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import connected
from headgate_cli.output import print_json, print_result, print_text, say
from headgate_cli.rules import files
from headgate_cli.shapes import RuleSetOut, RuleSets
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import dump_yaml

_version = click.option("--version", "n", type=VersionNumber(), help="The version; the latest one by default.")


@click.group(cls=CommandGroup)
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
@connected
def get(api: Api, configuration: str, n: int | None, as_json: bool) -> None:
    """Print the saved rules as a YAML file for `rules set`.

    \b
    Examples:
      headgate rules get edge > rules.yaml
    """
    saved = api.get(RuleSets, _path(api, configuration, n))["items"]
    if as_json:
        print_json(saved)
        return
    sets = files.of_answer(saved)
    by_hand = sum(not rule["api_owned"] for rule_set in saved for rule in rule_set["rules"])
    if by_hand:
        say(f"Not printed: rules added in the application ({by_hand}); `headgate rules set` does not change them")
    if sets:
        print_text(dump_yaml(sets))
    else:
        say(
            f"No rules yet: write a file in the format of `headgate rules set --help`, and save it with "
            f"`headgate rules set {one_line(configuration)} FILE`"
        )


@rules.command("set")
@click.argument("configuration", metavar="CONFIGURATION")
@click.argument("file", metavar="FILE")
@_version
@connected
def set_(api: Api, configuration: str, file: str, n: int | None, as_json: bool) -> None:
    """Save a file's rules, one set for each pipeline; rules added in the application stay.

    The file is YAML, with the rules by the pipeline's name:

    \b
      logs/edge:
        rules:
          - name: no debug records
            condition: log.severity_number >= 9
            expect: all

    `expect` is any (the default), all, none, or count with `min` and `max`. `context`, for example resource, says what
    the condition, an OTTL condition, is evaluated on; the default follows from the pipeline's signal.

    \b
    Examples:
      headgate rules set edge rules.yaml
    """
    path = _path(api, configuration, n)
    saved = []
    for rule_set in files.rule_sets(file):
        body: dict[str, object] = {"signal_type": rule_set.signal_type, "rules": rule_set.rules}
        try:
            body |= {"name": rule_set.name} if rule_set.name else {}
            answer = api.put(RuleSetOut, f"{path}/{quote(rule_set.pipeline, safe='')}", body)
        except ServerError as error:
            raise files.refusal(error, file, rule_set.pipeline) from error
        saved.append(answer)
        if not as_json:
            count = len(answer["rules"])
            print_result(f"{one_line(rule_set.pipeline)}: {count} rule{'' if count == 1 else 's'}")
    if as_json:
        print_json(saved)


def _path(api: Api, configuration: str, n: int | None) -> str:
    configuration, n = lookup.one_version(configuration, n)
    configuration_id = lookup.find(api, configuration)
    version = n or lookup.latest(api, configuration_id).version
    return f"/configurations/{configuration_id}/versions/{version}/validation-pipelines"

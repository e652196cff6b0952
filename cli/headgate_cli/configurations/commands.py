"""`config list | show | versions | diff | publish`; the other subcommands have modules of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from headgate_cli import variables
from headgate_cli.api import Api
from headgate_cli.checks import gate
from headgate_cli.command_group import CommandGroup
from headgate_cli.configurations import lookup
from headgate_cli.configurations.edit import edit
from headgate_cli.configurations.importing import import_
from headgate_cli.configurations.life import archive, delete, describe, rename, restore
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.configurations.pull import pull
from headgate_cli.configurations.push import create, push
from headgate_cli.connection import connected
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import diff as show_diff
from headgate_cli.output import minute, print_json, print_outcome, print_text, say, show_list, unified
from headgate_cli.safe_files import STDIN, name, read
from headgate_cli.shapes import ConfigurationDetail, ConfigurationSummary, VersionDetail, VersionSummary
from headgate_cli.suites import stored, sync
from headgate_cli.untrusted import block, one_line

_CONFIGURATION = "CONFIGURATION"


@click.group(cls=CommandGroup)
def config() -> None:
    """Work with configurations and their versions.

    CONFIGURATION is an id (cfg_...), a name, or a file that `pull` or `push` recorded in headgate.json. Where a version
    is meant, CONFIGURATION@N names it, as --version does.

    \b
    Examples:
      headgate config list
      headgate config push collector.yaml --dry-run
      headgate config diff edge
    """


@config.command("list")
@click.option("--text", "content", default="", help="With this text in the name, description, owner's name or YAML.")
@click.option("--component", default="", help="With this component: a type such as batch, or an id such as otlp/2.")
@click.option("--archived", is_flag=True, help="Archived configurations instead.")
@connected
def list_(api: Api, content: str, component: str, archived: bool, as_json: bool) -> None:
    """List your configurations and the organization's published ones, most recently updated first.

    \b
    Examples:
      headgate config list
      headgate config list --archived
      headgate config list --component tail_sampling --json
    """
    filters = {"text": content, "component": component, "archived": "true" if archived else ""}
    configurations = api.items(ConfigurationSummary, "/configurations", **filters)
    show_list(
        configurations,
        as_json,
        "No such configurations that you can see"
        if any(filters.values())
        else "No configurations yet: create one with `headgate config create FILE`",
        {
            "ID": lambda configuration: configuration["id"],
            "NAME": lambda configuration: configuration["name"],
            "LATEST": lambda configuration: configuration["latest_version"],
            "PUBLISHED": lambda configuration: configuration["published_version"],
            "UPDATED (UTC)": lambda configuration: minute(configuration["updated_at"]),
        },
    )


@config.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@click.option("--version", "n", type=VersionNumber(), help="The version; the latest one by default.")
@click.option("--yaml", "yaml_only", is_flag=True, help="Print the YAML only.")
@connected
def show(api: Api, configuration: str, n: int | None, yaml_only: bool, as_json: bool) -> None:
    """Show a configuration with the YAML of its latest version, or of another one.

    \b
    Examples:
      headgate config show edge
      headgate config show edge@1 --yaml > edge-v1.yaml
    """
    configuration, n = lookup.one_version(configuration, n)
    configuration_id = lookup.find(api, configuration)
    detail = api.get(ConfigurationDetail, f"/configurations/{configuration_id}")
    chosen: ConfigurationDetail | VersionDetail
    chosen = lookup.version(api, configuration_id, n) if n else detail
    if as_json:
        print_json(chosen)
        return
    if yaml_only:
        print_text(chosen["yaml"])
        return
    latest, published = detail["latest_version"], detail["published_version"]
    which = f"version {n}, {one_line(str(chosen.get('status')))}" if n else f"version {latest}, the latest"
    say(click.style(one_line(detail["name"]), bold=True) + f"  {configuration_id}")
    if detail["description"]:
        say(block(detail["description"]))
    say(
        f"{which}; {f'version {published} is published' if published else 'no version is published'}; "
        f"collector {one_line(chosen['collector_version'])}\n"
    )
    print_text(chosen["yaml"])


@config.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@connected
def versions(api: Api, configuration: str, as_json: bool) -> None:
    """List the versions of a configuration, newest first.

    \b
    Examples:
      headgate config versions edge
    """
    path = f"/configurations/{lookup.find(api, configuration)}/versions"
    nothing = "No versions that you can see: others' versions are visible once they are published"
    show_list(
        api.items(VersionSummary, path),
        as_json,
        nothing,
        {
            "VERSION": lambda version: version["n"],
            "STATUS": lambda version: version["status"],
            "COLLECTOR": lambda version: version["collector_version"],
            "CREATED (UTC)": lambda version: minute(version["created_at"]),
            "DESCRIPTION": lambda version: version["description"],
        },
    )


@config.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@click.option("--from", "before", type=VersionNumber(), help="The older version; the newest published one by default.")
@click.option("--to", "after", type=VersionNumber(), help="The newer version; the latest one by default.")
@click.option("--file", "file", default="", help="Compare the latest version, or that of --from, with this file.")
@click.option("--exit-code", is_flag=True, help="End with 1 if there is a difference.")
@connected
def diff(
    api: Api,
    configuration: str,
    before: int | None,
    after: int | None,
    file: str,
    exit_code: bool,
    as_json: bool,
) -> None:
    """Show what changed between two versions, or between a version and a file; their tests too.

    A side that is empty is called /dev/null, as other tools call it.

    \b
    Examples:
      headgate config diff edge
      headgate config diff edge --from 1 --to 2
      headgate config diff edge@1 --json
      headgate config diff edge --file edge.yaml --exit-code
    """
    if file and after:
        raise click.UsageError("--file and --to exclude each other: the file is the newer side")
    configuration, named = lookup.with_version(configuration)
    if named and before and named != before:
        raise click.UsageError(f"@{named} and --from {before} name two versions: leave one out")
    before = before or named or None
    latest = lookup.latest(api, lookup.find(api, configuration))
    if not (before or file) and latest.version == 1:
        raise Failed(f"{one_line(latest.name)} has only one version: compare it with a file, with --file FILE")
    published = latest.published if latest.published != latest.version else 0
    older = before or (latest.version if file else published or latest.version - 1)
    newer = after or latest.version

    def side(n: int) -> str:
        return lookup.text_of(api, latest, n).text

    configuration_name = one_line(latest.name)
    before_text, before_name = side(older), f"{configuration_name} v{older}"
    after_text = read(file) if file else side(newer)
    after_name = one_line(name(file)) if file else f"{configuration_name} v{newer}"
    sides = [(before_text, after_text, (before_name, after_name))]
    for before_test, after_test, test_name in _tests(api, latest.id, older, newer, file, after_text):
        sides.append((before_test, after_test, (f"{before_name}, {test_name}", f"{after_name}, {test_name}")))
    differing = [(old, new, _named(old, new, names)) for old, new, names in sides if old != new]
    if as_json:
        differences = [
            {"from": names[0], "to": names[1], "diff": unified(old, new, names)} for old, new, names in differing
        ]
        print_json({"configuration_id": latest.id, "equal": not differing, "differences": differences})
    else:
        for old, new, names in differing:
            show_diff(old, new, names)
        if not differing:
            say(f"No difference between {before_name} and {after_name}")
    if differing and exit_code:
        raise Ended(FAILED)


def _named(before: str, after: str, names: tuple[str, str]) -> tuple[str, str]:
    """The names of both sides, /dev/null for an empty one."""
    return (names[0] if before else os.devnull, names[1] if after else os.devnull)


def _tests(
    api: Api, configuration_id: str, older: int, newer: int, file: str, content: str
) -> Iterator[tuple[str, str, str]]:
    """Both sides of each test that differs, and its name; nothing for a file that has no folder of tests."""
    if not file:
        yield from stored.between(api, configuration_id, older, newer)
    elif file != STDIN and sync.concerns(Path(file), {}):
        yield from stored.against_files(api, configuration_id, older, Path(file), content)


@config.command()
@click.argument("configuration", metavar=_CONFIGURATION)
@click.option("--version", "n", type=VersionNumber(), help="The version; the latest one by default.")
@variables.env
@click.option("--no-validate", is_flag=True, help="Publish without validating first.")
@gate.force
@connected
def publish(
    api: Api,
    configuration: str,
    n: int | None,
    env: Sequence[tuple[str, str]],
    no_validate: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Publish a version: the organization sees it, fleets can run it, and it can never change again.

    The version is validated first. If it is invalid, or cannot be validated, nothing is published.

    \b
    Examples:
      headgate config publish edge
      headgate config publish edge@2 --env-file production.env
    """
    configuration, n = lookup.one_version(configuration, n)
    latest = lookup.latest(api, lookup.find(api, configuration))
    n = n or latest.version
    read = ""
    if n != latest.published and not no_validate:
        content, label = lookup.text_of(api, latest, n), f"{latest.name} v{n}"
        read = content.etag
        gate.require_valid_version(api, label, content, undone="Nothing was published", forced=force, env=env)
    published = api.post(VersionDetail, f"/configurations/{latest.id}/versions/{n}/publish", if_match=read)
    print_outcome(published, as_json, f"{one_line(latest.name)} v{published['n']} is published")


for _command in (archive, create, delete, describe, edit, import_, pull, push, rename, restore):
    config.add_command(_command)

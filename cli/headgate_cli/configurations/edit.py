"""`config edit`: a version in the person's own editor, saved once it is valid."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from headgate_cli import variables
from headgate_cli.api import Api, ServerError
from headgate_cli.checks.checked import TextToCheck
from headgate_cli.checks.gate import require_valid_texts
from headgate_cli.configurations import lookup
from headgate_cli.configurations.edit_many import How, SettingType, edit_many
from headgate_cli.connection import connected
from headgate_cli.errors import Ended, Failed, NotAuthenticated
from headgate_cli.output import print_json, print_outcome, say
from headgate_cli.safe_files import read, read_bytes
from headgate_cli.shapes import VersionDetail
from headgate_cli.untrusted import one_line
from headgate_engine.setting import Setting


class _NoEditor(Failed):
    """The editor could not be started, or ended with an error."""


@click.command()
@click.argument("configurations", nargs=-1, metavar="CONFIGURATION|FILE|FOLDER...")
@click.option("--all", "everything", is_flag=True, help="With --set: the latest version of every configuration.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    type=SettingType(),
    help="Set a value, such as exporters.otlphttp.endpoint=https://example.com; with :: between names that contain a "
    "dot. Repeatable.",
)
@click.option("-m", "--description", default="", help="A description, if a new version is created.")
@click.option("--publish", is_flag=True, help="With --set: publish the versions if all of their tests pass.")
@click.option("--dry-run", is_flag=True, help="With --set: show the differences and save nothing.")
@click.option("--yes", is_flag=True, help="With --set: do not ask before saving.")
@click.option("--no-validate", is_flag=True, help="With --set: save without validating first.")
@variables.env
@connected
def edit(
    api: Api,
    configurations: Sequence[str],
    everything: bool,
    settings: Sequence[Setting],
    description: str,
    publish: bool,
    dry_run: bool,
    yes: bool,
    no_validate: bool,
    env: Sequence[tuple[str, str]],
    as_json: bool,
) -> None:
    """Edit the latest version in $VISUAL or $EDITOR, or set values in many with --set.

    A draft is changed in place; for a published version a new draft is created. If the text is invalid, the editor
    opens again. Text that is not saved stays in a file, whose name is printed.

    With --set, comments, anchors and every other byte stay. All differences are shown and all texts validated before
    anything is saved; then the tests of each version run, and with --publish the versions are published if all pass.
    What has no such component stays as it is. Files and the files of folders are changed in place.

    \b
    Examples:
      EDITOR="sed -i s/5s/10s/" headgate config edit edge
      headgate config edit --all --set exporters.otlphttp.endpoint=https://otel.example.com
      headgate config edit edge gateway --set processors.batch.timeout=1s --publish --yes
      headgate config edit ./configurations --set processors.batch.timeout=1s --dry-run
    """
    if settings:
        if everything == bool(configurations):
            raise click.UsageError("name configurations or files, or use --all")
        how = How(description, publish, dry_run, yes, no_validate, env, as_json)
        edit_many(api, configurations, everything, settings, how)
        return
    if everything or publish or dry_run or yes or no_validate or env:
        raise click.UsageError("--all, --publish, --dry-run, --yes, --no-validate and --env are for --set")
    if len(configurations) != 1:
        raise click.UsageError("name one configuration; with --set several")
    (configuration,) = configurations
    configuration_id = lookup.find(api, configuration)
    latest = lookup.latest(api, configuration_id)
    path = f"/configurations/{configuration_id}/versions/{latest.version}"
    before, etag = api.get_with_etag(VersionDetail, path)
    folder = Path(tempfile.mkdtemp(prefix="headgate-"))
    file = folder / f"{configuration_id}.yaml"
    file.write_bytes(before["yaml"].encode())
    unsaved = f"what you wrote is in {file}"
    try:
        content = _edited(api, file, TextToCheck(before["yaml"], latest.collector_version, latest.feature_gates))
        if content is None:
            _delete(file)
            say("No change")
            if as_json:
                print_json(before)
            return
        if before["status"] == "draft":
            after = api.patch_with_etag(VersionDetail, path, {"yaml": content}, if_match=etag)[0]
        else:
            described = {"description": description} if description else {}
            versions = f"/configurations/{configuration_id}/versions"
            after = api.create(VersionDetail, versions, {"yaml": content} | described, if_match=etag)
    except _NoEditor as error:
        if read_bytes(file) == before["yaml"].encode():
            _delete(file)
            raise
        raise Failed(f"{error.message}; nothing was saved, {unsaved}") from error
    except ServerError as error:
        reason = "somebody else changed it meanwhile" if error.is_stale else error.message
        raise Failed(f"{reason}; nothing was saved, {unsaved}") from error
    except NotAuthenticated as error:
        raise NotAuthenticated(f"{error.message}; nothing was saved, {unsaved}", error.hint) from error
    except Failed as error:
        raise type(error)(f"{error.message}; nothing was saved, {unsaved}") from error
    except (Ended, click.Abort, KeyboardInterrupt):
        say(f"Nothing was saved; {unsaved}")
        raise
    _delete(file)
    print_outcome(after, as_json, f"{one_line(latest.name)} v{after['n']} is saved as a draft")


def _edited(api: Api, file: Path, before: TextToCheck) -> str | None:
    """The edited text, valid or saved on demand; None if it was not changed. Raises Ended if the person gives up."""
    while True:
        _open_editor(file)
        content = read(str(file))
        if content == before.text:
            return None
        try:
            require_valid_texts(api, {str(file): before._replace(text=content)}, undone="Nothing was saved yet")
        except Ended:
            answer = click.prompt(
                "Edit again, save the invalid text, or leave?",
                type=click.Choice(["edit", "save", "leave"]),
                default="edit",
            )
            if answer == "edit":
                continue
            if answer == "leave":
                raise
        return content


def _open_editor(file: Path) -> None:
    try:
        click.edit(filename=str(file), editor=os.environ.get("VISUAL") or os.environ.get("EDITOR"))
    except click.ClickException as error:
        raise _NoEditor(f"{error.message}: set EDITOR to an editor that works") from error


def _delete(file: Path) -> None:
    file.unlink()
    file.parent.rmdir()

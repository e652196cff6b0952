"""`config pull`: write configurations from the server into a folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from headgate_cli import safe_files
from headgate_cli.api import Api
from headgate_cli.configurations import lookup
from headgate_cli.configurations.folder import Folder, entry_of
from headgate_cli.connection import connected
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import print_json, print_result, say
from headgate_cli.shapes import ConfigurationSummary
from headgate_cli.suites import sync
from headgate_cli.untrusted import one_line


@click.command()
@click.argument("configurations", nargs=-1, metavar="CONFIGURATION...")
@click.option("--all", "everything", is_flag=True, help="Every configuration you can see.")
@click.option(
    "--to", "folder", default=".", type=click.Path(file_okay=False), help="The folder; the current one by default."
)
@click.option("--published", is_flag=True, help="The newest published version instead of the latest one.")
@click.option("--force", is_flag=True, help="Replace files that were changed here since the last pull or push.")
@connected
def pull(
    api: Api,
    configurations: Sequence[str],
    everything: bool,
    folder: str,
    published: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write configurations to files, and record in headgate.json which version each file holds.

    The tests of collector.yaml are written to collector.tests.

    Without arguments, pulls every file of the folder again. Commit headgate.json with the files.

    \b
    Examples:
      headgate config pull edge --to configurations
      headgate config pull --all --published --to production
    """
    if everything and configurations:
        raise click.UsageError("name configurations or use --all, not both")
    try:
        safe_files.place(Path(folder)).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failed(f"cannot create the folder {one_line(folder)}: {error.strerror}") from error
    target = Folder(Path(folder))
    if everything:
        ids = [configuration["id"] for configuration in api.items(ConfigurationSummary, "/configurations")]
    elif configurations:
        ids = [lookup.find(api, configuration) for configuration in configurations]
    else:
        ids = [entry.id for entry in target.entries.values()]
    if not ids:
        raise click.UsageError(
            "no configuration is visible to you" if everything else "name the configurations to pull, or use --all"
        )
    pulled = []
    refused = False
    for configuration_id in ids:
        result = _pull(api, target, configuration_id, published=published, force=force)
        refused = refused or result is None
        if result is not None and result.file:
            pulled.append(result)
            if not as_json:
                tests = f", {result.tests} test{'' if result.tests == 1 else 's'}" if result.tests else ""
                print_result(f"{one_line(result.file)}: {one_line(result.name)} v{result.version_number}{tests}")
    if as_json:
        print_json([asdict(result) for result in pulled])
    if refused:
        raise Ended(FAILED)


@dataclass(frozen=True, slots=True)
class Pulled:
    """A file that is equal to a version now; `file` is empty if no version is published and only those are pulled."""

    file: str
    configuration_id: str
    name: str
    version_number: int
    tests: int = 0


def _pull(api: Api, target: Folder, configuration_id: str, *, published: bool, force: bool) -> Pulled | None:
    """Write one configuration. Returns None, after a message, if the file was changed here."""
    latest = lookup.latest(api, configuration_id)
    n, yaml = latest.version, latest.yaml
    if published and latest.published != latest.version:
        if not latest.published:
            say(f"{one_line(latest.name)}: no version is published; skipped")
            return Pulled("", latest.id, latest.name, 0)
        n = latest.published
        yaml = lookup.version(api, configuration_id, n)["yaml"]
    file = target.file_of(configuration_id) or _free_name(target, latest.name)
    path = target.path / file
    if target.changed_here(file, yaml) and not force:
        say(f"{one_line(str(path))} was changed here: push it, or discard the change with --force")
        return None
    known = target.entries.get(file)
    tests = sync.pull_plan(api, path, yaml, known.tests if known else {}, latest.id, n)
    if tests.changed and not force:
        for changed in tests.changed:
            say(f"{one_line(changed)} was changed here: push it, or discard the change with --force")
        return None
    target.write(file, yaml)
    sync.pull(tests)
    target.record(file, entry_of(latest.id, latest.name, n, yaml, tests.there))
    return Pulled(str(path), latest.id, latest.name, n, len(tests.there))


def _free_name(target: Folder, name: str) -> str:
    """A file name like the configuration's name that no file of the folder has."""
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "configuration"
    used = {*target.entries, *target.files()}
    candidates = (f"{stem}{suffix}.yaml" for suffix in ("", *(f"-{number}" for number in range(2, len(used) + 3))))
    return next(candidate for candidate in candidates if candidate not in used)

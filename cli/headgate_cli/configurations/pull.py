"""`config pull`: from the server into a folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from headgate_cli import safe_files
from headgate_cli.api import Api, text
from headgate_cli.configurations import lookup
from headgate_cli.configurations.folder import Folder, entry_of
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import dump, say, tell
from headgate_cli.untrusted import one_line


@click.command()
@click.argument("configurations", nargs=-1, metavar="CONFIGURATION...")
@click.option("--all", "everything", is_flag=True, help="Every configuration you can see.")
@click.option("--to", "folder", default=".", type=click.Path(file_okay=False), help="The folder; this one by default.")
@click.option("--published", is_flag=True, help="The newest published version instead of the latest one.")
@click.option("--force", is_flag=True, help="Replace files that were changed here since the last pull or push.")
@as_json
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
    """Write configurations to files, and remember in headgate.json which version each is.

    Without arguments, renews every file of the folder. Keep the folder in git, headgate.json with it.

    \b
    Examples:
      headgate config pull edge --to configurations
      headgate config pull --all --published --to production
    """
    if everything and configurations:
        raise click.UsageError("name configurations, or give --all, not both")
    try:
        safe_files.place(Path(folder)).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failed(f"cannot make the folder {one_line(folder)}: {error.strerror}") from error
    there = Folder(Path(folder))
    if everything:
        wanted = [text(one, "id") for one in api.items("/configurations")]
    elif configurations:
        wanted = [lookup.find(api, one) for one in configurations]
    else:
        wanted = [entry.id for entry in there.entries.values()]
    if not wanted:
        raise click.UsageError("name the configurations to pull, or give --all")
    pulled = []
    refused = False
    for one in wanted:
        got = _pull(api, there, one, published=published, force=force)
        refused = refused or got is None
        if got is not None and got.file:
            pulled.append(got)
            if not as_json:
                tell(f"{one_line(got.file)}: {one_line(got.name)} v{got.version_number}")
    if as_json:
        dump([asdict(one) for one in pulled])
    if refused:
        raise Ended(FAILED)


@dataclass(frozen=True, slots=True)
class Pulled:
    """A file that is in step now; `file` is empty where there is nothing to be in step with."""

    file: str
    configuration_id: str
    name: str
    version_number: int


def _pull(api: Api, there: Folder, configuration_id: str, *, published: bool, force: bool) -> Pulled | None:
    """None where the file has changes of its own, which is said."""
    latest = lookup.latest(api, configuration_id)
    n, yaml = latest.version, latest.yaml
    if published and latest.published != latest.version:
        if not latest.published:
            say(f"{one_line(latest.name)}: nothing is published; left out")
            return Pulled("", latest.id, latest.name, 0)
        n = latest.published
        yaml = text(lookup.version(api, configuration_id, n), "yaml")
    file = there.of(configuration_id) or _free_name(there, latest.name)
    entry = entry_of(latest.id, latest.name, n, yaml)
    if there.changed_here(file) and not force and not there.holds(file, yaml):
        say(f"{one_line(str(there.path / file))} was changed here: push it, or give --force to lose the change")
        return None
    there.write(file, yaml)
    there.keep(file, entry)
    return Pulled(str(there.path / file), latest.id, latest.name, n)


def _free_name(there: Folder, name: str) -> str:
    """A file name like the configuration's name, that no other file has."""
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "configuration"
    taken = {*there.entries, *there.files()}
    candidates = (f"{stem}{suffix}.yaml" for suffix in ("", *(f"-{number}" for number in range(2, len(taken) + 3))))
    return next(candidate for candidate in candidates if candidate not in taken)

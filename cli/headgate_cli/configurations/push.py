"""`config push` and `config create`: from files to the server, validated first."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

from headgate_cli.api import Api, entities, number, text
from headgate_cli.checks.gate import require_valid
from headgate_cli.configurations import lookup
from headgate_cli.configurations.folder import MANIFEST, SUFFIXES, Entry, Folder, at, digest, entry_of
from headgate_cli.configurations.lookup import Latest
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import diff, dump, say, tell
from headgate_cli.safe_files import STDIN, name, read
from headgate_cli.untrusted import one_line

_description = click.option("-m", "--description", default="", help="What this version is about.")
_no_validate = click.option("--no-validate", is_flag=True, help="Save or publish it whatever the collector says of it.")
_publish = click.option("--publish", is_flag=True, help="Publish it as well.")

_NOT_SAVED: Final = "Nothing was saved"
_WAY_OUT: Final = "--no-validate saves it all the same"


@dataclass(frozen=True, slots=True)
class Change:
    """A file, its text, and the configuration as it stands on the server; None where there is none yet."""

    folder: Folder
    file: str
    text: str
    name: str
    latest: Latest | None

    @property
    def path(self) -> str:
        return str(self.folder.path / self.file)

    @property
    def saves(self) -> bool:
        return self.latest is None or self.latest.yaml != self.text

    @property
    def is_draft(self) -> bool:
        """Whether the newest version on the server is not published yet."""
        return self.latest is None or self.latest.published != self.latest.version


@dataclass(frozen=True, slots=True)
class Pushed:
    """A file that is in step now; whether that took a new version, and whether it was published just now."""

    file: str
    configuration_id: str
    name: str
    version_number: int
    saved: bool
    published: bool


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--name", "called", default="", help="Its name; the file's by default.")
@_description
@_publish
@_no_validate
@as_json
@connected
def create(api: Api, file: str, called: str, description: str, publish: bool, no_validate: bool, as_json: bool) -> None:
    """Create a configuration from a file, or from standard input as `-`.

    \b
    Examples:
      headgate config create collector.yaml --name edge
      headgate config create - --name gateway --publish < collector.yaml
    """
    if file == STDIN and not called:
        raise click.UsageError("name the configuration with --name")
    content = read(file)
    if not no_validate:
        require_valid(api, {name(file): (content, "")}, undone=_NOT_SAVED, way_out=_WAY_OUT)
    request = {"name": called or Path(file).stem, "yaml": content}
    before = _namesakes(api, request["name"])
    made = api.create("/configurations", request | ({"description": description} if description else {}))
    if publish:
        _published(api, text(made, "id"), 1)
        made = {**made, "published_version": 1}
    if before:
        say(
            f"headgate: {request['name'].strip()!r} is the name of {', '.join(before)} too: name each by its id. "
            f"A version instead of a configuration comes by `headgate config push FILE --to {before[0]}`"
        )
    if as_json:
        dump(made)
        return
    tell(one_line(text(made, "id")))
    say(f"{one_line(text(made, 'name'))} v1 is {'published' if publish else 'a draft'}")


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE|FOLDER...")
@click.option("--to", "configuration", default="", help="The configuration (id or name) that the one file goes to.")
@_description
@_publish
@click.option("--dry-run", is_flag=True, help="Show what would change, and save nothing.")
@click.option("--force", is_flag=True, help="Push over versions that came to the server since the last pull or push.")
@_no_validate
@as_json
@connected
def push(
    api: Api,
    paths: Sequence[str],
    configuration: str,
    description: str,
    publish: bool,
    dry_run: bool,
    force: bool,
    no_validate: bool,
    as_json: bool,
) -> None:
    """Save files as new versions where their text differs from the latest one.

    A file that headgate.json does not know becomes a new configuration, named like the file. All files are validated
    before anything is saved.

    \b
    Examples:
      headgate config push collector.yaml --dry-run
      headgate config push configurations --publish -m "Drop health checks"
      headgate config push collector.yaml --to edge
    """
    changes = [change for path in paths for change in _changes(api, path, configuration, alone=len(paths) == 1)]
    conflicts = [] if force else [change for change in changes if _conflict(change)]
    for change in conflicts:
        _tell(change)
    if conflicts:
        say(_NOT_SAVED)
        raise Ended(FAILED)
    checked = [change for change in changes if change.saves or (publish and change.is_draft)]
    if dry_run:
        _show(changes, publish=publish)
    if not no_validate:
        texts = {one.path: (one.text, one.latest.collector_version if one.latest else "") for one in checked}
        require_valid(api, texts, undone=_NOT_SAVED, way_out=_WAY_OUT)
    if dry_run:
        return
    pushed = []
    for change in changes:
        pushed.append(_save(api, change, description, publish=publish))
        if not as_json:
            tell(_said(pushed[-1]))
    if as_json:
        dump([asdict(one) for one in pushed])


def _namesakes(api: Api, called: str) -> list[str]:
    """The ids of those with that name that you can see, of the hundred changed last: in one request."""
    latest = entities(api.get("/configurations", limit=100), "items")
    return [one_line(text(one, "id")) for one in latest if one.get("name") == called.strip()]


def _changes(api: Api, path: str, configuration: str, *, alone: bool) -> list[Change]:
    """What a file, or each file of a folder, would change."""
    if path == STDIN:
        raise click.UsageError("a push is of files; standard input goes with `headgate config create -`")
    if Path(path).is_dir():
        folder = Folder(Path(path))
        files = folder.files()
        if not files:
            raise Failed(f"{one_line(path)} holds no file whose name ends with {' or '.join(SUFFIXES)}")
        for missing in sorted(set(folder.entries) - set(files)):
            say(f"{one_line(str(folder.path / missing))} is gone; its configuration stays as it is")
    else:
        folder = Folder(Path(path).parent)
        files = [Path(path).name]
    if configuration and not (alone and files == [Path(path).name]):
        raise click.UsageError("--to takes one file")
    return [_change(api, folder, file, configuration) for file in files]


def _change(api: Api, folder: Folder, file: str, configuration: str) -> Change:
    content = read(str(folder.path / file))
    entry = folder.entries.get(file)
    known = lookup.find(api, configuration) if configuration else entry.id if entry else ""
    if not known:
        _refuse_namesake(api, folder, file)
    latest = lookup.latest(api, known) if known else None
    return Change(folder, file, content, latest.name if latest else Path(file).stem, latest)


def _refuse_namesake(api: Api, folder: Folder, file: str) -> None:
    """Raises Failed: without its manifest, a folder that is pushed again would become new configurations each time."""
    name, path = Path(file).stem, one_line(str(folder.path / file))
    there = [one_line(text(one, "id")) for one in api.items("/configurations") if one.get("name") == name]
    if there:
        raise Failed(
            f"{path}: there is a configuration {name!r} already ({', '.join(there)}), and "
            f"{one_line(str(folder.path / MANIFEST))} does not say that this file is it. Give --to {there[0]} to add a "
            "version to it, or make another one with `headgate config create`. Nothing was saved"
        )


def _conflict(change: Change) -> bool:
    """Whether another version came to the server since this file was last in step with it."""
    entry, latest = change.folder.entries.get(change.file), change.latest
    if entry is None or latest is None or entry.id != latest.id or latest.yaml == change.text:
        return False
    # The text decides: a draft can change and keep its number.
    return digest(latest.yaml) != entry.sha256


def _tell(conflict: Change) -> None:
    entry, latest = conflict.folder.entries[conflict.file], conflict.latest
    assert latest is not None
    said = f"{one_line(conflict.path)}: version {latest.version} on the server is not what was pulled or pushed here"
    if digest(conflict.text) == entry.sha256:
        say(f"{said}, and the file has no change of its own: pull it")
        return
    say(
        f"{said} (version {entry.version}). Look at the difference with\n"
        f"  headgate config diff {one_line(latest.id)} --file {one_line(shlex.quote(conflict.path))}\n"
        "bring what you want of it into the file, and push with --force"
    )


def _show(changes: Sequence[Change], *, publish: bool) -> None:
    for change in changes:
        called, path = one_line(change.name), one_line(change.path)
        if change.latest is None:
            diff("", change.text, ("nothing", path))
            say(f"{path}: would become a new configuration {called}{', published' if publish else ''}")
        elif change.saves:
            diff(change.latest.yaml, change.text, (f"{called} v{change.latest.version}", path))
            say(f"{path}: would become {called} v{change.latest.version + 1}{_published_too(publish)}")
        elif publish and change.is_draft:
            say(f"{path}: {called} v{change.latest.version} would be published")
        else:
            say(f"{path}: no change")


def _published_too(publish: bool) -> str:
    return ", published" if publish else ""


def _save(api: Api, change: Change, description: str, *, publish: bool) -> Pushed:
    latest = change.latest
    described = {"description": description} if description else {}
    if latest is None:
        made = api.create("/configurations", {"name": change.name, "yaml": change.text} | described)
        entry = entry_of(text(made, "id"), change.name, 1, change.text)
    elif change.saves:
        added = api.create(f"/configurations/{latest.id}/versions", {"yaml": change.text} | described)
        entry = entry_of(latest.id, latest.name, number(added, "n"), change.text)
        if entry.version != latest.version + 1:
            path = one_line(change.path)
            say(f"{path}: version {entry.version - 1} came from somebody else at the same time: compare them")
    else:
        entry = _in_step(change, latest)
    # At once, so that a fault in the next file does not make this one a stranger.
    if change.folder.entries.get(change.file) != entry:
        change.folder.keep(change.file, entry)
    publishes = publish and (latest is None or latest.published != entry.version)
    if publishes:
        _published(api, entry.id, entry.version)
    return Pushed(change.path, entry.id, change.name, entry.version, saved=change.saves, published=publishes)


def _said(pushed: Pushed) -> str:
    what = ("" if pushed.saved else ", unchanged") + _published_too(pushed.published)
    return f"{one_line(pushed.file)}: {one_line(pushed.name)} v{pushed.version_number}{what}"


def _in_step(change: Change, latest: Latest) -> Entry:
    entry = change.folder.entries.get(change.file)
    known = entry if entry and entry.id == latest.id else entry_of(latest.id, latest.name, 0, "")
    return at(known, latest.version, change.text)


def _published(api: Api, configuration_id: str, n: int) -> None:
    try:
        api.post(f"/configurations/{configuration_id}/versions/{n}/publish")
    except Failed as error:
        saved = f"version {n} of {one_line(configuration_id)} is saved"
        raise Failed(f"{saved}, and not published: {error.message}") from error

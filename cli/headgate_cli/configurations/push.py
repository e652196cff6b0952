"""`config push` and `config create`: save files on the server, validated first."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import Api, ServerError
from headgate_cli.checks.checked import TextToCheck
from headgate_cli.checks.gate import require_valid_texts
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.configurations import lookup
from headgate_cli.configurations.change import PushedChange, collector_too, conflicts, published_too, say_conflict, show
from headgate_cli.configurations.folder import MANIFEST, Folder, ManifestEntry, entry_of, require_some
from headgate_cli.configurations.lookup import Latest
from headgate_cli.configurations.unwrapping import unwrapped
from headgate_cli.connection import connected
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import print_json, print_result, say
from headgate_cli.safe_files import STDIN, name, read
from headgate_cli.shaped import PlainAnswer, shaped
from headgate_cli.shapes import ConfigurationDetail, ValidationResult, VersionDetail
from headgate_cli.suites import stored, sync
from headgate_cli.suites.files import WrongTests
from headgate_cli.untrusted import one_line

_description = click.option("-m", "--description", default="", help="A description of the version.")
_no_validate = click.option("--no-validate", is_flag=True, help="Save without validating first.")
_unwrap = click.option(
    "--unwrap",
    is_flag=True,
    help="Save only the configuration that is inside of a Kubernetes resource, a ConfigMap or Helm values.",
)
_publish = click.option("--publish", is_flag=True, help="Publish the version as well.")
_collector_version = click.option(
    "--collector-version",
    type=CollectorVersion(),
    help="Validate on this collector version, and save it with the text; the configuration's own by default.",
)

_feature_gates = click.option(
    "--feature-gate",
    "feature_gates",
    multiple=True,
    metavar="[+-]NAME",
    help="A feature gate that hosts run this text with: it is checked with it, and saved so. Repeatable; the "
    "configuration's own gates by default.",
)

_NOT_SAVED: Final = "Nothing was saved"
_WAY_OUT: Final = "--no-validate saves it anyway"
_ADVICE: Final = "for another version, use --collector-version X.Y.Z"


@dataclass(frozen=True, slots=True)
class Pushed:
    """A file that is equal to a version now, with its tests; and what this push saved, deleted and published of it."""

    file: str
    configuration_id: str
    name: str
    version_number: int
    saved: bool
    published: bool
    tests_saved: int = 0
    tests_deleted: int = 0


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--name", "label", default=None, help="The configuration's name; the file's name without its ending by default."
)
@_description
@_publish
@_collector_version
@_feature_gates
@_unwrap
@variables.env
@_no_validate
@connected
def create(
    api: Api,
    file: str,
    label: str | None,
    description: str,
    publish: bool,
    collector_version: str | None,
    feature_gates: Sequence[str],
    unwrap: bool,
    env: Sequence[tuple[str, str]],
    no_validate: bool,
    as_json: bool,
) -> None:
    """Create a configuration from a file, with its tests, or from standard input as `-`.

    If a configuration of that name exists, nothing is created.

    \b
    Examples:
      headgate config create collector.yaml --name edge
      headgate config create - --name gateway --publish < collector.yaml
    """
    if label is not None and not label.strip():
        raise click.UsageError("--name is empty: write a name, or leave --name out for the file's name")
    if file == STDIN and not label:
        raise click.UsageError("name the configuration with --name")
    content = _text_of(api, file, unwrap=unwrap)
    # The server removes white space around a name.
    label = (label or Path(file).stem).strip()
    lookup.require_new(api, label, "To add a version to it, use `headgate config push FILE --to {}`")
    try:
        tests = sync.plan(Path(file), content, {}, {}) if file != STDIN else None
    except WrongTests as error:
        raise Failed(f"{error.message}\n{_NOT_SAVED}") from error
    if not no_validate:
        _require_valid(api, {name(file): TextToCheck(content, collector_version or "", feature_gates)}, env)
    created = api.create(ConfigurationDetail, "/configurations", {"name": label, "yaml": content})
    moves = bool(collector_version) and created["collector_version"] != collector_version
    changes = _draft_changes(description, collector_version if moves and collector_version else "", feature_gates)
    if changes:
        change_draft(api, created["id"], 1, changes)
        edits = {name: value for name, value in changes.items() if name != "description"}
        created = shaped(ConfigurationDetail, {**created, **edits})
    if tests:
        sync.apply(api, tests, created["id"], 1, {})
    if publish:
        _publish_version(api, created["id"], 1)
        created = shaped(ConfigurationDetail, {**created, "published_version": 1})
    if as_json:
        print_json(created)
        return
    print_result(one_line(created["id"]))
    counts = sync.in_words(len(tests.put), 0) if tests else ""
    say(f"{one_line(created['name'])} v1 is {'published' if publish else 'a draft'}{counts}")


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE|FOLDER...")
@click.option(
    "--to", "configuration", default="", help="The configuration (id or name) to add a version to; for a single file."
)
@_description
@_publish
@_collector_version
@_feature_gates
@_unwrap
@variables.env
@click.option("--dry-run", is_flag=True, help="Show what would change; save nothing.")
@click.option(
    "--force", is_flag=True, help="Push although the server's version has changed since the last pull or push."
)
@_no_validate
@connected
def push(
    api: Api,
    paths: Sequence[str],
    configuration: str,
    description: str,
    publish: bool,
    collector_version: str | None,
    feature_gates: Sequence[str],
    unwrap: bool,
    env: Sequence[tuple[str, str]],
    dry_run: bool,
    force: bool,
    no_validate: bool,
    as_json: bool,
) -> None:
    """Save each file as a new version if it differs from the latest version, with its tests.

    A file that is not in headgate.json becomes a new configuration, named like the file. All files are validated before
    anything is saved. The tests of collector.yaml are in collector.tests (`headgate test suite --help`); a test that is
    no longer there is deleted in the new version.

    \b
    Examples:
      headgate config push collector.yaml --dry-run
      headgate config push configurations --publish -m "Drop health checks"
      headgate config push collector.yaml --to edge
      headgate config push collector.yaml --collector-version 0.158.0
      headgate config push profiles.yaml --feature-gate service.profilesSupport
      headgate config push configmap.yaml --unwrap
    """
    try:
        changes = _changes(api, paths, configuration, collector_version or "", feature_gates, unwrap=unwrap)
    except WrongTests as error:
        raise Failed(f"{error.message}\n{_NOT_SAVED}") from error
    refused = [] if force else [change for change in changes if conflicts(change)]
    for change in refused:
        say_conflict(change)
    if refused:
        say(_NOT_SAVED)
        raise Ended(FAILED, _NOT_SAVED)
    if dry_run:
        show(changes, publish=publish)
    if not no_validate:
        texts = {
            change.path: change.checked
            for change in changes
            if change.saves or change.moves or (publish and change.is_draft)
        }
        _require_valid(api, texts, env)
    if dry_run:
        return
    pushed = []
    for change in changes:
        pushed.append(_save(api, change, description, publish=publish, force=force))
        if not as_json:
            print_result(_summary(pushed[-1], collector_too(change)))
    if as_json:
        print_json([asdict(file) for file in pushed])


def _require_valid(api: Api, texts: Mapping[str, TextToCheck], env: Sequence[tuple[str, str]]) -> None:
    require_valid_texts(api, texts, undone=_NOT_SAVED, way_out=_WAY_OUT, env=env, advice=_ADVICE, unwrap="--unwrap")


def _changes(
    api: Api,
    paths: Sequence[str],
    configuration: str,
    collector_version: str,
    feature_gates: Sequence[str],
    *,
    unwrap: bool,
) -> list[PushedChange]:
    """The changes of the files, and of each file of the folders; each file once."""
    # One for each manifest: a second reader of the same manifest would write over what the first has recorded.
    folders: dict[str, Folder] = {}
    changes: dict[tuple[str, str], PushedChange] = {}
    for path in paths:
        folder, files = _folder_and_files(path, folders)
        if configuration and not (len(paths) == 1 and files == [Path(path).name]):
            raise click.UsageError("--to takes a single file: push the others without it")
        for file in files:
            key = os.path.realpath(folder.path), file
            if key not in changes:
                path = str(folder.path / file)
                content = _text_of(api, path, unwrap=unwrap)
                change = _change(api, folder, file, content, configuration)
                changes[key] = replace(change, collector_version=collector_version, gates=tuple(feature_gates))
    return list(changes.values())


def _folder_and_files(path: str, folders: dict[str, Folder]) -> tuple[Folder, list[str]]:
    """The folder of a file, or the folder itself, and the files to push; a new folder is added to `folders`."""
    if path == STDIN:
        raise click.UsageError("push takes files and folders; for standard input use `headgate config create -`")
    everything = Path(path).is_dir()
    place = Path(path) if everything else Path(path).parent
    real = os.path.realpath(place)
    if real not in folders:
        folders[real] = Folder(place)
    folder = folders[real]
    if not everything:
        return folder, [Path(path).name]
    files = folder.files()
    require_some(files, path)
    for missing in sorted(set(folder.entries) - set(files)):
        say(f"{one_line(str(folder.path / missing))} does not exist any more; its configuration is not changed")
    return folder, files


def _change(api: Api, folder: Folder, file: str, content: str, configuration: str) -> PushedChange:
    entry = folder.entries.get(file)
    known = lookup.find(api, configuration) if configuration else entry.id if entry else ""
    if not known:
        _refuse_namesake(api, folder, file)
    latest = lookup.latest(api, known) if known else None
    tests = _tests(api, folder.path / file, content, entry if entry and entry.id == known else None, latest)
    return PushedChange(folder, file, content, latest.name if latest else Path(file).stem, latest, tests=tests)


def _text_of(api: Api, file: str, *, unwrap: bool) -> str:
    """The text of a file, or with `unwrap` the configuration inside of it. Raises Failed."""
    content = read(file)
    if unwrap and content:
        content = unwrapped(name(file), api.post(ValidationResult, "/validate", {"yaml": content})) or content
    if not content:
        # The server refuses it also with --no-validate.
        raise Failed(f"{one_line(name(file))} is empty: write a configuration into it. {_NOT_SAVED}")
    return content


def _tests(
    api: Api, path: Path, content: str, entry: ManifestEntry | None, latest: Latest | None
) -> sync.TestChanges | None:
    """Plan the changes of the tests; None if there are none here, and were none. Raises WrongTests."""
    recorded = entry.tests if entry else {}
    if not sync.concerns(path, recorded):
        return None
    there = stored.digests(api, latest.id, latest.version) if latest else {}
    return sync.plan(path, content, recorded, there)


def _refuse_namesake(api: Api, folder: Folder, file: str) -> None:
    """Raises Failed if a configuration has the file's name.

    Without its manifest, a folder that is pushed again would otherwise become new configurations each time.
    """
    name, path = Path(file).stem, one_line(str(folder.path / file))
    ids = [one_line(configuration_id) for configuration_id in lookup.ids_of(api, name)]
    if ids:
        raise Failed(
            f"{path}: a configuration {name!r} exists already ({', '.join(ids)}), and "
            f"{one_line(str(folder.path / MANIFEST))} does not connect this file with it. To add a version to it, use "
            f"--to {ids[0]}; to create another configuration, use `headgate config create` with --name. "
            "Nothing was saved"
        )


def _save(api: Api, change: PushedChange, description: str, *, publish: bool, force: bool) -> Pushed:
    latest, moves = change.latest, change.moves
    # What the new draft lacks once it is saved: with a new configuration, a description would be the configuration's.
    lacks = state = ""
    if latest is None:
        request = {"name": change.name, "yaml": change.text}
        created, state = api.create_with_etag(ConfigurationDetail, "/configurations", request)
        entry = entry_of(created["id"], change.name, 1, change.text)
        moves = moves and created["collector_version"] != change.collector_version
        lacks = description
    elif change.saves:
        described = {"description": description} if description else {}
        try:
            path, etag = f"/configurations/{latest.id}/versions", "" if force else latest.etag
            request = {"yaml": change.text} | described
            added, state = api.create_with_etag(VersionDetail, path, request, if_match=etag)
        except ServerError as error:
            if not error.is_stale:
                raise
            raise Failed(
                f"{one_line(change.path)}: somebody else changed {one_line(latest.name)} at the same time, so it was "
                "not saved: run the command again"
            ) from error
        entry = entry_of(latest.id, latest.name, added["n"], change.text)
    else:
        entry, state = _unchanged_entry(change, latest), latest.etag
    # Recorded at once: an error with the tests, or with the next file, must not lose this one.
    entry = replace(entry, tests=change.tests.there if change.tests else {})
    _record(change, entry)
    if change.tests and change.tests.changes:
        _save_tests(api, change, change.tests, entry)
    changes = _draft_changes(lacks, change.collector_version if moves else "", change.gates if change.regates else ())
    if changes:
        state = change_draft(api, entry.id, entry.version, changes, state)
    publishes = publish and (latest is None or latest.published != entry.version)
    if publishes:
        _publish_version(api, entry.id, entry.version, state)
    return Pushed(
        change.path,
        entry.id,
        change.name,
        entry.version,
        saved=change.saves or change.alters,
        published=publishes,
        tests_saved=len(change.tests.put) if change.tests else 0,
        tests_deleted=len(change.tests.delete) if change.tests else 0,
    )


def _save_tests(api: Api, change: PushedChange, tests: sync.TestChanges, entry: ManifestEntry) -> None:
    """Save and delete what differs, and record it."""
    now = dict(tests.there)
    if change.latest and entry.version > change.latest.version + 1:
        # Somebody else saved a version in between, and its tests are those of this one.
        now = stored.digests(api, entry.id, entry.version)
    try:
        sync.apply(api, tests, entry.id, entry.version, now)
    finally:
        _record(change, replace(entry, tests=now))


def _record(change: PushedChange, entry: ManifestEntry) -> None:
    if change.folder.entries.get(change.file) != entry:
        change.folder.record(change.file, entry)


def _summary(pushed: Pushed, collector: str) -> str:
    tests = sync.in_words(pushed.tests_saved, pushed.tests_deleted)
    outcome = (f"{collector}{tests}" if pushed.saved else ", unchanged") + published_too(pushed.published)
    return f"{one_line(pushed.file)}: {one_line(pushed.name)} v{pushed.version_number}{outcome}"


def _unchanged_entry(change: PushedChange, latest: Latest) -> ManifestEntry:
    """The manifest's entry of a file whose text is the latest version's; keeps the name that the entry has."""
    entry = change.folder.entries.get(change.file)
    name = entry.name if entry and entry.id == latest.id else latest.name
    return entry_of(latest.id, name, latest.version, change.text)


def _draft_changes(description: str, collector_version: str, feature_gates: Sequence[str]) -> dict[str, object]:
    fields = {
        "description": description,
        "collector_version": collector_version,
        "feature_gates": list(feature_gates),
    }
    return {name: value for name, value in fields.items() if value}


def change_draft(api: Api, configuration_id: str, n: int, changes: Mapping[str, object], state: str = "") -> str:
    """Set the description, the collector version or the feature gates of a draft that was just saved; return its ETag.

    Raises Failed, with the way to set the collector version later.
    """
    try:
        path = f"/configurations/{configuration_id}/versions/{n}"
        return api.patch_with_etag(VersionDetail, path, changes, if_match=state)[1]
    except Failed as error:
        saved = f"version {n} of {one_line(configuration_id)} is saved as a draft"
        what = " and ".join(name.replace("_", " ") for name in changes)
        again = f"headgate config push FILE --to {one_line(configuration_id)}"
        if "collector_version" in changes:
            again += f" --collector-version {changes['collector_version']}"
        raise Failed(f"{saved}, but its {what} could not be set: {error.message}; set it with `{again}`") from error


def _publish_version(api: Api, configuration_id: str, n: int, state: str = "") -> None:
    try:
        api.post(PlainAnswer, f"/configurations/{configuration_id}/versions/{n}/publish", if_match=state)
    except Failed as error:
        saved = f"version {n} of {one_line(configuration_id)} is saved"
        raise Failed(f"{saved}, but not published: {error.message}") from error

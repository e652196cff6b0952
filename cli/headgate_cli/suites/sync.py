"""Tests go with their configuration: what `config push` saves on the server, and `config pull` writes here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headgate_cli import safe_files
from headgate_cli.api import Api
from headgate_cli.configurations.folder import SUFFIXES
from headgate_cli.errors import Failed
from headgate_cli.suites import fields as known
from headgate_cli.suites import files, stored
from headgate_cli.suites.fields import Fields
from headgate_cli.suites.files import FileTest
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import dump_yaml, pipelines

# A sample up to this length is a part of its test's file.
_LONGEST_INLINE: Final = 500


@dataclass(frozen=True, slots=True)
class TestChanges:
    """The changes that make a version's tests those of the files.

    `there` are those of the version, with the SHA-256 of each; `conflicts` are the names of tests that somebody else
    changed there since the last pull or push, and that this would change.
    """

    folder: Path
    put: Sequence[FileTest] = ()
    delete: Sequence[str] = ()
    conflicts: Sequence[str] = ()
    there: Mapping[str, str] = field(default_factory=dict)

    @property
    def changes(self) -> bool:
        return bool(self.put or self.delete)


def in_words(saved: int, deleted: int) -> str:
    """`, 2 tests saved, 1 deleted`; empty without a change."""
    parts = [f"{saved} test{'' if saved == 1 else 's'} saved"] if saved else []
    if deleted:
        named = "" if parts else f" test{'' if deleted == 1 else 's'}"
        parts.append(f"{deleted}{named} deleted")
    return "".join(f", {part}" for part in parts)


def plan(configuration: Path, content: str, recorded: Mapping[str, str], there: Mapping[str, str]) -> TestChanges:
    """`recorded` is what headgate.json has of the last pull or push, `there` the tests of the version now.

    Raises WrongTests.
    """
    here = {test.name: test for test in files.beside(configuration, content)}
    digests = {name: known.digest(test.fields) for name, test in here.items()}
    differs = [name for name in sorted({*here, *there}) if digests.get(name) != there.get(name)]
    return TestChanges(
        files.folder_of(configuration),
        [here[name] for name in differs if name in here],
        [name for name in differs if name not in here],
        [name for name in differs if there.get(name) != recorded.get(name)],
        there,
    )


def concerns(configuration: Path, recorded: Mapping[str, str]) -> bool:
    """True if the tests of the file are managed here: without a folder now and before, those on the server stay."""
    folder = files.folder_of(configuration)
    return folder.is_dir() or folder.is_symlink() or bool(recorded)


def apply(api: Api, plan: TestChanges, configuration_id: str, n: int, now: dict[str, str]) -> None:
    """Make the draft's tests those of the files, and `now`, the SHA-256 of each by name, what is saved by then.

    Raises Failed.
    """
    saved = f"version {n} of {one_line(configuration_id)} is saved as a draft"
    for test in plan.put:
        try:
            now[test.name] = stored.saved(api, configuration_id, n, test, now.get(test.name, ""))["sha256"]
        except Failed as error:
            reason = f"but not its test {one_line(test.file)}: {error.message}"
            raise Failed(f"{saved}, {reason}. Correct it, and push again") from error
    for name in plan.delete:
        if name not in now:
            continue
        try:
            stored.delete(api, configuration_id, n, name, now[name])
        except Failed as error:
            raise Failed(f"{saved}, but its test {name} could not be deleted: {error.message}. Push again") from error
        del now[name]


@dataclass(frozen=True, slots=True)
class Pull:
    """The changes that make the files here a version's tests.

    `changed` are the files that were changed here since the last pull or push, and that this would change.
    """

    folder: Path
    write: Mapping[str, Fields]
    delete: Sequence[str]
    changed: Sequence[str]
    there: Mapping[str, str]
    here: Mapping[str, FileTest]


def pull_plan(
    api: Api, configuration: Path, content: str, recorded: Mapping[str, str], configuration_id: str, n: int
) -> Pull:
    """`content` is the configuration as it will be here. Gets each test that differs; writes nothing."""
    there = stored.digests(api, configuration_id, n)
    folder = files.folder_of(configuration)
    here, unreadable = _here(configuration, content)
    digests = {name: known.digest(test.fields) for name, test in here.items()}
    mine = {name for name, sha256 in digests.items() if sha256 != recorded.get(name)} | unreadable
    write = [name for name, sha256 in there.items() if digests.get(name) != sha256]
    delete = [name for name in recorded if name not in there and (name in here or name in unreadable)]
    return Pull(
        folder,
        {name: stored.get(api, configuration_id, n, name) for name in write},
        delete,
        [str(_file(folder, name)) for name in (*write, *delete) if name in mine],
        there,
        here,
    )


def pull(plan: Pull) -> None:
    """Write and delete. Raises Failed."""
    used = {name: {file for file in (test.sample_file, test.expected_file) if file} for name, test in plan.here.items()}
    try:
        if plan.write:
            safe_files.place(plan.folder).mkdir(exist_ok=True)
        for name, fields in plan.write.items():
            others = {file for holder, files in used.items() if holder != name for file in files}
            _write(plan, name, fields, others)
        for name in plan.delete:
            others = {file for holder, files in used.items() if holder not in plan.delete for file in files}
            _file(plan.folder, name).unlink(missing_ok=True)
            for file in used.get(name, set()) - others:
                # A file of a name of one's own may serve something else.
                if file.startswith(f"{name}."):
                    safe_files.below(plan.folder, file).unlink(missing_ok=True)
    except OSError as error:
        raise Failed(f"cannot write to {one_line(str(plan.folder))}: {error.strerror}") from error


def _here(configuration: Path, content: str) -> tuple[dict[str, FileTest], set[str]]:
    """The tests in files, and the names of those that cannot be read."""
    folder = files.folder_of(configuration)
    here: dict[str, FileTest] = {}
    unreadable: set[str] = set()
    names = files.names_in(folder)
    try:
        before = safe_files.read(str(configuration)) if configuration.exists() else content
        defined = pipelines(before, str(configuration)) if names else []
    except Failed:
        defined = []
    for file in names:
        try:
            here[Path(file).stem] = files.read(folder, file, defined, str(configuration))
        except Failed:
            unreadable.add(Path(file).stem)
    return here, unreadable


def _write(plan: Pull, name: str, fields: Fields, used_by_others: set[str]) -> None:
    """Write a test, and its sample and expected output into files beside it, if they are long or were there."""
    before = plan.here.get(name)
    document = stored.short(fields)
    for field_name, file_field in known.FILE_OF.items():
        content = document.get(field_name)
        if not isinstance(content, str):
            continue
        there = (before.sample_file if field_name == "sample" else before.expected_file) if before else ""
        if (before and there and before.fields.get(field_name) == content) or (there and there not in used_by_others):
            file = there
        elif _is_short(content, field_name):
            continue
        else:
            file = f"{name}.{field_name}.{'json' if content.lstrip()[:1] in ('{', '[') else 'log'}"
        document = {file_field if key == field_name else key: value for key, value in document.items()}
        document[file_field] = file
        if not (before and there == file and before.fields.get(field_name) == content):
            _replace(safe_files.below(plan.folder, file), content)
    _replace(_file(plan.folder, name), dump_yaml(document))


def _is_short(content: str, field_name: str) -> bool:
    return not content or (field_name == "sample" and len(content) <= _LONGEST_INLINE and "\r" not in content)


def _file(folder: Path, name: str) -> Path:
    """The test's file, with the suffix that it has already."""
    candidates = [safe_files.below(folder, name + suffix) for suffix in SUFFIXES]
    return next((candidate for candidate in candidates if candidate.exists()), candidates[0])


def _replace(path: Path, content: str) -> None:
    safe_files.replace(path, content.encode())

"""Tests in files: `NAME.tests/<name>.yaml` beside the configuration `NAME.yaml`.

target_pipeline: logs        # may be left out if the configuration has one pipeline
sample_file: sample.log      # a file of the same folder; or `sample`, the text itself
rules:
  - name: no debug records
    condition: log.severity_number < 9
    expect: none
expected_file: edge.jsonl    # or `expected`; the output, which `headgate test suite --update` writes
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headgate_cli import safe_files
from headgate_cli.configurations.folder import SUFFIXES
from headgate_cli.errors import Failed
from headgate_cli.file_checks import Wrong
from headgate_cli.suites import fields as known
from headgate_cli.suites.fields import Fields
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import Place, parse_with_lines, pipelines

FOLDER_SUFFIX: Final = ".tests"
MOST_TESTS: Final = 50
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
NAME_IN_WORDS: Final = "letters, digits and . _ -, a letter or digit first, at most 80"


@dataclass(frozen=True, slots=True)
class FileProblem:
    """The reason why a test cannot be read; `line` is from 1."""

    file: str
    line: int
    message: str


class WrongTests(Failed):
    """Tests in files that cannot be read, all of a configuration together."""

    def __init__(self, problems: Sequence[FileProblem]) -> None:
        super().__init__(
            "\n  ".join(f"{one_line(problem.file)}:{problem.line}: {problem.message}" for problem in problems)
        )
        self.problems = problems


@dataclass(frozen=True, slots=True)
class FileTest:
    """A test in a file. `fields` are those of the API, `lines` where they stand in the file.

    `sample_file` and `expected_file` are empty if the texts are in the file itself. `expected` is absent from `fields`
    if its file is not there yet.
    """

    name: str
    file: str
    fields: Fields
    lines: Mapping[Place, int]
    sample_file: str = ""
    expected_file: str = ""

    @property
    def expected_path(self) -> str:
        """The file of the expected output; empty if it is in the test's file."""
        return str(Path(self.file).parent / self.expected_file) if self.expected_file else ""

    @property
    def awaits_expected(self) -> bool:
        return bool(self.expected_file) and "expected" not in self.fields

    def with_env(self, env: Mapping[str, str]) -> FileTest:
        """The test with these variables, instead of its own ones of the same names."""
        own = self.fields.get("env")
        return replace(self, fields={**self.fields, "env": {**(own if isinstance(own, Mapping) else {}), **env}})

    def line(self, *place: str | int) -> int:
        """The line of the place, or of what it is in; 1 if nothing of it is in the file."""
        return line_of(self.lines, place)


def line_of(lines: Mapping[Place, int], place: Place) -> int:
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def folder_of(configuration: Path) -> Path:
    """The folder of the tests of a configuration's file."""
    return configuration.with_name(configuration.stem + FOLDER_SUFFIX)


def configuration_of(folder: Path) -> Path | None:
    """The configuration whose tests are in the folder; None if there is none."""
    stem = folder.name.removesuffix(FOLDER_SUFFIX)
    candidates = [folder.with_name(stem + suffix) for suffix in SUFFIXES] if stem != folder.name else []
    return next((candidate for candidate in candidates if safe_files.is_file(str(candidate))), None)


def beside(configuration: Path, content: str, *, may_await: bool = False, only: str = "") -> list[FileTest]:
    """The tests beside a configuration's file, or `only` that file's; `content` is the configuration.

    Raises WrongTests; also for an expected output without its file, unless `may_await`.
    """
    folder = folder_of(configuration)
    names = [name for name in names_in(folder) if only in ("", name)]
    defined = pipelines(content, str(configuration)) if names else []
    tests: dict[str, FileTest] = {}
    problems: list[FileProblem] = []
    for file in names:
        path = str(folder / file)
        try:
            test = read(folder, file, defined, str(configuration))
        except WrongTests as error:
            problems += error.problems
            continue
        same = tests.get(test.name.lower())
        if same:
            problems.append(FileProblem(path, 1, f"{one_line(same.file)} has the same name: rename or delete one"))
        if test.awaits_expected and not may_await:
            missing = f"expected_file: there is no file {one_line(str(folder / test.expected_file))}"
            way_out = "`headgate test suite --update` writes it"
            problems.append(FileProblem(path, test.line("expected_file"), f"{missing}: {way_out}"))
        tests[test.name.lower()] = test
    if problems:
        raise WrongTests(problems)
    return list(tests.values())


def names_in(folder: Path) -> list[str]:
    """The files of the tests in a folder, sorted; none if there is no folder. Raises Failed."""
    if not folder.exists() and not folder.is_symlink():
        return []
    try:
        # A link may lead to a folder beside it, not out of the folder of the configuration.
        inner = safe_files.below(folder.parent, folder.name)
        names = sorted(
            file.name
            for file in safe_files.place(inner).iterdir()
            if file.suffix in SUFFIXES and not file.is_dir() and not file.name.startswith(".")
        )
    except OSError as error:
        raise Failed(f"cannot read {one_line(str(folder))}: {error.strerror}") from error
    if len(names) > MOST_TESTS:
        raise Failed(f"{one_line(str(folder))} contains {len(names)} tests; a configuration has at most {MOST_TESTS}")
    for name in names:
        if not NAME.fullmatch(Path(name).stem):
            raise Failed(
                f"{one_line(str(folder / name))}: {one_line(Path(name).stem)!r} cannot be the name of a test: use "
                f"{NAME_IN_WORDS}"
            )
    return names


def read(folder: Path, file: str, defined: Sequence[str], label: str) -> FileTest:
    """One test of the configuration `label`, which has the pipelines `defined`. Raises WrongTests."""
    path = folder / file
    with problems_of(str(path)) as lines:
        document, places = parse_with_lines(_read(folder, file), str(path))
        lines.update(places)
        if not isinstance(document, dict):
            raise Wrong((), "must hold the fields of a test: `headgate test suite --help` shows them")
        known.check(document)
        fields = known.plain(document)
        fields["target_pipeline"] = _pipeline(fields, defined, label)
        fields.setdefault("signal_type", known.signal_of(fields))
        sample_file, expected_file = (str(fields.pop(field, "")) for field in known.FILE_OF.values())
        if sample_file:
            fields["sample"] = _beside(folder, "sample_file", sample_file)
        if expected_file and safe_files.is_file(str(_named(folder, "expected_file", expected_file))):
            fields["expected"] = _beside(folder, "expected_file", expected_file)
    return FileTest(path.stem, str(path), fields, lines, sample_file, expected_file)


@contextmanager
def problems_of(path: str) -> Iterator[dict[Place, int]]:
    """Raise WrongTests for what is wrong in a file, at the line that the yielded mapping has for its place."""
    lines: dict[Place, int] = {}
    try:
        yield lines
    except Wrong as error:
        where = ".".join(str(part + 1) if isinstance(part, int) else part for part in error.place)
        message = f"{one_line(where)}: {error}" if where else str(error)
        raise WrongTests([FileProblem(path, line_of(lines, error.place), message)]) from error
    except WrongTests:
        raise
    except Failed as error:
        raise WrongTests([of_file(path, error)]) from error


def of_file(path: str, error: Failed) -> FileProblem:
    """The problem of a file that is not YAML, or cannot be read; its message begins with the file and the line."""
    said = error.message.removeprefix(one_line(path)).removeprefix(":")
    line, colon, rest = said.partition(":")
    if colon and line.isdigit():
        return FileProblem(path, int(line), f"column {rest}")
    return FileProblem(path, 1, said.strip())


def _pipeline(fields: Fields, defined: Sequence[str], label: str) -> str:
    """The pipeline to test. Raises Wrong if the configuration does not have it, or it has to be chosen."""
    pipeline = fields.get("target_pipeline")
    if pipeline is None:
        if len(defined) == 1:
            return defined[0]
        raise Wrong(
            (),
            f"target_pipeline is missing: choose one of {one_line(', '.join(defined))}"
            if defined
            else f"{one_line(label)} has no pipelines to test",
        )
    if pipeline not in defined:
        has = f"it has {one_line(', '.join(defined))}" if defined else "it has none"
        raise Wrong(("target_pipeline",), f"{one_line(label)} has no pipeline {one_line(str(pipeline))}; {has}")
    return str(pipeline)


def _named(folder: Path, field: str, relative: str) -> Path:
    try:
        return safe_files.below(folder, relative)
    except Failed as error:
        raise Wrong((field,), error.message) from error


def _beside(folder: Path, field: str, relative: str) -> str:
    """The text of a file that a test names. Raises Wrong."""
    _named(folder, field, relative)
    try:
        return _read(folder, relative)
    except Failed as error:
        raise Wrong((field,), error.message) from error


def _read(folder: Path, relative: str) -> str:
    return safe_files.read(str(safe_files.below(folder, relative)))

"""Choice of the tests to run: those beside files, of folders, or of stored versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click

from headgate_cli.api import Api, Entity
from headgate_cli.configurations.folder import Folder, digest
from headgate_cli.errors import Failed
from headgate_cli.output import say
from headgate_cli.safe_files import is_file, read
from headgate_cli.suites import fields as known
from headgate_cli.suites import files
from headgate_cli.suites.files import FileTest
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade import targets


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests of one configuration.

    `named` names it in JSON, and `request` in the request. `tests` are those of files; the server has the others.
    `problem` says why its tests cannot be run.
    """

    label: str
    named: Entity
    request: Mapping[str, object]
    tests: Sequence[FileTest] = ()
    # Those to run of a stored version; all of them if there are none.
    names: Sequence[str] = ()
    problem: Failed | None = None

    @property
    def is_stored(self) -> bool:
        return "configuration_id" in self.request


class NoTestsHere(Failed):
    """A folder or file without tests."""


_HOW: Final = "write one into {folder}/NAME.yaml, in the format of `headgate test suite --help`"


def suites(
    api: Api,
    arguments: Sequence[str],
    names: Sequence[str] = (),
    env: Sequence[tuple[str, str]] = (),
    *,
    pushed: bool = False,
    may_await: bool = False,
) -> list[Suite]:
    """The suites that the arguments name, each once, and of each the tests that `names` names.

    `env` are variables for the tests of files. With `pushed`, for each file the version that it was pushed as. Raises
    NoTestsHere, Failed, and UsageError for variables of a stored version.
    """
    chosen: dict[str, Suite] = {}
    for argument in arguments:
        for suite in _named(api, argument, may_await=may_await):
            before = chosen.get(suite.label)
            # Two tests of one configuration may be named one by one.
            tests = {test.name: test for part in (before, suite) if part for test in part.tests}
            chosen[suite.label] = replace(suite, tests=list(tests.values()))
    selected = [_only(suite, names) for suite in chosen.values()]
    if pushed:
        selected = [suite if suite.is_stored or suite.problem else _as_pushed(suite, names) for suite in selected]
    if names and not any(suite.tests or suite.is_stored or suite.problem for suite in selected):
        raise Failed(f"there is no test {one_line(' or '.join(names))} in {one_line(', '.join(chosen))}")
    stored = next((suite.label for suite in selected if suite.is_stored), "")
    if env and stored:
        raise click.UsageError(f"--env is for the tests of files: those of {one_line(stored)} have their own `env`")
    chosen_suites = [suite for suite in selected if suite.tests or suite.is_stored or suite.problem]
    if not env:
        return chosen_suites
    return [replace(suite, tests=[test.with_env(dict(env)) for test in suite.tests]) for suite in chosen_suites]


def _named(api: Api, argument: str, *, may_await: bool) -> Iterator[Suite]:
    path = Path(argument)
    if is_file(argument) and path.parent.name.endswith(files.FOLDER_SUFFIX):
        configuration = files.configuration_of(path.parent)
        if configuration:
            # One test, even if another one of the folder is wrong.
            yield _of_file(configuration, may_await=may_await, only=path.name)
            return
    if path.is_dir():
        yield from _of_folder(path, may_await=may_await)
    elif targets.names_file(argument):
        suite = _of_file(path, may_await=may_await)
        if not suite.tests and not suite.problem:
            folder = one_line(str(files.folder_of(path)))
            raise NoTestsHere(f"{one_line(argument)} has no tests: {_HOW.format(folder=folder)}")
        yield suite
    else:
        stored = targets.stored(api, argument)
        yield Suite(
            stored.label,
            stored.named,
            {"configuration_id": stored.configuration_id, "version_number": stored.n},
        )


def _of_folder(path: Path, *, may_await: bool) -> Iterator[Suite]:
    configuration = files.configuration_of(path)
    if configuration:
        yield _of_file(configuration, may_await=may_await)
        return
    with_tests = [file for file in Folder(path).files() if files.folder_of(path / file).is_dir()]
    suites = [_of_file(path / file, may_await=may_await) for file in with_tests]
    if not any(suite.tests or suite.problem for suite in suites):
        inner = sorted({str(below.parent) for below in path.glob(f"*/*{files.FOLDER_SUFFIX}")})
        nothing = f"{one_line(str(path))} contains no configuration with tests"
        if inner:
            raise Failed(f"{nothing}: name the folder, as {one_line(' or '.join(inner[:3]))}")
        raise NoTestsHere(f"{nothing}: {_HOW.format(folder='CONFIGURATION.tests')}")
    for suite in suites:
        if not suite.tests and not suite.problem:
            say(f"{one_line(str(files.folder_of(Path(suite.label))))} contains no test")
    yield from suites


def _of_file(configuration: Path, *, may_await: bool, only: str = "") -> Suite:
    label = str(configuration)
    content = read(label)
    problem: Failed | None = None
    tests: list[FileTest] = []
    try:
        tests = files.beside(configuration, content, may_await=may_await, only=only)
    except Failed as error:
        problem = error
    return Suite(label, {"file": label}, {"yaml": content}, tests, problem=problem)


def _only(suite: Suite, names: Sequence[str]) -> Suite:
    if not names or suite.problem:
        return suite
    if suite.is_stored:
        return replace(suite, names=names)
    return replace(suite, tests=[test for test in suite.tests if test.name in names])


def _as_pushed(suite: Suite, names: Sequence[str]) -> Suite:
    """The version that the file was pushed as. Raises Failed if the file or its tests were changed since."""
    path = Path(suite.label)
    entry = Folder(path.parent).entries.get(path.name)
    again = f"push it first, with `headgate config push {one_line(suite.label)}`"
    if entry is None:
        raise Failed(f"{one_line(suite.label)} is not in headgate.json: {again}")
    here = {test.name: known.digest(test.fields) for test in suite.tests}
    there = {name: sha256 for name, sha256 in entry.tests.items() if name in here or not names}
    if entry.sha256 != digest(str(suite.request["yaml"])) or here != there:
        raise Failed(f"{one_line(suite.label)} or its tests were changed since version {entry.version}: {again}")
    return replace(
        suite,
        named={**suite.named, "configuration_id": entry.id, "version_number": entry.version},
        request={"configuration_id": entry.id, "version_number": entry.version},
        names=names,
    )

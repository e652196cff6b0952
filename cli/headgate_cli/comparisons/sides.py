"""The sides of comparisons: two arguments, one on two collectors, or the files that changed since a commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.comparisons.git import Blob, Checkout
from headgate_cli.configurations.folder import SUFFIXES
from headgate_cli.errors import Failed
from headgate_cli.safe_files import name, read
from headgate_cli.suites import files
from headgate_cli.suites.fields import Fields
from headgate_cli.suites.files import FOLDER_SUFFIX, FileTest
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade import targets

_NOW: Final = "the working tree"
# The fields of a test that a comparison does not use.
_NOT_COMPARED: Final = ("rules", "expected")


@dataclass(frozen=True, slots=True)
class SideToCompare:
    """One side. `request` is that of the API; `test_fields` are the tests of a file, by their names."""

    label: str
    request: Mapping[str, object]
    tests: Sequence[FileTest] = ()

    @property
    def is_stored(self) -> bool:
        return "configuration_id" in self.request

    def on(self, collector_version: str | None) -> SideToCompare:
        """The side on that collector version, if there is one."""
        if not collector_version:
            return self
        return replace(self, request={**self.request, "collector_version": collector_version})


@dataclass(frozen=True, slots=True)
class Pair:
    """A comparison. `problem` says why it is none; `note` what is to be said of a file that is not compared."""

    label: str
    left: SideToCompare
    right: SideToCompare
    tests: Sequence[FileTest] = ()
    names: Sequence[str] = ()
    problem: str = ""
    note: str = ""


def two(
    api: Api,
    arguments: Sequence[str],
    collector_versions: Sequence[str],
    names: Sequence[str],
    sample: FileTest | None,
) -> Pair:
    """The comparison of two arguments, or of one on two collector versions. Raises Failed, UsageError."""
    if len(collector_versions) > 2:
        raise click.UsageError("--collector-version can be given twice at most: for the left side and the right one")
    if len(arguments) == 1 and len(collector_versions) != 2:
        raise click.UsageError("name two things to compare; or one, and --collector-version twice; or use --base")
    if len(arguments) not in (1, 2):
        raise click.UsageError("name one or two things to compare")
    sides = [_side(api, argument, alone=sample is not None) for argument in arguments]
    left, right = sides if len(sides) == 2 else (sides[0], sides[0])
    on_left, on_right = (collector_versions[0], collector_versions[-1]) if collector_versions else ("", "")
    tests = [sample] if sample else right.tests or left.tests
    chosen = [test for test in tests if not names or sample or test.name in names]
    stored = next((side for side in (right, left) if side.is_stored), None)
    if tests and not chosen:
        raise Failed(
            f"there is no test {one_line(' or '.join(names))}; the tests are {', '.join(t.name for t in tests)}"
        )
    if not tests and stored is None:
        folder = one_line(str(files.folder_of(Path(right.label))))
        raise Failed(
            f"{one_line(right.label)} has no tests: write them into {folder}, in the format of "
            "`headgate test suite --help`, or give a sample with --sample"
        )
    label = left.label if left is right else f"{left.label} → {right.label}"
    return Pair(label, left.on(on_left), right.on(on_right), chosen, () if chosen else names)


def since(base: str, paths: Sequence[str], collector_versions: Sequence[str], names: Sequence[str]) -> list[Pair]:
    """The configurations with tests that changed since the commit that HEAD and `base` have in common.

    Raises Failed, UsageError.
    """
    if len(collector_versions) > 1:
        raise click.UsageError("--base excludes a second --collector-version: the collector would change, too")
    checkout = Checkout.here()
    commit = checkout.merge_base(base)
    places = [place for path in paths or ["."] for place in _with_tests(path)]
    now, then = checkout.files_now(places), checkout.files_of(commit, places)
    for path in paths:
        if not Path(path).exists() and not checkout.files_of(commit, [path]):
            raise Failed(f"there is no {one_line(path)}, neither here nor in {one_line(base)}")
    version = collector_versions[0] if collector_versions else None
    label = f"{base} ({commit[:8]})"
    return [*_changed(checkout, _configurations([*now, *then]), then, label, version, names)]


def body_of(test: FileTest) -> dict[str, object]:
    """The test in a request."""
    fields: Fields = test.fields
    return {"name": test.name, **{field: value for field, value in fields.items() if field not in _NOT_COMPARED}}


def _side(api: Api, argument: str, *, alone: bool) -> SideToCompare:
    if not targets.names_file(argument):
        stored = targets.stored(api, argument)
        return SideToCompare(stored.label, {"configuration_id": stored.configuration_id, "version_number": stored.n})
    content = read(argument)
    # An expected output need not be there: it is not compared with.
    tests = [] if alone else files.beside(Path(argument), content, may_await=True)
    return SideToCompare(name(argument), {"yaml": content}, tests)


def _with_tests(path: str) -> list[str]:
    """The path, and the folder of its tests if it is that of a configuration."""
    return [path, str(files.folder_of(Path(path)))] if path.endswith(SUFFIXES) else [path]


def _configurations(listed: Sequence[str]) -> list[str]:
    """The files that have tests beside them."""
    with_tests = {str(path.parent) for path in map(Path, listed) if path.parent.name.endswith(FOLDER_SUFFIX)}
    return sorted(
        {file for file in listed if file.endswith(SUFFIXES) and str(files.folder_of(Path(file))) in with_tests}
    )


def _changed(
    checkout: Checkout,
    configurations: Sequence[str],
    then: Mapping[str, Blob],
    base: str,
    collector_version: str | None,
    names: Sequence[str],
) -> Iterator[Pair]:
    for configuration in configurations:
        path = checkout.path(configuration)
        before = SideToCompare(base, {})
        after = SideToCompare(_NOW, {})
        blob = then.get(configuration)
        try:
            if not Path(path).is_file():
                yield Pair(path, before, after, note="deleted since then")
                continue
            if blob is None:
                yield Pair(path, before, after, note="new since then")
                continue
            left, right = checkout.text(configuration, blob), read(path)
            if left.replace("\r\n", "\n") == right.replace("\r\n", "\n"):
                continue
            tests = [
                test for test in files.beside(Path(path), right, may_await=True) if not names or test.name in names
            ]
            if not tests:
                yield Pair(path, before, after, note="changed, without a test" + (" of that name" if names else ""))
                continue
            before = SideToCompare(base, {"yaml": left}).on(collector_version)
            yield Pair(path, before, SideToCompare(_NOW, {"yaml": right}).on(collector_version), tests)
        except Failed as error:
            yield Pair(path, before, after, problem=error.message)

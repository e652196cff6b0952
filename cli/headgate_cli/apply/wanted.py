"""The organization that a folder describes:

apply.yaml                    # which configurations are published, on which collector; may be left out
policies.yaml                 # as `headgate policy get` prints it
configurations/NAME.yaml      # and NAME.tests/, as `headgate config push` takes them
fleets/LABEL.yaml             # a fleet with its deployment groups
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypedDict, cast

from headgate_cli import file_checks, safe_files
from headgate_cli.apply import sections, wanted_fleets
from headgate_cli.apply.sections import WrongFolder
from headgate_cli.apply.wanted_fleets import FolderFleet
from headgate_cli.collector_version import VERSION
from headgate_cli.configurations.folder import CONFIGURATIONS, POLICIES, SETTINGS, SUFFIXES, digest, files_in
from headgate_cli.errors import Failed
from headgate_cli.file_checks import Wrong, meant
from headgate_cli.policies import files as policy_files
from headgate_cli.suites import fields as known
from headgate_cli.suites import files as test_files
from headgate_cli.suites.files import FileProblem, FileTest, WrongTests
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import Place

FLEETS: Final = "fleets"
_LONGEST_DESCRIPTION: Final = 2_000


@dataclass(frozen=True, slots=True)
class FolderConfiguration:
    """A configuration of the folder. `tests` is None if those on the server stay as they are.

    `description` is None and `collector_version` empty if the folder does not say them.
    """

    name: str
    file: str
    text: str
    tests: Sequence[FileTest] | None = None
    publish: bool = False
    description: str | None = None
    collector_version: str = ""

    @property
    def sha256(self) -> str:
        return digest(self.text)

    @property
    def test_digests(self) -> dict[str, str] | None:
        return None if self.tests is None else {test.name: known.digest(test.fields) for test in self.tests}


@dataclass(frozen=True, slots=True)
class FolderPolicies:
    """The settings of the organization's policies, whole."""

    file: str
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class FolderContent:
    """All that the folder holds, by name."""

    folder: Path
    configurations: Mapping[str, FolderConfiguration] = field(default_factory=dict)
    fleets: Mapping[str, FolderFleet] = field(default_factory=dict)
    policies: FolderPolicies | None = None


class _Settings(TypedDict, total=False):
    """Settings of apply.yaml for one configuration, or for all."""

    publish: bool
    description: str
    collector_version: str


def read(folder: Path) -> FolderContent:
    """Raises WrongFolder with everything that is wrong, Failed for a folder that holds nothing to apply."""
    if not folder.is_dir():
        raise Failed(f"{one_line(str(folder))} is not a folder")
    problems: list[FileProblem] = []
    _refuse_strays(folder, problems)
    files = _named_files(folder, CONFIGURATIONS, problems)
    of_all, of_each = _settings(folder, files, problems)
    configurations = _configurations(folder, files, of_all, of_each, problems)
    fleets = wanted_fleets.read(folder, FLEETS, _named_files(folder, FLEETS, problems), problems)
    policies = _policies(folder, problems)
    if problems:
        raise WrongFolder(problems)
    if not configurations and not fleets and policies is None:
        raise Failed(
            f"{one_line(str(folder))} holds nothing to apply: it needs {CONFIGURATIONS}/NAME.yaml, {FLEETS}/LABEL.yaml "
            f"or {POLICIES}"
        )
    return FolderContent(folder, configurations, fleets, policies)


def _refuse_strays(folder: Path, problems: list[FileProblem]) -> None:
    """A file beside the folders, and a folder whose name is nearly one of theirs, would be left out unnoticed."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise Failed(f"cannot read {one_line(str(folder))}: {error.strerror}") from error
    for entry in entries:
        known_names = (CONFIGURATIONS, FLEETS) if entry.is_dir() else (SETTINGS, POLICIES)
        if entry.name in known_names or entry.name.startswith("."):
            continue
        if entry.is_dir():
            guess = meant(entry.name, known_names)
            if guess.startswith(": did"):
                problems.append(FileProblem(str(entry), 1, f"is not a folder that is applied{guess}"))
        elif entry.suffix in SUFFIXES:
            message = f"is not a file that is applied: configurations belong to {CONFIGURATIONS}/, fleets to {FLEETS}/"
            problems.append(FileProblem(str(entry), 1, f"{message}; beside them are {SETTINGS} and {POLICIES}"))


def _settings(
    folder: Path, files: Mapping[str, str], problems: list[FileProblem]
) -> tuple[_Settings, Mapping[str, _Settings]]:
    if not safe_files.is_file(str(folder / SETTINGS)):
        return {}, {}
    shared: dict[str, file_checks.Check] = {"publish": file_checks.boolean, "collector_version": _collector_version}
    single = file_checks.keys({**shared, "description": _description})

    def of_file(place: Place, value: object) -> object:
        if place[-1] not in files:
            raise Wrong(place, f"there is no file {CONFIGURATIONS}/{one_line(str(place[-1]))}.yaml")
        return single(place, value)

    check = file_checks.keys({**shared, "configurations": sections.named(of_file)})
    try:
        settings = cast("dict[str, object]", sections.document(folder, SETTINGS, check))
    except WrongTests as error:
        problems += error.problems
        return {}, {}
    each = cast("Mapping[str, _Settings]", settings.pop("configurations", {}))
    return cast("_Settings", settings), each


def _named_files(folder: Path, below: str, problems: list[FileProblem]) -> dict[str, str]:
    """The YAML files of a folder within the folder, by the name that each is about."""
    place = folder / below
    if not place.exists() and not place.is_symlink():
        return {}
    by_name: dict[str, str] = {}
    try:
        files = files_in(safe_files.below(folder, below), "make several folders of it")
    except Failed as error:
        problems.append(FileProblem(str(place), 1, error.message))
        return {}
    for file in files:
        label = str(place / file)
        try:
            name = sections.name((), Path(file).stem)
        except Wrong as error:
            problems.append(FileProblem(label, 1, f"its name without the ending {error}"))
            continue
        if name in by_name:
            message = f"{one_line(str(place / by_name[name]))} is about the same name: rename or delete one"
            problems.append(FileProblem(label, 1, message))
        by_name[name] = file
    return by_name


def _configurations(
    folder: Path,
    files: Mapping[str, str],
    of_all: _Settings,
    of_each: Mapping[str, _Settings],
    problems: list[FileProblem],
) -> dict[str, FolderConfiguration]:
    configurations: dict[str, FolderConfiguration] = {}
    for name, file in files.items():
        relative = f"{CONFIGURATIONS}/{file}"
        path = folder / relative
        own = of_all | of_each.get(name, _Settings())
        try:
            content = sections.read_text(folder, relative)
            beside = test_files.folder_of(path)
            tests = test_files.beside(path, content) if beside.is_dir() or beside.is_symlink() else None
        except WrongTests as error:
            problems += error.problems
            continue
        except Failed as error:
            problems.append(test_files.of_file(str(path), error))
            continue
        configurations[name] = FolderConfiguration(
            name,
            str(path),
            content,
            tests,
            publish=own.get("publish", False),
            description=own.get("description"),
            collector_version=own.get("collector_version", ""),
        )
    return configurations


def _policies(folder: Path, problems: list[FileProblem]) -> FolderPolicies | None:
    path = folder / POLICIES
    if not safe_files.is_file(str(path)):
        return None
    try:
        settings, _ = policy_files.settings(str(safe_files.below(folder, POLICIES)))
        return FolderPolicies(str(path), file_checks.values(cast("Mapping[object, object]", settings)))
    except Wrong as error:
        problems.append(FileProblem(str(path), 1, f"{'.'.join(map(str, error.place))} {error}"))
    except Failed as error:
        problems.append(test_files.of_file(str(path), error))
    return None


def _collector_version(place: Place, value: object) -> str:
    version = file_checks.text(place, value)
    if not VERSION.fullmatch(version):
        raise Wrong(place, f"{one_line(version)!r} is not a collector version: use X.Y.Z, for example 0.139.0")
    return version


def _description(place: Place, value: object) -> str:
    description = file_checks.text(place, value)
    if len(description) > _LONGEST_DESCRIPTION:
        raise Wrong(place, f"must have at most {_LONGEST_DESCRIPTION:,} characters")
    return description

"""Targets of a check: a file, a stored version as CONFIGURATION@N, or the version that a deployment group runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.configurations import lookup
from headgate_cli.configurations.folder import SUFFIXES, Folder, of_configurations
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup as fleets
from headgate_cli.safe_files import STDIN, is_file, name, read
from headgate_cli.shapes import ConfigurationSummary
from headgate_cli.untrusted import one_line


@dataclass(frozen=True, slots=True)
class UpgradeTarget:
    """`named` names it in JSON, and `request` is the body of its check without the version to move to.

    `content` is the text of a file; the text of a stored version is on the server.
    """

    label: str
    named: Entity
    path: str
    request: Mapping[str, object]
    content: str = ""

    @property
    def is_file(self) -> bool:
        return "file" in self.named

    @property
    def arguments(self) -> str:
        """The words that name it in a command line."""
        if "deployment_id" in self.named:
            return f"--group {' '.join(shlex.quote(part) for part in self.label.split('/', 1))}"
        return shlex.quote(self.label)


@dataclass(frozen=True, slots=True)
class VersionOnServer:
    """One version of a configuration on the server."""

    configuration_id: str
    name: str
    n: int

    @property
    def label(self) -> str:
        return f"{self.name}@{self.n}"

    @property
    def path(self) -> str:
        return f"/configurations/{self.configuration_id}/versions/{self.n}"

    @property
    def named(self) -> Entity:
        return {
            "configuration_id": self.configuration_id,
            "configuration_name": self.name,
            "version_number": self.n,
        }


def names_file(argument: str) -> bool:
    """True if the argument is meant as a file, even if there is none."""
    return is_file(argument) or argument.endswith(SUFFIXES)


def files_of_folders(arguments: Iterable[str]) -> list[str]:
    """The arguments, with the YAML files of a folder instead of the folder. Raises Failed for a folder without any."""
    named: list[str] = []
    for argument in arguments:
        if not Path(argument).is_dir():
            named.append(argument)
            continue
        folder = of_configurations(Path(argument))
        files = Folder(folder).files()
        if not files:
            raise Failed(
                f"{one_line(argument)} is a folder, without a file whose name ends with {' or '.join(SUFFIXES)}: for a "
                f"configuration of that name, write its id, or NAME@N"
            )
        named += [str(folder / file) for file in files]
    return named


def of_file(api: Api, file: str, source: str | None) -> UpgradeTarget:
    """A file. Without `source`, its check begins at the collector version of the configuration it was pulled from."""
    content = read(file)
    source = source or _collector_version(api, file)
    return UpgradeTarget(
        name(file),
        {"file": name(file)},
        "/validate/upgrade-check",
        {"yaml": content} | ({"from": source} if source else {}),
        content,
    )


def stored(api: Api, argument: str) -> VersionOnServer:
    """The version that `CONFIGURATION@N` names; the latest one without `@N`. Raises Failed."""
    configuration, n = lookup.with_version(argument)
    latest = lookup.latest(api, lookup.find(api, configuration))
    return VersionOnServer(latest.id, latest.name, n or latest.version)


def of_stored(version: VersionOnServer, source: str | None) -> UpgradeTarget:
    return UpgradeTarget(
        version.label, version.named, f"{version.path}/upgrade-check", {"from": source} if source else {}
    )


def everything(api: Api, *, published: bool) -> Iterator[VersionOnServer]:
    """Each visible configuration's latest version, or the newest published one of those that have one."""
    for configuration in api.items(ConfigurationSummary, "/configurations"):
        n = configuration["published_version"] if published else configuration["latest_version"]
        if n:
            yield VersionOnServer(configuration["id"], configuration["name"], n)


def of_group(api: Api, fleet: str, group: str, source: str | None) -> UpgradeTarget:
    fleet_id = fleets.fleet(api, fleet)
    group_id = fleets.group(api, fleet_id, group)
    return UpgradeTarget(
        f"{fleet}/{group}",
        {"fleet_id": fleet_id, "deployment_id": group_id},
        f"/fleets/{fleet_id}/deployments/{group_id}/upgrade-check",
        {"from": source} if source else {},
    )


def _collector_version(api: Api, file: str) -> str:
    """The collector version of the configuration that headgate.json lists the file for; empty if there is none."""
    path = Path(file)
    entry = None if file == STDIN else Folder(path.parent).entries.get(path.name)
    if entry is None:
        return ""
    try:
        return lookup.latest(api, entry.id).collector_version
    except ServerError as error:
        if error.status == 404:
            raise Failed(
                f"headgate.json lists {one_line(file)} for a configuration that cannot be read here: name the version "
                "to compare with, with --from"
            ) from error
        raise

"""Finding a configuration by id, by name, or by a file that `pull` or `push` recorded in headgate.json."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.checks.checked import TextToCheck
from headgate_cli.configurations.folder import Folder
from headgate_cli.errors import Failed
from headgate_cli.ids import is_id
from headgate_cli.nearest import did_you_mean, names_of
from headgate_cli.shapes import ConfigurationDetail, ConfigurationSummary, VersionDetail
from headgate_cli.untrusted import one_line

_LONGEST_NAME: Final = 200
_WITH_VERSION: Final = re.compile(r"(.+)@v?([1-9][0-9]{0,8})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Latest:
    """A configuration, its latest version with text, and the number of the newest published version (0 for none).

    `etag` is the state of the latest version; empty where it was not asked for.
    """

    id: str
    name: str
    version: int
    published: int
    yaml: str
    collector_version: str
    feature_gates: tuple[str, ...] = ()
    etag: str = ""


def find(api: Api, label: str, *, archived_first: bool = False) -> str:
    """The configuration's id. Raises Failed if no configuration has the name, or several have.

    An archived configuration is found if no other one has the name, or else with `archived_first`.
    """
    if is_id("cfg", label):
        return label
    path = Path(label)
    if path.name != label or path.suffix:
        entry = Folder(path.parent).entries.get(path.name)
        if entry is not None:
            return entry.id
    ids = ids_of(api, label, archived=archived_first) or ids_of(api, label, archived=not archived_first)
    if not ids:
        similar = did_you_mean(label, names_of(api, "/configurations", "name"))
        raise Failed(
            f"there is no configuration {label!r} that you can see{similar}: `headgate config list` shows those you can"
        )
    if len(ids) > 1:
        raise Failed(f"{len(ids)} configurations are called {label!r}; use the id instead: {one_line(', '.join(ids))}")
    return ids[0]


def with_version(label: str) -> tuple[str, int]:
    """The configuration and the number that `CONFIGURATION@N` names; 0 without `@N`."""
    match = _WITH_VERSION.fullmatch(label)
    return (match[1], int(match[2])) if match else (label, 0)


def one_version(label: str, n: int | None) -> tuple[str, int | None]:
    """The configuration and the version that `CONFIGURATION@N` or `--version N` names; None without either.

    Raises UsageError if they name two versions.
    """
    configuration, named = with_version(label)
    if n and named and n != named:
        raise click.UsageError(f"@{named} and --version {n} name two versions: leave one out")
    return configuration, n or named or None


def ids_of(api: Api, name: str, *, archived: bool = False) -> list[str]:
    """The ids of all visible configurations with the name, the last changed first: of archived ones, or of others."""
    if not name.strip() or len(name) > _LONGEST_NAME:
        return []
    there = api.items(ConfigurationSummary, "/configurations", name=name, archived="true" if archived else "")
    return [configuration["id"] for configuration in there]


def require_new(api: Api, name: str, way_out: str) -> None:
    """Raises Failed if a configuration has this name; `way_out` adds a version to that with the id `{}`."""
    if ids := [one_line(configuration_id) for configuration_id in ids_of(api, name)]:
        raise Failed(
            f"a configuration {name!r} exists already ({', '.join(ids)}). {way_out.format(ids[0])}; to create another "
            "one, give it another name with --name. Nothing was saved"
        )


def latest(api: Api, configuration_id: str) -> Latest:
    detail, etag = api.get_with_etag(ConfigurationDetail, f"/configurations/{configuration_id}")
    return Latest(
        id=detail["id"],
        name=detail["name"],
        version=detail["latest_version"],
        published=detail["published_version"] or 0,
        yaml=detail["yaml"],
        collector_version=detail["collector_version"],
        feature_gates=gates_of(detail),
        etag=etag,
    )


def gates_of(detail: ConfigurationDetail | VersionDetail) -> tuple[str, ...]:
    """The feature gates of a version, or of a configuration's latest one."""
    return tuple(detail.get("feature_gates") or ())


def version(api: Api, configuration_id: str, n: int) -> VersionDetail:
    return api.get(VersionDetail, f"/configurations/{configuration_id}/versions/{n}")


def text_of(api: Api, latest: Latest, n: int) -> TextToCheck:
    """A version's text and its collector; needs no request for the latest version."""
    if n == latest.version:
        return TextToCheck(latest.yaml, latest.collector_version, latest.feature_gates, latest.etag)
    detail, etag = api.get_with_etag(VersionDetail, f"/configurations/{latest.id}/versions/{n}")
    return TextToCheck(detail["yaml"], detail["collector_version"], gates_of(detail), etag)


class VersionNumber(click.ParamType[int]):
    """`12`, or `v12` as the pages write it."""

    name = "N"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        digits = str(value).removeprefix("v")
        if not digits.isascii() or not digits.isdigit() or int(digits) < 1:
            self.fail(f"{value!r} is not a version number: write 12 or v12", param, ctx)
        return int(digits)

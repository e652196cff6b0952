"""Which configuration a person means: by its id, by its name, or by a file that is in step with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from headgate_cli.api import Api, Entity, number, optional, text
from headgate_cli.configurations.folder import CONFIGURATION_ID, Folder
from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line


@dataclass(frozen=True, slots=True)
class Latest:
    """A configuration as it stands: its latest version with its text, and the newest published one (0 for none)."""

    id: str
    name: str
    version: int
    published: int
    yaml: str
    collector_version: str


def find(api: Api, wanted: str) -> str:
    """The configuration's id. Raises Failed where none or several are meant."""
    if CONFIGURATION_ID.fullmatch(wanted):
        return wanted
    path = Path(wanted)
    if path.name != wanted or path.suffix:
        entry = Folder(path.parent).entries.get(path.name)
        if entry is not None:
            return entry.id
    named = [text(one, "id") for one in api.items("/configurations") if one.get("name") == wanted]
    if not named:
        raise Failed(f"there is no configuration {wanted!r} that you can see: look with `headgate config list`")
    if len(named) > 1:
        ids = one_line(", ".join(named))
        raise Failed(f"{len(named)} configurations are called {wanted!r}; name one by its id: {ids}")
    return named[0]


def latest(api: Api, configuration_id: str) -> Latest:
    return of_detail(api.get(f"/configurations/{configuration_id}"))


def of_detail(detail: Entity) -> Latest:
    return Latest(
        id=text(detail, "id"),
        name=text(detail, "name"),
        version=number(detail, "latest_version"),
        published=int(optional(detail, "published_version") or 0),
        yaml=text(detail, "yaml"),
        collector_version=text(detail, "collector_version"),
    )


def version(api: Api, configuration_id: str, n: int) -> Entity:
    return api.get(f"/configurations/{configuration_id}/versions/{n}")


def text_of(api: Api, latest: Latest, n: int) -> tuple[str, str]:
    """A version's text and its collector version; no request for the latest one."""
    if n == latest.version:
        return latest.yaml, latest.collector_version
    found = version(api, latest.id, n)
    return text(found, "yaml"), text(found, "collector_version")


class VersionNumber(click.ParamType[int]):
    """`12`, or `v12` as the pages write it."""

    name = "N"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        digits = str(value).removeprefix("v")
        if not digits.isascii() or not digits.isdigit() or int(digits) < 1:
            self.fail(f"{value!r} is no version number, as in 12 or v12", param, ctx)
        return int(digits)

"""Takes away what a run made: everything whose name begins with the run's prefix, also after lost answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.errors import Failed
from headgate_cli.shaped import PlainAnswer, shaped
from headgate_cli.untrusted import one_line

APPLICATION: Final = "/api/v1/app"
_Act: TypeAlias = Callable[[Api, Entity], None]
INTERRUPTED: Final = "cleaning up was interrupted: `headgate accept --remove` does it"


@dataclass(frozen=True, slots=True)
class Admin:
    """The two APIs to the session of an Admin."""

    public: Api
    application: Api


def remove(api: Api, names: re.Pattern[str], created: Sequence[str] = (), admin: Admin | None = None) -> list[str]:
    """Delete fleets and drafts whose names begin so, archive what was published. A sentence for each thing that stays.

    With `admin` also webhooks and service accounts. `created` are paths that a run knows of: a broken list
    may lack it.
    """
    kinds: list[tuple[Api, str, str, _Act]] = [
        (api, "/fleets", "label", _remove_fleet),
        (api, "/configurations", "name", _remove_configuration),
    ]
    if admin:
        kinds += [
            (admin.public, "/webhooks", "name", partial(_delete, "/webhooks")),
            (admin.application, "/service-accounts", "name", partial(_delete, "/service-accounts")),
        ]
    left: list[str] = []
    for asked, path, field, act in kinds:
        try:
            listed = {f"{path}/{entry['id']}": entry for entry in asked.items(PlainAnswer, path)}
            listed |= {
                place: _read(asked, place) for place in created if place.startswith(path) and place not in listed
            }
            remains = [entry for entry in listed.values() if names.match(str(entry.get(field) or ""))]
        except Failed as error:
            left.append(f"{path} could not be listed: {error.message}")
            continue
        for entry in remains:
            left += _tried(partial(act, asked, entry), one_line(str(entry[field])))
    return left


def _delete(path: str, api: Api, entry: Entity) -> None:
    api.delete(f"{path}/{entry['id']}")


def _read(api: Api, path: str) -> PlainAnswer:
    """Read the entity at the path; empty if it is gone or archived."""
    try:
        entry = api.get(PlainAnswer, path)
    except ServerError as error:
        if error.status == 404:
            return shaped(PlainAnswer, {})
        raise
    return shaped(PlainAnswer, {}) if entry.get("archived_at") else entry


def _tried(act: Callable[[], None], name: str) -> Iterator[str]:
    try:
        act()
    except Failed as error:
        yield f"{name} stays: {error.message}"


def _remove_fleet(api: Api, fleet: Entity) -> None:
    path = f"/fleets/{fleet['id']}"
    for group in list(api.items(PlainAnswer, f"{path}/deployments")):
        if group.get("configuration_id"):
            # With nothing assigned, a rollout of the group has ended as well.
            api.patch(PlainAnswer, f"{path}/deployments/{group['id']}", {"configuration_id": None})
        if not group.get("is_default"):
            api.delete(f"{path}/deployments/{group['id']}")
    api.delete(path)


def _remove_configuration(api: Api, configuration: Entity) -> None:
    path = f"/configurations/{configuration['id']}"
    if configuration.get("published_version") is None:
        api.delete(path)
    else:
        # What was published is never deleted.
        api.post(PlainAnswer, f"{path}/archive")

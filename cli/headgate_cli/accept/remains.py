"""Takes away what a run made: everything whose name begins with the run's prefix, also after lost answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from headgate_cli.api import Api, Entity, ServerError, optional, text
from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line

APPLICATION: Final = "/api/v1/app"
_Act: TypeAlias = Callable[[Api, Entity], None]
INTERRUPTED: Final = "cleaning up was interrupted: `headgate accept --remove` does it"


@dataclass(frozen=True, slots=True)
class Admin:
    """The two APIs to the session of an Admin."""

    public: Api
    application: Api


def remove(api: Api, names: re.Pattern[str], made: Sequence[str] = (), admin: Admin | None = None) -> list[str]:
    """Delete fleets and drafts whose names begin so, archive what was published. A sentence for each thing that stays.

    With `admin` also webhooks and service accounts. `made` are paths of what a run knows that it made: a broken list
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
            listed = {f"{path}/{optional(one, 'id')}": one for one in asked.items(path)}
            listed |= {one: _read(asked, one) for one in made if one.startswith(path) and one not in listed}
            found = [one for one in listed.values() if names.match(optional(one, field))]
        except Failed as error:
            left.append(f"{path} could not be listed: {error.message}")
            continue
        for one in found:
            left += _tried(partial(act, asked, one), one_line(optional(one, field)))
    return left


def _delete(path: str, api: Api, one: Entity) -> None:
    api.delete(f"{path}/{text(one, 'id')}")


def _read(api: Api, path: str) -> Entity:
    """What is at the path; empty if it is not there any more, or archived."""
    try:
        found = api.get(path)
    except ServerError as error:
        if error.status == 404:
            return {}
        raise
    return {} if found.get("archived_at") else found


def _tried(act: Callable[[], None], name: str) -> Iterator[str]:
    try:
        act()
    except Failed as error:
        yield f"{name} stays: {error.message}"


def _remove_fleet(api: Api, fleet: Entity) -> None:
    path = f"/fleets/{text(fleet, 'id')}"
    for group in list(api.items(f"{path}/deployments")):
        if group.get("configuration_id"):
            # With nothing assigned, a rollout of the group has ended as well.
            api.patch(f"{path}/deployments/{text(group, 'id')}", {"configuration_id": None})
        if not group.get("is_default"):
            api.delete(f"{path}/deployments/{text(group, 'id')}")
    api.delete(path)


def _remove_configuration(api: Api, configuration: Entity) -> None:
    path = f"/configurations/{text(configuration, 'id')}"
    if configuration.get("published_version") is None:
        api.delete(path)
    else:
        # What was published is never deleted.
        api.post(f"{path}/archive")

"""`rollback`: a deployment group goes back to the last version that was good, at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup as fleets
from headgate_cli.output import print_outcome, say
from headgate_cli.rollouts import follow, lookup
from headgate_cli.shapes import DeploymentOut, FleetOut, RolloutOut
from headgate_cli.untrusted import one_line

_UNDER_WAY: Final = ("in_progress", "paused", "waiting_for_approval", "halted")
_FLEET_AND_GROUP: Final = 2
# The service recognizes this command's assignments by it.
_ROLLBACK: Final = "Rollback"


@click.command()
@click.argument("place", nargs=-1, required=True, metavar="[FLEET] GROUP")
@click.option("--message", "-m", help="Why; it is shown with the rollout.")
@connected
def rollback(api: Api, place: Sequence[str], message: str | None, as_json: bool) -> None:
    """Let a deployment group go back to the last version that was good, all hosts at once.

    A rollout that is under way is aborted. If hosts did not go back from one that was taken back, the group's own
    version is assigned again, so that they try it. Otherwise the group is assigned the last version before the one it
    runs that a host of it ran healthily for a time, or if none did, that it completed; doing it again goes further
    back. If no version is known before, and the last rollout did not complete, the group's own version is assigned
    again. FLEET can be left out if one fleet alone has a group of that name.

    \b
    Examples:
      headgate rollback servers Default
      headgate rollback canary -m "loses spans"
    """
    path = _path(api, place)
    newest = next(api.items(RolloutOut, path), None)
    if newest is not None and newest["status"] in _UNDER_WAY:
        aborted = api.create(RolloutOut, f"{path}/{newest['id']}/abort")
        say("The rollout that was under way is aborted: its hosts go back to the version before")
        follow.show(aborted, as_json=as_json)
        return
    if newest is not None and newest["status"] == "rolling_back":
        raise Failed("the group is going back already: `headgate rollout watch` shows how far it is")
    group = path.removesuffix("/rollouts")
    now = api.get(DeploymentOut, group)
    good = now["goes_back_to"]
    if good is None:
        raise Failed("the group ran no version before the one that it runs: see `headgate rollout list`")
    request = {name: good[name] for name in ("configuration_id", "version_number")}
    request |= {"message": f"{_ROLLBACK}: {message}" if message else _ROLLBACK}
    changed = api.patch(DeploymentOut, group, request)
    if now["collector_version"]:
        say(
            f"The collectors stay at {one_line(now['collector_version'])}: to move them as well, roll out a "
            "version that is for another one, with `headgate rollout start --upgrade-collector`"
        )
    print_outcome(
        changed,
        as_json,
        f"{one_line(changed['name'])} ({one_line(changed['id'])}) goes back to {lookup.version(changed)}",
    )


def _path(api: Api, place: Sequence[str]) -> str:
    """The path of the group's rollouts. Raises Failed if no fleet has such a group, or several have."""
    if len(place) > _FLEET_AND_GROUP:
        raise click.UsageError("give a fleet and a group, or a group alone")
    if len(place) == _FLEET_AND_GROUP:
        return lookup.path_of(api, *place)
    (name,) = place
    paths = [
        f"/fleets/{fleet['id']}/deployments/{group['id']}/rollouts"
        for fleet in api.items(FleetOut, "/fleets")
        for group in fleets.groups(api, fleet["id"])
        if name in (group["id"], group["name"])
    ]
    if not paths:
        raise Failed(
            f"no fleet has a deployment group {name!r}: `headgate deployment list FLEET` shows a fleet's groups"
        )
    if len(paths) > 1:
        raise Failed(f"{len(paths)} fleets have a deployment group {name!r}: name the fleet, too")
    return paths[0]

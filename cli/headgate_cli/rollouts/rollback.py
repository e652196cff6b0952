"""`rollback`: a deployment group goes back to the last version that was good, at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup as fleets
from headgate_cli.output import print_outcome, say
from headgate_cli.rollouts import follow, lookup
from headgate_cli.shapes import AssignmentOut, DeploymentOut, FleetOut, RolloutOut
from headgate_cli.untrusted import one_line

_UNDER_WAY: Final = ("in_progress", "paused", "waiting_for_approval", "halted")
_TAKEN_BACK: Final = ("rolled_back", "aborted")
_FLEET_AND_GROUP: Final = 2
# Begins the messages of what this command assigns, by which it knows them again.
_ROLLBACK: Final = "Rollback"

Version = tuple[str, object]
"""A configuration's id, and the number."""


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
    rollouts = lookup.all_of(api, path)
    newest = next(rollouts, None)
    if newest is not None and newest["status"] in _UNDER_WAY:
        aborted = api.create(RolloutOut, f"{path}/{newest['id']}/abort")
        say("The rollout that was under way is aborted: its hosts go back to the version before")
        follow.show(aborted, as_json=as_json)
        return
    if newest is not None and newest["status"] == "rolling_back":
        raise Failed("the group is going back already: `headgate rollout watch` shows how far it is")
    group = path.removesuffix("/rollouts")
    now = api.get(DeploymentOut, group)
    good = _again(newest, now) or _version(now["goes_back_to"])
    good = good or last_good([*([newest] if newest else []), *rollouts], _version(now))
    if good is None and newest is not None and newest["status"] != "completed":
        # Hosts that did not come back from that rollout are offered it again.
        good = _version(now)
    if good is None:
        raise Failed("the group ran no version before the one that it runs: see `headgate rollout list`")
    configuration_id, n = good
    reason = f"{_ROLLBACK}: {message}" if message else _ROLLBACK
    request = {"configuration_id": configuration_id, "version_number": n, "message": reason}
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


def _again(newest: RolloutOut | None, now: DeploymentOut) -> Version | None:
    """The version that the group runs, if hosts did not go back to it."""
    if newest is None or newest["status"] not in _TAKEN_BACK:
        return None
    return _version(now) if any(failure["gate"] == "rollback_failed" for failure in newest["failures"]) else None


def last_good(rollouts: Iterable[RolloutOut], now: Version | None) -> Version | None:
    """The version that the group completed before what it runs `now`; rollouts are newest first.

    A rollback of this command forgets what came after the version, so that the next one goes back further.
    """
    good: list[Version] = []
    for rollout in reversed([rollout for rollout in rollouts if rollout["status"] == "completed"]):
        before, to = _version(rollout["from"]), _version(rollout)
        if before is not None and good[-1:] != [before]:
            good.append(before)
        if (rollout["message"] or "").startswith(_ROLLBACK) and to in good[:-1]:
            good = good[: len(good) - 1 - good[-2::-1].index(to)]
        elif to is not None and good[-1:] != [to]:
            good.append(to)
    if good[-1:] == [now]:
        good.pop()
    return good[-1] if good else None


def _version(named: AssignmentOut | None) -> Version | None:
    if named is None or not named["configuration_id"]:
        return None
    return named["configuration_id"], named["version_number"]


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

"""`rollback`: a deployment group goes back to the last version that was good, at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import click

from headgate_cli.api import Api, Entity, entities, optional, text
from headgate_cli.configurations import names
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup as fleets
from headgate_cli.output import print_outcome, say
from headgate_cli.rollouts import follow, lookup
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
@as_json
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
    rollouts = api.items(path)
    newest = next(rollouts, None)
    if newest is not None and newest["status"] in _UNDER_WAY:
        aborted = api.post(f"{path}/{text(newest, 'id')}/abort")
        say("The rollout that was under way is aborted: its hosts go back to the version before")
        follow.show(aborted, as_json=as_json)
        return
    if newest is not None and newest["status"] == "rolling_back":
        raise Failed("the group is going back already: `headgate rollout watch` shows how far it is")
    group = path.removesuffix("/rollouts")
    now = api.get(group)
    good = _again(newest, now) or _version(now.get("goes_back_to"))
    good = good or last_good([*([newest] if newest else []), *rollouts], _version(now))
    if good is None and newest is not None and newest["status"] != "completed":
        # Hosts that did not come back from that rollout are offered it again.
        good = _version(now)
    if good is None:
        raise Failed("the group ran no version before the one that it runs: see `headgate rollout list`")
    configuration_id, n = good
    reason = f"{_ROLLBACK}: {message}" if message else _ROLLBACK
    request = {"configuration_id": configuration_id, "version_number": n, "message": reason}
    changed = api.patch(group, request)
    changed = names.named(changed, names.of(api, [configuration_id]))
    if optional(now, "collector_version"):
        say(
            f"The collectors stay at {one_line(optional(now, 'collector_version'))}: to move them as well, roll out a "
            "version that is for another one, with `headgate rollout start --upgrade-collector`"
        )
    print_outcome(
        changed,
        as_json,
        f"{one_line(text(changed, 'name'))} ({one_line(text(changed, 'id'))}) goes back to {lookup.version(changed)}",
    )


def _again(newest: Entity | None, now: Entity) -> Version | None:
    """What the group runs, if hosts did not go back to it."""
    failures = entities(newest, "failures") if newest and newest.get("failures") else []
    ended = newest is not None and newest["status"] in _TAKEN_BACK
    return _version(now) if ended and any(one.get("gate") == "rollback_failed" for one in failures) else None


def last_good(rollouts: Iterable[Entity], now: Version | None) -> Version | None:
    """What the group completed before what it runs `now`; rollouts are newest first.

    A rollback of this command forgets what came after the version, so that the next one goes back further.
    """
    good: list[Version] = []
    for rollout in reversed([one for one in rollouts if one["status"] == "completed"]):
        before, to = _version(rollout.get("from")), _version(rollout)
        if before is not None and good[-1:] != [before]:
            good.append(before)
        if optional(rollout, "message").startswith(_ROLLBACK) and to in good[:-1]:
            good = good[: len(good) - 1 - good[-2::-1].index(to)]
        elif to is not None and good[-1:] != [to]:
            good.append(to)
    if good[-1:] == [now]:
        good.pop()
    return good[-1] if good else None


def _version(named: object) -> Version | None:
    if not isinstance(named, dict) or not optional(named, "configuration_id"):
        return None
    return optional(named, "configuration_id"), named.get("version_number")


def _path(api: Api, place: Sequence[str]) -> str:
    """Where the rollouts of the group are. Raises Failed if no fleet has such a group, or several have."""
    if len(place) > _FLEET_AND_GROUP:
        raise click.UsageError("give a fleet and a group, or a group alone")
    if len(place) == _FLEET_AND_GROUP:
        return lookup.path_of(api, *place)
    (wanted,) = place
    found = [
        f"/fleets/{text(fleet, 'id')}/deployments/{text(group, 'id')}/rollouts"
        for fleet in api.items("/fleets")
        for group in fleets.groups(api, text(fleet, "id"))
        if wanted in (group.get("id"), group.get("name"))
    ]
    if not found:
        raise Failed(
            f"no fleet has a deployment group {wanted!r}: `headgate deployment list FLEET` shows a fleet's groups"
        )
    if len(found) > 1:
        raise Failed(f"{len(found)} fleets have a deployment group {wanted!r}: name the fleet, too")
    return found[0]

"""Takes the examples away again: what a demo made and nothing else, also after one that was broken off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from headgate_cli.api import Api, Entity, ServerError, optional, text
from headgate_cli.demo import hosts as simulated
from headgate_cli.demo.content import DEFAULT_GROUP, FLEET, SECOND_GROUP, Host, is_ours
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.untrusted import one_line

Tell = Callable[[str], None]

_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_QUIET: Final = ("stopped", "stale")


def fleet(api: Api, tell: Tell) -> None:
    """Stop the hosts, and delete the fleet with its groups. Raises Failed if something else uses it."""
    known = next((one for one in api.items("/fleets", name=FLEET) if one.get("label") == FLEET), None)
    if known is None:
        return
    fleet_id = text(known, "id")
    if simulated.end(fleet_id):
        tell("The process of the simulated hosts has ended")
    instances = list(api.items(f"/fleets/{fleet_id}/instances"))
    others = len(instances) - len(simulated.of_demo(instances))
    if others:
        raise Failed(
            f"the fleet {FLEET} has {others} {'collector' if others == 1 else 'collectors'} that no demo made, so it "
            f"stays: move or uninstall them, and run `headgate demo --remove` again"
        )
    groups = lookup.groups(api, fleet_id)
    foreign = [text(group, "name") for group in groups if group.get("name") not in (DEFAULT_GROUP, SECOND_GROUP)]
    if foreign:
        raise Failed(
            f"the fleet {FLEET} has groups that no demo made, so it stays: delete {one_line(', '.join(foreign))}, and "
            "run `headgate demo --remove` again"
        )
    for group in groups:
        # With nothing assigned, a rollout of the group has ended as well.
        api.patch(f"/fleets/{fleet_id}/deployments/{text(group, 'id')}", {"configuration_id": None})
    _stop(api, fleet_id, instances)
    try:
        for group in groups:
            if group.get("name") != DEFAULT_GROUP:
                api.delete(f"/fleets/{fleet_id}/deployments/{text(group, 'id')}")
        api.delete(f"/fleets/{fleet_id}")
    except ServerError as error:
        if error.code != "still_reports":
            raise
        raise Failed(
            "the simulated hosts report again: stop the `headgate demo` that runs in another terminal or on another "
            "machine, and run `headgate demo --remove` again"
        ) from error
    tell(f"fleet {FLEET} with its groups and hosts is deleted")


def configurations(api: Api, tell: Tell) -> None:
    """Delete what was never published, and archive the rest, which others may have read."""
    for one in list(api.items("/configurations")):
        if not is_ours(one):
            continue
        path, name = f"/configurations/{text(one, 'id')}", text(one, "name")
        try:
            if one.get("published_version") is None:
                api.delete(path)
                tell(f"{name} is deleted")
            else:
                api.post(f"{path}/archive")
                tell(f"{name} is archived: what was published is never deleted")
        except ServerError as error:
            if error.status not in (403, 404, 405, 409):
                raise
            tell(f"{name} stays: {error.detail}")


def _stop(api: Api, fleet_id: str, instances: list[Entity]) -> None:
    """Say for each host that it stopped: those of a demo that was killed had no time to."""
    import httpx

    connections: dict[str, simulated.Connection] = {}
    for one in instances:
        if text(one, "state") in _QUIET:
            continue
        group = text(one, "deployment_id")
        if group not in connections:
            connections[group] = simulated.connection(api, fleet_id, group)
        host = Host(optional(one, "host_name"), group)
        agent = simulated.agent(
            connections[group], host, uid_of_id(text(one, "id")), optional(one, "collector_version")
        )
        try:
            agent.start()
            agent.stop()
        except httpx.HTTPError as error:
            raise Failed(f"the fleet service does not take a message of {host.name}: {error}; try again") from error


def uid_of_id(instance_id: str) -> bytes:
    """The 16 bytes that an instance is known by in its own messages: its id in another notation."""
    number = 0
    for letter in instance_id.removeprefix("ins_"):
        number = number * 32 + _LETTERS.index(letter)
    return number.to_bytes(16, "big")

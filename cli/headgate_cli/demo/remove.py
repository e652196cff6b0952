"""Takes the examples away again: what a demo made and nothing else, also after one that was broken off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from headgate_cli.api import Api, ServerError
from headgate_cli.demo import hosts as simulated
from headgate_cli.demo.content import DEFAULT_GROUP, FLEET, SECOND_GROUP, DemoHost, is_ours
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.shaped import PlainAnswer
from headgate_cli.shapes import ConfigurationSummary, FleetOut, InstanceOut
from headgate_cli.untrusted import one_line

Tell = Callable[[str], None]

_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_QUIET: Final = ("stopped", "stale")


def fleet(api: Api, tell: Tell) -> None:
    """Stop the hosts, and delete the fleet with its groups. Raises Failed if something else uses it."""
    fleets = api.items(FleetOut, "/fleets", name=FLEET)
    fleet_id = next((fleet["id"] for fleet in fleets if fleet["label"] == FLEET), "")
    if not fleet_id:
        return
    if simulated.end(fleet_id):
        tell("The process of the simulated hosts has ended")
    instances = list(api.items(InstanceOut, f"/fleets/{fleet_id}/instances"))
    others = len(instances) - len(simulated.of_demo(instances))
    if others:
        raise Failed(
            f"the fleet {FLEET} has {others} {'collector' if others == 1 else 'collectors'} that no demo made, so it "
            f"stays: move or uninstall them, and run `headgate demo --remove` again"
        )
    groups = lookup.groups(api, fleet_id)
    foreign = [group["name"] for group in groups if group["name"] not in (DEFAULT_GROUP, SECOND_GROUP)]
    if foreign:
        raise Failed(
            f"the fleet {FLEET} has groups that no demo made, so it stays: delete {one_line(', '.join(foreign))}, and "
            "run `headgate demo --remove` again"
        )
    for group in groups:
        # With nothing assigned, a rollout of the group has ended as well.
        api.patch(PlainAnswer, f"/fleets/{fleet_id}/deployments/{group['id']}", {"configuration_id": None})
    _stop(api, fleet_id, instances)
    try:
        for group in groups:
            if group["name"] != DEFAULT_GROUP:
                api.delete(f"/fleets/{fleet_id}/deployments/{group['id']}")
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
    for configuration in list(api.items(ConfigurationSummary, "/configurations")):
        if not is_ours(configuration):
            continue
        path, name = f"/configurations/{configuration['id']}", configuration["name"]
        try:
            if configuration["published_version"] is None:
                api.delete(path)
                tell(f"{name} is deleted")
            else:
                api.post(PlainAnswer, f"{path}/archive")
                tell(f"{name} is archived: what was published is never deleted")
        except ServerError as error:
            if error.status not in (403, 404, 405, 409):
                raise
            tell(f"{name} stays: {error.detail}")


def _stop(api: Api, fleet_id: str, instances: list[InstanceOut]) -> None:
    """Say for each host that it stopped: those of a demo that was killed had no time to."""
    import httpx

    connections: dict[str, simulated.HostConnection] = {}
    for instance in instances:
        if instance["state"] in _QUIET:
            continue
        group = instance["deployment_id"]
        if group not in connections:
            connections[group] = simulated.connection(api, fleet_id, group)
        host = DemoHost(instance["host_name"] or "", group)
        uid, version = uid_of_id(instance["id"]), instance["collector_version"] or ""
        agent = simulated.agent(connections[group], host, uid, version)
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

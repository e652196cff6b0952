"""Fills an organization with the examples: what is there already stays as it is, so it can be repeated at any point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from headgate_cli import shapes
from headgate_cli.api import Api
from headgate_cli.demo.content import (
    DEFAULT_GROUP,
    EXAMPLES,
    FLEET,
    GATEWAY,
    MARK,
    SECOND_GROUP,
    SHOP,
    TRIALS,
    DemoConfiguration,
    is_ours,
)
from headgate_cli.demo.hosts import DemoHosts
from headgate_cli.fleets import lookup
from headgate_cli.shaped import PlainAnswer

Tell = Callable[[str], None]

_SOAK_SECONDS: Final = 90


@dataclass
class Filled:
    """The filled organization: configurations by the name of their example, the fleet, and its groups by name."""

    configurations: dict[str, str] = field(default_factory=dict)
    fleet_id: str = ""
    groups: dict[str, str] = field(default_factory=dict)


def configurations(api: Api, tell: Tell) -> dict[str, str]:
    """The ids of the three configurations, by name."""
    archived = api.items(shapes.ConfigurationSummary, "/configurations", archived="true")
    listed = [*api.items(shapes.ConfigurationSummary, "/configurations"), *archived]
    ids = {}
    for example in EXAMPLES:
        known = next((configuration for configuration in listed if is_ours(configuration, example)), None)
        if known is None:
            request = {"name": example.name, "description": MARK, "yaml": example.texts()[0]}
            known = api.create(shapes.ConfigurationSummary, "/configurations", request)
            tell(f"configuration {example.name}")
        elif known["archived_at"]:
            api.post(PlainAnswer, f"/configurations/{known['id']}/restore")
            tell(f"configuration {example.name}, from the archive")
        ids[example.name] = known["id"]
        _tests(api, example, known["id"], tell)
        if example.published:
            _versions(api, example, known["id"], tell)
    return ids


def _versions(api: Api, example: DemoConfiguration, configuration_id: str, tell: Tell) -> None:
    """Every version of the example is published."""
    versions = api.items(shapes.VersionSummary, f"/configurations/{configuration_id}/versions")
    there = {version["n"]: version["status"] for version in versions}
    for n, yaml in enumerate(example.texts(), 1):
        if n not in there:
            api.create(PlainAnswer, f"/configurations/{configuration_id}/versions", {"yaml": yaml})
        if n not in there or there[n] == "draft":
            api.post(PlainAnswer, f"/configurations/{configuration_id}/versions/{n}/publish")
            tell(f"{example.name} version {n}, published")


def _tests(api: Api, example: DemoConfiguration, configuration_id: str, tell: Tell) -> None:
    """Tests are saved while the first version is a draft, and carried to the next."""
    first = api.get(shapes.VersionDetail, f"/configurations/{configuration_id}/versions/1")
    if first["status"] != "draft":
        return
    for trial in TRIALS:
        if trial.example is example and trial.saved:
            api.put(PlainAnswer, f"/configurations/{configuration_id}/versions/1/tests/{trial.name}", trial.body())
            tell(f"test {trial.name}")


def runs(api: Api, ids: dict[str, str], tell: Tell) -> None:
    """Each trial is run once."""
    for example in (SHOP, GATEWAY):
        there = api.get(shapes.RunSummaryPage, "/testing/runs", configuration_id=ids[example.name], limit=1)
        if there["items"]:
            continue
        for trial in TRIALS:
            if trial.example is example:
                body = trial.body() | {"configuration_id": ids[example.name], "version_number": len(example.files)}
                api.create(PlainAnswer, "/testing/runs", body)
                tell(f"run of {trial.name}")


def fleet(api: Api, ids: dict[str, str], tell: Tell) -> Filled:
    """The fleet with its two groups, each with a version assigned."""
    filled = Filled(ids)
    fleets = api.items(shapes.FleetOut, "/fleets", name=FLEET)
    filled.fleet_id = next((fleet["id"] for fleet in fleets if fleet["label"] == FLEET), "")
    if not filled.fleet_id:
        request = {"label": FLEET, "type": "server-supervisor"}
        filled.fleet_id = api.create(shapes.FleetOut, "/fleets", request)["id"]
        tell(f"fleet {FLEET}")
    groups = {group["name"]: group for group in lookup.groups(api, filled.fleet_id)}
    path = f"/fleets/{filled.fleet_id}/deployments"
    if not groups[DEFAULT_GROUP]["configuration_id"]:
        body: dict[str, object] = {"configuration_id": ids[SHOP.name], "version_number": 1}
        api.patch(PlainAnswer, f"{path}/{groups[DEFAULT_GROUP]['id']}", body)
        tell(f"{SHOP.name} version 1, assigned to the group {DEFAULT_GROUP}")
    if SECOND_GROUP not in groups:
        body = {"name": SECOND_GROUP, "configuration_id": ids[GATEWAY.name], "version_number": 1}
        groups[SECOND_GROUP] = api.create(shapes.DeploymentOut, path, body)
        tell(f"{GATEWAY.name} version 1, assigned to the group {SECOND_GROUP}")
    filled.groups = {name: groups[name]["id"] for name in (DEFAULT_GROUP, SECOND_GROUP)}
    return filled


def rollout(api: Api, filled: Filled, tell: Tell) -> None:
    """A rollout of the shop's second version, in steps; the last one waits for an approval where one can be given."""
    path = f"/fleets/{filled.fleet_id}/deployments/{filled.groups[DEFAULT_GROUP]}/rollouts"
    # What was assigned at once is in the list as well, without steps.
    if any(rollout["strategy"] for rollout in api.items(shapes.RolloutOut, path)):
        return
    # Whoever starts a rollout cannot approve it. That of the local service's token can be approved by an Admin.
    approval = api.get(shapes.Identity, "/identity")["kind"] == "service_account"
    steps: list[dict[str, object]] = [
        {"hosts": 1, "soak_seconds": _SOAK_SECONDS},
        {"percent": 50, "soak_seconds": 2 * _SOAK_SECONDS},
        {"percent": 100, "soak_seconds": _SOAK_SECONDS, "approval": approval},
    ]
    body = {
        "configuration_id": filled.configurations[SHOP.name],
        "version_number": len(SHOP.files),
        "strategy": {"steps": steps},
        "message": "Send twice as often, and leave health checks out",
    }
    api.create(PlainAnswer, path, body)
    tell(f"rollout of {SHOP.name} version {len(SHOP.files)}")


def hosts(api: Api, filled: Filled) -> DemoHosts:
    return DemoHosts.of_groups(api, filled.fleet_id, filled.groups)

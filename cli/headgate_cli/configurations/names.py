"""Names of configurations, for tables and JSON that contain their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from headgate_cli.api import PAGE, Api, Entity, ServerError
from headgate_cli.shapes import ConfigurationDetail, ConfigurationSummary, NamedVersionOut, VersionOut


def by_id(api: Api, ids: Iterable[str]) -> Mapping[str, str]:
    """The names by id; the id itself for a configuration that is not visible.

    Costs one request for a single id; for several, one for the hundred configurations changed last and one for each id
    that is not among them.
    """
    asked = {configuration_id for configuration_id in ids if configuration_id}
    by_id: dict[str, str] = {}
    if len(asked) > 1:
        latest = islice(api.items(ConfigurationSummary, "/configurations"), PAGE)
        by_id = {configuration["id"]: configuration["name"] for configuration in latest}
    return by_id | {missing: _name(api, missing) for missing in sorted(asked - by_id.keys())}


def named(entity: Entity, names: Mapping[str, str]) -> Entity:
    """The entity with `configuration_name` beside its `configuration_id`."""
    return {**entity, "configuration_name": names.get(str(entity["configuration_id"] or ""))}


def named_version(named: VersionOut | NamedVersionOut | None) -> str:
    """`edge v3` for a version that an answer names; empty if it names none."""
    if named is None or not named["configuration_id"] or named["version_number"] is None:
        return ""
    return f"{named['configuration_name'] or named['configuration_id']} v{named['version_number']}"


def version(entity: object, names: Mapping[str, str]) -> str:
    """`edge v3`; empty if the entity names no version."""
    if not isinstance(entity, dict) or not entity.get("configuration_id") or entity.get("version_number") is None:
        return ""
    configuration_id = str(entity["configuration_id"])
    return f"{names.get(configuration_id, configuration_id)} v{entity['version_number']}"


def _name(api: Api, configuration_id: str) -> str:
    try:
        return api.get(ConfigurationDetail, f"/configurations/{configuration_id}")["name"]
    except ServerError:
        return configuration_id

"""Names of configurations, for tables and JSON that contain their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headgate_cli.api import Api, Entity, ServerError, entities, optional, text


def of(api: Api, ids: Iterable[str]) -> Mapping[str, str]:
    """The names by id; the id itself for a configuration that is not visible.

    Costs one request for a single id; for several, one for the hundred configurations changed last and one for each id
    that is not among them.
    """
    wanted = {configuration_id for configuration_id in ids if configuration_id}
    by_id: dict[str, str] = {}
    if len(wanted) > 1:
        latest = entities(api.get("/configurations", limit=100), "items")
        by_id = {text(entry, "id"): text(entry, "name") for entry in latest if entry.get("id") in wanted}
    return by_id | {missing: _name(api, missing) for missing in sorted(wanted - by_id.keys())}


def named(entity: Entity, names: Mapping[str, str]) -> Entity:
    """The entity with `configuration_name` beside its `configuration_id`."""
    configuration_id = optional(entity, "configuration_id")
    return {**entity, "configuration_name": names.get(configuration_id) if configuration_id else None}


def version(entity: object, names: Mapping[str, str]) -> str:
    """`edge v3`; empty if the entity names no version."""
    if not isinstance(entity, dict) or not entity.get("configuration_id") or entity.get("version_number") is None:
        return ""
    configuration_id = text(entity, "configuration_id")
    return f"{names.get(configuration_id, configuration_id)} v{entity['version_number']}"


def _name(api: Api, configuration_id: str) -> str:
    try:
        return text(api.get(f"/configurations/{configuration_id}"), "name")
    except ServerError:
        return configuration_id

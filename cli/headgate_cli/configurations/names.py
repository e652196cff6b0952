"""Names of configurations, for tables and records that hold their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headgate_cli.api import Api, Entity, ServerError, entities, optional, text


def of(api: Api, ids: Iterable[str]) -> Mapping[str, str]:
    """By id; an id for what cannot be seen. One request for a single one, else one for the hundred changed last and one
    for each that is not among them."""
    wanted = {one for one in ids if one}
    found: dict[str, str] = {}
    if len(wanted) > 1:
        latest = entities(api.get("/configurations", limit=100), "items")
        found = {text(one, "id"): text(one, "name") for one in latest if one.get("id") in wanted}
    return found | {one: _name(api, one) for one in sorted(wanted - found.keys())}


def named(entity: Entity, names: Mapping[str, str]) -> Entity:
    """The entity with `configuration_name` beside its `configuration_id`."""
    configuration_id = optional(entity, "configuration_id")
    return {**entity, "configuration_name": names.get(configuration_id) if configuration_id else None}


def version(entity: object, names: Mapping[str, str]) -> str:
    """`edge v3`; empty where there is none."""
    if not isinstance(entity, dict) or not entity.get("configuration_id") or entity.get("version_number") is None:
        return ""
    configuration_id = text(entity, "configuration_id")
    return f"{names.get(configuration_id, configuration_id)} v{entity['version_number']}"


def _name(api: Api, configuration_id: str) -> str:
    try:
        return text(api.get(f"/configurations/{configuration_id}"), "name")
    except ServerError:
        return configuration_id

"""Rule sets, items of the versions table beside their version. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from headgate.configurations import keys
from headgate.configurations.model import VersionNotFound
from headgate.rules.model import RuleSet, StoredRule
from headgate.storage import items, table
from headgate.storage.items import Item, Value
from headgate.storage.table import Write
from headgate_engine.collector import Signal
from headgate_engine.rules.documents import rule_attributes, rule_of


def rule_set(configuration_id: str, n: int, pipeline: str) -> RuleSet | None:
    """One read. None if nothing was saved."""
    item = table.versions.get(keys.rules(configuration_id, n, pipeline))
    return _rule_set(item) if item else None


def rule_sets(configuration_id: str, n: int) -> list[RuleSet]:
    """Every set of a version, by pipeline; one query for each megabyte."""
    return [_rule_set(item) for item in table.versions.each(configuration_id, keys.rules_of(n))]


def save(configuration_id: str, n: int, saved: RuleSet, *records: Write) -> None:
    """One transaction, with `records` of the change, so that nothing is left of a version that is deleted meanwhile.

    Raises VersionNotFound, and LostRace unless the set is still the one before `saved`.
    """
    write = table.versions.put_if(
        keys.rules(configuration_id, n, saved.pipeline) | _item(saved),
        "attribute_not_exists(configuration_id) OR revision = :before",
        {":before": saved.revision - 1},
    )
    exists = table.versions.must_exist(keys.version(configuration_id, n))
    table.transact([exists, write, *records], {0: VersionNotFound()})


def _item(saved: RuleSet) -> Item:
    return {
        "pipeline": saved.pipeline,
        "name": saved.name,
        "signal_type": saved.signal_type,
        "revision": saved.revision,
        "rules": [{"id": rule.id, "api_owned": rule.api_owned, **rule_attributes(rule.rule)} for rule in saved.rules],
    }


def _rule_set(item: Item) -> RuleSet:
    rules = cast("list[Mapping[str, Value]]", item["rules"])
    return RuleSet(
        pipeline=items.text(item, "pipeline"),
        name=items.text(item, "name"),
        signal_type=cast("Signal", items.text(item, "signal_type")),
        rules=tuple(StoredRule(items.text(rule, "id"), rule["api_owned"] is True, rule_of(rule)) for rule in rules),
        revision=items.number(item, "revision"),
    )

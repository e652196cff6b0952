"""Rule sets, items of the versions table beside their version. One function, one access pattern."""

from __future__ import annotations

from typing import Final

from headgate.configurations import keys
from headgate.configurations.model import VersionNotFound
from headgate.runs.rules.model import RuleSet, StoredRule
from headgate.storage import table
from headgate.storage.stored import Stored
from headgate.storage.table import Write

_RULE_SETS: Final = Stored(RuleSet)
Stored(StoredRule, flat=["rule"], sparse=True)


def rule_set(configuration_id: str, n: int, pipeline: str) -> RuleSet | None:
    """One read. None if nothing was saved."""
    return table.versions.find(keys.rules(configuration_id, n, pipeline), _RULE_SETS.read)


def rule_sets(configuration_id: str, n: int) -> list[RuleSet]:
    """Every set of a version, by pipeline; one query for each megabyte."""
    return [_RULE_SETS.read(item) for item in table.versions.each(configuration_id, keys.rules_of(n))]


def save(configuration_id: str, n: int, saved: RuleSet, *records: Write) -> None:
    """One transaction, with `records` of the change, so that nothing is left of a version that is deleted meanwhile.

    Raises VersionNotFound, and LostRace unless the set is still the one before `saved`.
    """
    write = table.versions.put_if(
        keys.rules(configuration_id, n, saved.pipeline) | _RULE_SETS.item(saved),
        "attribute_not_exists(configuration_id) OR revision = :before",
        {":before": saved.revision - 1},
    )
    exists = table.versions.must_exist(keys.version(configuration_id, n))
    table.transact([exists, write, *records], {0: VersionNotFound()})

"""Rules that people add, edit and remove one by one in the application. Rules of the API do not change."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast, get_args

from headgate.configurations import service as configurations
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.runs.rules import service
from headgate.runs.rules.model import RuleSet, StoredRule, default_name
from headgate_engine.collector import Signal
from headgate_engine.rules.model import Rule


class RuleNotFound(errors.NotFound):
    """The pipeline has no such rule, or it was not added by hand."""

    code = "rule_not_found"
    detail = "No such rule among those that were added by hand"


def signal_of(pipeline: str) -> Signal:
    """The signal of a pipeline's id: `logs` of `logs/audit`. Raises Invalid if rules cannot test that signal."""
    signal = pipeline.partition("/")[0]
    if signal not in get_args(Signal):
        message = f"Rules test pipelines of {', '.join(get_args(Signal))}; this pipeline is not one of them"
        raise errors.Invalid(message, at=("path", "pipeline"))
    return cast("Signal", signal)


def add(caller: Caller, configuration_id: str, n: int, pipeline: str, rule: Rule) -> RuleSet:
    """Add a rule, beside any that others add at the same time. Raises as `service.save` does."""
    version = configurations.get_changeable_version(caller, configuration_id, n)
    service.require_testable(caller, version, pipeline, signal_of(pipeline), [rule])
    added = StoredRule(new_id("rul"), False, rule)
    return _change(
        caller, configuration_id, n, pipeline, "rule_by_hand.added", rule.name, lambda rules: [*rules, added]
    )


def edit(caller: Caller, configuration_id: str, n: int, pipeline: str, rule_id: str, rule: Rule) -> RuleSet:
    """Replace a rule, which keeps its id. Raises as `service.save` does, and RuleNotFound."""
    version = configurations.get_changeable_version(caller, configuration_id, n)
    service.require_testable(caller, version, pipeline, signal_of(pipeline), [rule])

    def edited(rules: Sequence[StoredRule]) -> list[StoredRule]:
        _require(rules, rule_id)
        return [replace(stored, rule=rule) if stored.id == rule_id else stored for stored in rules]

    return _change(caller, configuration_id, n, pipeline, "rule_by_hand.edited", rule.name, edited)


def remove(caller: Caller, configuration_id: str, n: int, pipeline: str, rule_id: str) -> RuleSet:
    """Remove a rule. Raises ConfigurationNotFound, VersionNotFound, NotTheOwner, RuleNotFound."""
    configurations.get_changeable_version(caller, configuration_id, n)

    def without(rules: Sequence[StoredRule]) -> list[StoredRule]:
        _require(rules, rule_id)
        return [rule for rule in rules if rule.id != rule_id]

    return _change(caller, configuration_id, n, pipeline, "rule_by_hand.removed", rule_id, without)


def _change(
    caller: Caller,
    configuration_id: str,
    n: int,
    pipeline: str,
    action: str,
    rule: str,
    changed: Callable[[Sequence[StoredRule]], Sequence[StoredRule]],
) -> RuleSet:
    def of_set(before: RuleSet) -> RuleSet:
        by_hand = changed([rule for rule in before.rules if not rule.api_owned])
        return before.replace(by_hand, before.name or default_name(pipeline), api_owned=False)

    record = service.record_by_hand(caller, configuration_id, n, pipeline, action, rule=rule)
    return service.save_changed(configuration_id, n, RuleSet(pipeline, "", signal_of(pipeline), (), 0), of_set, record)


def _require(rules: Sequence[StoredRule], rule_id: str) -> None:
    if not any(rule.id == rule_id for rule in rules):
        raise RuleNotFound

"""A rule as a part of an item, for every store that has rules."""

from collections.abc import Mapping
from typing import cast

from headgate.rules.model import Context, Expect, Rule
from headgate.storage import items
from headgate.storage.items import Value


def rule_attributes(rule: Rule) -> dict[str, Value]:
    """The attributes of a rule, without those that have no value."""
    values: dict[str, Value] = {
        "name": rule.name,
        "condition": rule.condition,
        "context": rule.context,
        "expect": rule.expect,
        "min": rule.min,
        "max": rule.max,
    }
    return {name: value for name, value in values.items() if value is not None}


def rule_of(attributes: Mapping[str, Value]) -> Rule:
    return Rule(
        name=items.text(attributes, "name"),
        condition=items.text(attributes, "condition"),
        context=cast("Context", items.text(attributes, "context")),
        expect=cast("Expect", items.text(attributes, "expect")),
        min=items.optional_number(attributes, "min"),
        max=items.optional_number(attributes, "max"),
    )

"""A rule as an item of a table holds it, for every store that keeps rules."""

from collections.abc import Mapping
from typing import cast

from headgate import dynamo
from headgate.dynamo import Value
from headgate.rules.model import Context, Expect, Rule


def rule_attributes(rule: Rule) -> dict[str, Value]:
    """The attributes of a rule, without those that it does not have."""
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
        name=dynamo.text(attributes, "name"),
        condition=dynamo.text(attributes, "condition"),
        context=cast("Context", dynamo.text(attributes, "context")),
        expect=cast("Expect", dynamo.text(attributes, "expect")),
        min=dynamo.optional_number(attributes, "min"),
        max=dynamo.optional_number(attributes, "max"),
    )

"""A rule as a part of a document, for every store that has rules."""

from collections.abc import Mapping
from typing import Final, cast

from pydantic import TypeAdapter

from headgate_engine.rules.model import Rule

_RULE: Final = TypeAdapter(Rule)


def rule_attributes(rule: Rule) -> dict[str, str | int]:
    """The attributes of a rule, without those that have no value."""
    return cast("dict[str, str | int]", _RULE.dump_python(rule, exclude_none=True))


def rule_of(attributes: Mapping[str, object]) -> Rule:
    """The rule that `rule_attributes` described. Raises ValidationError for anything else."""
    return _RULE.validate_python(attributes)

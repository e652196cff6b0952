"""Rules and rule sets, and what may become of a set."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from headgate.foundation import errors
from headgate.foundation.collector import Signal

Context = Literal["resource", "scope", "log", "span", "spanevent", "metric", "datapoint"]
Expect = Literal["any", "all", "none", "count"]

MOST_RULES: Final = 20
DEFAULT_CONTEXTS: Final[dict[Signal, Context]] = {"logs": "log", "traces": "span", "metrics": "datapoint"}


class RuleNamesRepeat(errors.Invalid):
    """Two rules of a set have the same name."""

    code = "rule_names_repeat"

    def __init__(self, name: str) -> None:
        message = f"The rule name '{name}' is there twice, or one was added by hand under it"
        super().__init__(message, [errors.FieldError(("body", "rules"), message)])


class TooManyRules(errors.Invalid):
    """With the rules that are kept, the set would be over its limit."""

    code = "too_many_rules"

    def __init__(self, count: int) -> None:
        message = f"With the rules that were added otherwise the set would hold {count}; {MOST_RULES} is the most"
        super().__init__(message, [errors.FieldError(("body", "rules"), message)])


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on what a pipeline put out, and how many things have to meet it."""

    name: str
    condition: str
    context: Context
    expect: Expect
    min: int | None = None
    max: int | None = None


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule of a set. `api_owned` tells whether it came through the API or was added by hand in the application."""

    id: str
    api_owned: bool
    rule: Rule


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A version's rules for one pipeline. `revision` counts its changes."""

    pipeline: str
    name: str
    signal_type: Signal
    rules: tuple[StoredRule, ...]
    revision: int

    def replace(self, added: Sequence[StoredRule], name: str, *, api_owned: bool) -> "RuleSet":
        """The set with the rules of that ownership replaced by `added`, and the others kept, first.

        Raises RuleNamesRepeat, TooManyRules.
        """
        rules = (*(one for one in self.rules if one.api_owned != api_owned), *added)
        if len(rules) > MOST_RULES:
            raise TooManyRules(len(rules))
        names: set[str] = set()
        for one in rules:
            if one.rule.name in names:
                raise RuleNamesRepeat(one.rule.name)
            names.add(one.rule.name)
        return replace(self, name=name, rules=rules, revision=self.revision + 1)


def default_name(pipeline: str) -> str:
    return f"API tests — {pipeline}"

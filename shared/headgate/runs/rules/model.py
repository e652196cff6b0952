"""Rules and rule sets, and which changes of a set are allowed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headgate.foundation import errors
from headgate_engine.collector import Signal
from headgate_engine.rules.model import MAX_RULES, Rule


class RuleNamesRepeat(errors.Invalid):
    """Two rules of a set have the same name."""

    code = "rule_names_repeat"
    at = ("body", "rules")

    def __init__(self, name: str) -> None:
        super().__init__(f"The rule name '{name}' is used twice; rules that were added by hand count too")


class TooManyRules(errors.Invalid):
    """With the rules that stay in it, the set would exceed its limit."""

    code = "too_many_rules"
    at = ("body", "rules")

    def __init__(self, count: int) -> None:
        super().__init__(f"With the rules that stay in it, the set would have {count}; {MAX_RULES} is the most")


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
        """The set with the rules of that ownership replaced by `added`. The others stay, and come first.

        Raises RuleNamesRepeat, TooManyRules.
        """
        rules = (*(rule for rule in self.rules if rule.api_owned != api_owned), *added)
        if len(rules) > MAX_RULES:
            raise TooManyRules(len(rules))
        names: set[str] = set()
        for stored in rules:
            if stored.rule.name in names:
                raise RuleNamesRepeat(stored.rule.name)
            names.add(stored.rule.name)
        return replace(self, name=name, rules=rules, revision=self.revision + 1)


def default_name(pipeline: str) -> str:
    return f"API tests — {pipeline}"

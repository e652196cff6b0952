"""Rule sets without a collector: replacing by ownership, their limits, keeping them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.configurations import keys
from headgate.configurations.model import VersionNotFound
from headgate.foundation.ids import new_id
from headgate.runs.rules import store
from headgate.runs.rules.model import RuleNamesRepeat, RuleSet, StoredRule, TooManyRules, default_name
from headgate.storage import table
from headgate.storage.retry import LostRace
from headgate_engine.rules.model import MAX_RULES, Rule
from headgate_local.template import Template

EMPTY = RuleSet("logs/app", "", "logs", (), 0)


def rules(*names: str, api_owned: bool = True) -> list[StoredRule]:
    return [StoredRule(new_id("rul"), api_owned, Rule(name, "true", "log", "count", 1, None)) for name in names]


def names(of: RuleSet) -> list[str]:
    return [one.rule.name for one in of.rules]


def test_rules_saved_through_the_api_are_replaced_and_those_added_by_hand_kept() -> None:
    by_hand = EMPTY.replace(rules("hand", api_owned=False), "By hand", api_owned=False)
    first = by_hand.replace(rules("a", "b"), "First", api_owned=True)
    second = first.replace(rules("c"), "Second", api_owned=True)

    assert names(first) == ["hand", "a", "b"]
    assert (names(second), second.name, second.revision) == (["hand", "c"], "Second", 3)


def test_a_name_is_there_once_whoever_gave_it() -> None:
    by_hand = EMPTY.replace(rules("a", api_owned=False), "", api_owned=False)

    with pytest.raises(RuleNamesRepeat):
        by_hand.replace(rules("a"), "", api_owned=True)


def test_a_set_holds_no_more_than_a_run_takes() -> None:
    by_hand = EMPTY.replace(rules("hand", api_owned=False), "", api_owned=False)

    with pytest.raises(TooManyRules):
        by_hand.replace(rules(*(str(n) for n in range(MAX_RULES))), "", api_owned=True)


def test_the_default_name_is_that_of_the_specification() -> None:
    assert default_name("logs/app") == "API tests — logs/app"


def with_versions(*numbers: int) -> str:
    """The id of a configuration that has these versions."""
    configuration_id = new_id("cfg")
    for n in numbers:
        table.versions.put(keys.version(configuration_id, n))
    return configuration_id


def test_what_is_kept_is_what_was_saved_by_pipeline_and_version(aws_here: Template) -> None:
    configuration_id = with_versions(1, 11)
    app, other = EMPTY.replace(rules("a"), "App", api_owned=True), RuleSet("traces", "T", "traces", (), 1)
    store.save(configuration_id, 1, app)
    store.save(configuration_id, 1, other)
    store.save(configuration_id, 11, other)

    assert store.rule_sets(configuration_id, 1) == [app, other]
    assert store.rule_set(configuration_id, 1, "logs/app") == app
    assert store.rule_set(configuration_id, 2, "logs/app") is None


def test_of_two_that_change_a_set_at_once_one_has_to_decide_again(aws_here: Template) -> None:
    configuration_id = with_versions(1)
    after = EMPTY.replace(rules("a"), "App", api_owned=True)

    def save(_: int) -> bool:
        try:
            store.save(configuration_id, 1, after)
        except LostRace:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(save, range(4))) == [False, False, False, True]


def test_no_rules_are_left_of_a_version_that_is_gone(aws_here: Template) -> None:
    configuration_id = with_versions(1)

    with pytest.raises(VersionNotFound):
        store.save(configuration_id, 2, EMPTY.replace(rules("a"), "App", api_owned=True))
    assert store.rule_sets(configuration_id, 2) == []

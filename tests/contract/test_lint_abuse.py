"""Expressions made to keep the linter busy or to break it: each ends in an error, and the process lives on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.checker import Checker, Refused
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support.askers import ASKER

pytestmark = [pytest.mark.contract, pytest.mark.collector]

ABUSE = {
    "nested calls that double the work": "Len(" * 30 + "body" + ") + 1" * 30 + " == 1",
    "nested calls, broken inside": "Len(" * 90 + "body body" + ")" * 90,
    "a hundred thousand parentheses": "(" * 100_000 + "true" + ")" * 100_000,
    "a hundred thousand open brackets": "[" * 100_000,
    "a deep map": '{"a":' * 5_000 + "1" + "}" * 5_000 + " == 1",
    "a pattern of 100 KB": 'IsMatch(body, "' + "(a|b)*c" * 15_000 + '")',
    "a pattern that repeats": 'IsMatch(body, "' + "(x{1000}){1000}" * 10 + '")',
    "patterns that multiply": 'IsMatch(ExtractGrokPatterns(body, "%{A}", true, ["A=%{B}%{B}%{B}%{B}%{B}", '
    '"B=%{C}%{C}%{C}%{C}%{C}", "C=%{D}%{D}%{D}%{D}%{D}", "D=%{E}%{E}%{E}%{E}%{E}", "E=%{F}%{F}%{F}%{F}%{F}", '
    '"F=%{G}%{G}%{G}%{G}%{G}", "G=%{DATA}%{DATA}"])["a"], "a")',
    "a pattern of itself": 'IsMatch(ExtractGrokPatterns(body, "%{A}", true, ["A=%{A}"])["a"], "a")',
    "thousands of terms": "body == 1 or " * 10_000 + "true",
    "thousands of sums": "1 + " * 10_000 + "1 == 1",
    "thousands of negations": "not " * 10_000 + "true",
    "an endless string": '"' + "a" * 500_000,
    "bytes of no character": "body == \x00\x01\ufffe",
}


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    """A checker of one process, which has 10 seconds for a request."""
    made = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, Limits(processes=1))
    yield made
    made.close()


@pytest.mark.parametrize("condition", ABUSE.values(), ids=ABUSE.keys())
def test_a_pathological_condition_is_an_error_and_nothing_more(checker: Checker, condition: str) -> None:
    good = {"context": "log", "conditions": ["true"]}
    checker.call("lint", good, asker=ASKER)
    before = checker.pids()

    result = checker.call("lint", {"context": "log", "conditions": ["true", condition, "body == 1"]}, asker=ASKER)

    items = result["items"]
    assert isinstance(items, list)
    assert [item["error"] is None for item in items] == [True, False, True]
    assert set(before) & set(checker.pids())
    assert checker.call("lint", good, asker=ASKER)["valid"]


def test_a_request_full_of_costly_conditions_is_answered(checker: Checker) -> None:
    costly = "(" * 95 + "body == 1" + ")" * 95
    text = "processors:\n  filter:\n    logs:\n      log_record:\n" + f"        - {costly}\n" * 200

    result = checker.call("lint", {"yaml": text}, asker=ASKER)

    assert result["checked"] == 200
    assert result["valid"] is False


def test_yaml_that_unfolds_without_end_is_refused(checker: Checker) -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )

    with pytest.raises(Refused) as refused:
        checker.call("lint", {"yaml": text + "processors: {logdedup: {conditions: *a8}}\n"}, asker=ASKER)

    assert refused.value.code == "yaml_syntax"

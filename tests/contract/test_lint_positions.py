"""Where the linter points: at the offending token of the sent text, in every style of YAML scalar."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support.askers import ASKER

pytestmark = [pytest.mark.contract, pytest.mark.collector]

MARK = "⟦"  # stands before the offending token, and is taken out before the text is sent

HEAD = "processors:\n  transform:\n    log_statements:\n      - context: log\n        statements:\n"

SCALARS = {
    "plain": "          - {}\n",
    "single quotes": "          - '{}'\n",
    "double quotes": '          - "{double}"\n',
    "double quotes, escapes before": '          - "\\t\\x20 {double}"\n',
    "double quotes, broken line": (
        '          - "set(cache[\\"日本\\"],\n\n             1) where \\\n              true and {where}"\n'
    ),
    "plain over lines": "          - set(cache,\n              1) where true\n              and {where}\n",
    "literal": "          - |\n            {}\n",
    "literal, stripped, deep": "          - |2-\n             set(cache, 1)\n               where true and {where}\n",
    "literal, kept": "          - |+\n\n            {}\n\n\n",
    "folded": "          - >\n            set(cache, 1)\n            where true\n            and {where}\n",
    "folded, stripped": (
        "          - >-\n\n            set(cache, 1)\n              where true\n\n            and {where}\n"
    ),
    "flow": "          ['set(cache, 1)', '{}']\n",
    "flow over lines": '          [ "set(cache, 1)",\n            "{double}"\n          ]\n',
    "anchor": "          - &broken '{}'\n",
    "tag": "          - !!str '{}'\n",
}

BROKEN = {
    "set(attributes, 1) where ⟦foo == 1": "⟦foo == 1",
    "set(attributes, 1) where ⟦IsNothing(body)": "⟦IsNothing(body)",
    "set(attributes, 1) where body ⟦= 1": "body ⟦= 1",
    "set(attributes, 1) where severity_number == ⟦SEVERITY_NUMBER_LOUD": "severity_number == ⟦SEVERITY_NUMBER_LOUD",
}

CASES = [
    pytest.param(scalar, statement, where, id=f"{style}: {where}")
    for style, scalar in SCALARS.items()
    for statement, where in BROKEN.items()
]


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    made = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, Limits(processes=1))
    yield made
    made.close()


def first_error(checker: Checker, text: str) -> dict[str, object]:
    result = checker.call("lint", {"yaml": text}, asker=ASKER)
    items = result["items"]
    assert isinstance(items, list)
    return next(item for item in items if item["error"])


def place(marked: str) -> tuple[int, int]:
    before = marked[: marked.index(MARK)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize(("scalar", "statement", "where"), CASES)
def test_the_offending_token_is_pointed_at(checker: Checker, scalar: str, statement: str, where: str) -> None:
    double = statement.replace('"', '\\"')
    marked = HEAD + scalar.replace("{}", statement).replace("{double}", double).replace("{where}", where)

    location = first_error(checker, marked.replace(MARK, ""))["location"]

    assert isinstance(location, dict)
    assert (location["line"], location["column"]) == place(marked)


def test_the_parsers_own_position_is_translated(checker: Checker) -> None:
    text = HEAD + "          - |\n            set(cache,\n              1) where body = 1\n"

    error = first_error(checker, text)["error"]

    assert isinstance(error, str)
    assert error.startswith('statement has invalid syntax: 8:29: unexpected token "="')


def test_an_escaped_dollar_moves_nothing(checker: Checker) -> None:
    marked = HEAD + '          - replace_pattern(body, "(a)", "$$1$$1") where ⟦foo == 1\n'

    location = first_error(checker, marked.replace(MARK, ""))["location"]

    assert isinstance(location, dict)
    assert (location["line"], location["column"]) == place(marked)


def test_an_alias_is_pointed_at_where_its_text_is(checker: Checker) -> None:
    marked = (
        "x: &conditions ['⟦foo == 1']\nprocessors:\n  filter:\n    traces:\n"
        "      span: *conditions\n      spanevent: *conditions\n"
    )

    result = checker.call("lint", {"yaml": marked.replace(MARK, "")}, asker=ASKER)

    items = result["items"]
    assert isinstance(items, list)
    assert [(item["location"]["line"], item["location"]["column"]) for item in items] == [place(marked)] * 2
    assert [item["location"]["path"] for item in items] == [
        "processors::filter::traces::span[0]",
        "processors::filter::traces::spanevent[0]",
    ]


def test_a_good_expression_is_pointed_at_where_it_starts(checker: Checker) -> None:
    marked = HEAD + "          - |\n\n            ⟦set(cache, 1)\n"

    result = checker.call("lint", {"yaml": marked.replace(MARK, "")}, asker=ASKER)

    items = result["items"]
    assert isinstance(items, list)
    location = items[0]["location"]
    assert (items[0]["error"], location["line"], location["column"]) == (None, *place(marked))

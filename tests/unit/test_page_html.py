"""Text in pages: escaped, and without a say in the direction of what comes after it."""

import pytest

from web.html import Html, html, separated, with_code

TURNED = "a\u202eb"


@pytest.mark.parametrize("name", [TURNED, "\u2067b", "שלום", "مرحبا"])
def test_a_name_that_turns_text_is_isolated_from_what_comes_after_it(name: str) -> None:
    assert html("<p>By {name}, {at}</p>", name=name, at="today") == f"<p>By <bdi>{name}</bdi>, today</p>"


def test_a_name_that_turns_nothing_stands_alone() -> None:
    assert html("<p>{name}</p>", name="naïve 東京 <1>") == "<p>naïve 東京 &lt;1&gt;</p>"


@pytest.mark.parametrize(
    "template",
    [
        '<a title="Account of {name}">x</a>',
        ' aria-label="Delete {name}"',
        '<a title="older > newer: {name}">x</a>',
        '<input value="{name}">',
        '<option value="x"{more}>{name}</option>',
        "<textarea{more}>\n{name}</textarea>",
        "<title>{name} · Headgate</title>",
        "<svg><text>{name}</text></svg>",
    ],
)
def test_no_element_is_put_where_only_text_can_stand(template: str) -> None:
    assert html(template, name=TURNED, more=Html("")) == template.format(name=TURNED, more="")


def test_each_text_of_a_list_is_isolated() -> None:
    assert html("<p>{names}</p>", names=[Html("<b>"), TURNED]) == f"<p><b><bdi>{TURNED}</bdi></p>"
    assert separated(", ", [TURNED, "b"]) == f"<bdi>{TURNED}</bdi>, b"
    assert with_code(f"a `{TURNED}`") == f"a <code><bdi>{TURNED}</bdi></code>"

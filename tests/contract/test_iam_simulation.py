"""How the tests of permissions evaluate policies: as moto does, and with conditions as IAM documents them."""

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.iam.access_control import IAMPolicy, PermissionResult

from tests.support.iam import Request, Statement, decide

NAMES = st.sampled_from(["dynamodb:GetItem", "dynamodb:Get*", "dynamodb:*", "s3:GetObject", "s3:*", "*"])
PLACES = st.sampled_from(["table/one", "table/*", "table/one/index/*", "bucket/runs/*", "*"])
STATEMENTS = st.lists(
    st.builds(
        Statement,
        st.just("One"),
        st.sampled_from(["Allow", "Deny"]),
        st.lists(NAMES, min_size=1, max_size=2).map(tuple),
        st.lists(PLACES, min_size=1, max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=4,
)


@given(
    STATEMENTS,
    st.sampled_from(["dynamodb:GetItem", "dynamodb:PutItem", "s3:GetObject"]),
    st.sampled_from(["table/one", "table/two", "table/one/index/a", "bucket/runs/a"]),
)
def test_without_conditions_it_is_decided_as_by_moto(statements: list[Statement], action: str, resource: str) -> None:
    nodes = [{"Effect": one.effect, "Action": [*one.actions], "Resource": [*one.resources]} for one in statements]
    theirs = IAMPolicy({"policy_document": json.dumps({"Statement": nodes})}).is_action_permitted(action, resource)

    assert (
        decide(statements, Request(action, resource, {}))
        == {
            PermissionResult.PERMITTED: "allowed",
            PermissionResult.DENIED: "denied",
            PermissionResult.NEUTRAL: "not allowed",
        }[theirs]
    )


def conditions() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], bool]]:
    """What IAM's documentation says of its operators, moto knows none of these: operator, wanted, values, holds."""
    yield "StringLike", ("a#*",), ("a#1",), True
    yield "StringLike", ("a#*",), ("b#1",), False
    yield "StringLike", ("a#*",), ("A#1",), False
    yield "StringLike", ("a?",), ("a1",), True
    yield "StringLike", ("a[1]",), ("a1",), False
    yield "StringLike", ("a#*",), (), False
    yield "StringNotLike", ("a#*",), ("b#1",), True
    yield "StringEquals", ("a*",), ("a1",), False
    yield "ForAllValues:StringLike", ("a#*", "b#*"), ("a#1", "b#1"), True
    yield "ForAllValues:StringLike", ("a#*",), ("a#1", "b#1"), False
    # The reason for `Null: false` beside it.
    yield "ForAllValues:StringLike", ("a#*",), (), True
    yield "ForAnyValue:StringLike", ("a#*",), ("a#1", "b#1"), True
    yield "ForAnyValue:StringLike", ("a#*",), ("b#1",), False
    yield "ForAnyValue:StringLike", ("a#*",), (), False
    yield "Null", ("false",), ("a#1",), True
    yield "Null", ("false",), (), False
    yield "Null", ("true",), (), True


@pytest.mark.parametrize(("operator", "wanted", "values", "holds"), [*conditions()])
def test_a_condition_holds_as_documented(
    operator: str, wanted: tuple[str, ...], values: tuple[str, ...], holds: bool
) -> None:
    allow = Statement("One", "Allow", ("*",), ("*",), ((operator, "key", wanted),))
    request = Request("dynamodb:GetItem", "table/one", {"key": values} if values else {})

    assert (decide([allow], request) == "allowed") is holds


def test_what_is_not_understood_is_not_passed_over() -> None:
    odd = Statement("One", "Allow", ("*",), ("*",), (("ForSomeValues:StringLike", "key", ("a",)),))

    with pytest.raises(AssertionError, match=re.escape("ForSomeValues:StringLike")):
        decide([odd], Request("a", "b", {"key": ("a",)}))

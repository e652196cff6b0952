"""What a role's policies decide, as IAM evaluates them: an explicit Deny, else an Allow, else nothing.

Only what template.yaml uses is understood; anything else fails rather than being passed over.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

Decision = Literal["allowed", "denied", "not allowed"]
Values = tuple[str, ...]
Condition = tuple[str, str, Values]
"""Operator, key and values, as in `("ForAllValues:StringLike", "dynamodb:LeadingKeys", ("rate#*",))`."""


@dataclass(frozen=True)
class Statement:
    sid: str
    effect: Literal["Allow", "Deny"]
    actions: Values
    resources: Values
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Request:
    """`context` has the values of condition keys; a key that the request has no value for is left out."""

    action: str
    resource: str
    context: Mapping[str, Values]


def decide(statements: Iterable[Statement], request: Request) -> Decision:
    effects = {one.effect for one in statements if applies(one, request)}
    if "Deny" in effects:
        return "denied"
    return "allowed" if "Allow" in effects else "not allowed"


def applies(statement: Statement, request: Request) -> bool:
    return (
        any(_like(pattern.lower(), request.action.lower()) for pattern in statement.actions)
        and any(_like(pattern, request.resource) for pattern in statement.resources)
        and all(_holds(one, request) for one in statement.conditions)
    )


def _holds(condition: Condition, request: Request) -> bool:
    operator, key, wanted = condition
    values = request.context.get(key, ())
    if operator == "Null":
        assert set(wanted) <= {"true", "false"}, condition
        return str(not values).lower() in wanted
    quantifier, _, name = operator.rpartition(":")
    test = _OPERATORS[name]
    match quantifier:
        case "ForAllValues":
            # True for an empty list of values, as in IAM.
            return all(test(wanted, value) for value in values)
        case "ForAnyValue":
            return any(test(wanted, value) for value in values)
        case "":
            assert len(values) <= 1, f"{operator} is for keys of one value: {values}"
            return bool(values) and test(wanted, values[0])
    raise AssertionError(f"the condition {operator} is not understood")


def _string_like(wanted: Sequence[str], value: str) -> bool:
    return any(_like(pattern, value) for pattern in wanted)


_OPERATORS: Final[Mapping[str, Callable[[Sequence[str], str], bool]]] = {
    "StringLike": _string_like,
    "StringNotLike": lambda wanted, value: not _string_like(wanted, value),
    "StringEquals": lambda wanted, value: value in wanted,
}


def _like(pattern: str, value: str) -> bool:
    return _expression(pattern).fullmatch(value) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    """IAM's two wildcards; fnmatch knows a third."""
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)

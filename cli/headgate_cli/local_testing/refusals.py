"""The API's refusals, for requests that no server sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from headgate_cli.api import Entity, ServerError
from headgate_cli.local_collector import OLDER, UNKNOWN, Refused

_MAX_RULES: Final = 20
_LARGEST_BOUND: Final = 1_000_000_000
_CONTEXTS: Final = ("resource", "scope", "log", "span", "spanevent", "metric", "datapoint")
_EXPECT: Final = ("any", "all", "none", "count")
_RULE: Final = ("name", "condition", "context", "expect", "min", "max")


def invalid(detail: str, errors: Sequence[Entity], code: str = "invalid") -> ServerError:
    return ServerError(422, code, detail, list(errors))


def of_field(place: Sequence[str | int], message: str, line: object = None, *, code: str = "invalid") -> ServerError:
    """One field that is wrong; the detail is the message alone."""
    entry: Entity = {"loc": ["body", *place], "message": message} | ({"line": line} if line else {})
    return invalid(message, [entry], code)


def of_question(refused: Refused) -> ServerError:
    """What the collector's checker answers instead of a result."""
    if refused.code == "too_costly":
        return of_field(["yaml"], refused.message, code="yaml_too_costly")
    if refused.code == "component_not_in_build":
        return ServerError(503, refused.code, refused.message, [])
    if refused.code == UNKNOWN:
        return ServerError(503, "not_run", OLDER, [])
    return ServerError(503, "sandbox_failed", f"The testing sandbox failed: {refused.message}", [])


def require_rules(rules: object, at: Sequence[str | int] = ("rules",), least: int = 1) -> None:
    """Raises ServerError for rules that the API's form does not take: it names each field."""
    found = [*_wrong_rules(rules, list(at), least)]
    if not found:
        return
    errors = [{"loc": ["body", *place], "message": message} for place, message in found]
    place, message = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    raise invalid(f"{'.'.join(map(str, ['body', *place]))}: {message}{more}", errors)


def _wrong_rules(rules: object, at: list[str | int], least: int) -> list[tuple[list[str | int], str]]:
    if not isinstance(rules, list):
        return [(at, "This must be a list")]
    if len(rules) < least:
        return [(at, "This must not be empty")]
    if len(rules) > _MAX_RULES:
        return [(at, f"This may have at most {_MAX_RULES} entries")]
    found = [
        ([*at, n, *place], message)
        for n, rule in enumerate(rules)
        for place, message in (_wrong_rule(rule) if isinstance(rule, Mapping) else [([], "This must be an object")])
    ]
    names = [str(rule.get("name")).strip() for rule in rules if isinstance(rule, Mapping)]
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if not found and repeated is not None:
        return [(at, f"The rule name '{repeated}' is used twice")]
    return found


def _wrong_rule(rule: Mapping[str, object]) -> list[tuple[list[str | int], str]]:
    found: list[tuple[list[str | int], str]] = []

    def check(field: str, message: str | None) -> None:
        if message:
            found.append(([field], message))

    check("name", _wrong_text(rule, "name", 200, stripped=True))
    check("condition", _wrong_text(rule, "condition", 4_096))
    if rule.get("context") is not None:
        check("context", _wrong_choice(rule["context"], _CONTEXTS))
    if "expect" in rule:
        check("expect", _wrong_choice(rule["expect"], _EXPECT))
    for bound in ("min", "max"):
        check(bound, _wrong_bound(rule.get(bound)))
    for field in rule:
        check(field, None if field in _RULE else "Unknown field")
    return found or [([], message) for message in _wrong_bounds(rule)]


def _wrong_text(rule: Mapping[str, object], field: str, most: int, *, stripped: bool = False) -> str | None:
    if field not in rule:
        return "This field is required"
    value = rule[field]
    if not isinstance(value, str):
        return "This must be text"
    if not (value.strip() if stripped else value):
        return "This must not be empty"
    return f"This may have at most {most:,} characters" if len(value.strip() if stripped else value) > most else None


def _wrong_choice(value: object, choices: Sequence[str]) -> str | None:
    if value in choices:
        return None
    *first, last = (f"'{choice}'" for choice in choices)
    return f"This must be one of {', '.join(first)} or {last}"


def _wrong_bound(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        return "This must be a whole number"
    if value < 0:
        return "This must be at least 0"
    return f"This must be at most {_LARGEST_BOUND:,}" if value > _LARGEST_BOUND else None


def _wrong_bounds(rule: Mapping[str, object]) -> list[str]:
    least, most = rule.get("min"), rule.get("max")
    if (least is not None or most is not None) != (rule.get("expect", "any") == "count"):
        return ["`expect: count` takes `min`, `max` or both, and no other takes any"]
    if isinstance(least, int) and isinstance(most, int) and least > most:
        return ["`min` is above `max`"]
    return []

"""The fields of a test, in a file and in the API: which there are, of what types, and what they mean if absent."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from headgate_cli.runs.stand_ins import FIELDS as STAND_INS
from headgate_cli.yaml_files import SIGNALS, Place

Fields = Mapping[str, object]

# Values in all fields of a file together; a text counts as one.
_MOST_VALUES: Final = 100_000
_DEEPEST: Final = 60
DURATION_SECONDS: Final = 5
# In the order of a file.
IN_API: Final = (
    *("target_pipeline", "signal_type", "sample", "sample_format", "sample_name", "duration_seconds"),
    *("feature_gates", *STAND_INS, "env", "rules", "expected", "ignore"),
)
# What a file has instead of a text of its own.
FILE_OF: Final = {"sample": "sample_file", "expected": "expected_file"}
_RULE: Final = ("name", "condition", "context", "expect", "min", "max")
_CONTEXTS: Final = {"logs": "log", "traces": "span", "metrics": "datapoint", "profiles": "profile"}


class Wrong(ValueError):
    """A field is not as it must be; `place` says which one."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


def check(document: Mapping[object, object]) -> None:
    """Check names and types, so far as a request could not carry them or the server could not name their place.

    Raises Wrong.
    """
    for field, value in document.items():
        if field not in _CHECKS:
            raise Wrong((str(field),), f"is not a field of a test{meant(str(field), _CHECKS)}")
        if value is not None:
            _CHECKS[str(field)]((str(field),), value)
    for field, file in FILE_OF.items():
        if _given(document, field) and _given(document, file):
            raise Wrong((file,), f"excludes {field}: give one of them")
    if not any(_given(document, field) for field in ("sample", "sample_file")):
        raise Wrong((), "sample is missing: give the sample's text, or the name of its file as sample_file")
    if not (document.get("rules") or any(_given(document, field) for field in ("expected", "expected_file"))):
        raise Wrong((), "rules are missing: a test needs rules, an expected output as expected_file, or both")


def plain(document: Mapping[object, object]) -> dict[str, object]:
    """The values as JSON has them, without those that are null; a sample that is not text becomes text of OTLP/JSON.

    Raises Wrong for a date, a cycle, or too many values.
    """
    fields = {field: value for field, value in values(document).items() if value is not None}
    sample = fields.get("sample", "")
    if not isinstance(sample, str):
        if fields.setdefault("sample_format", "otlp") != "otlp":
            raise Wrong(("sample_format",), "must be otlp, or left out, for a sample that is not text")
        documents = sample if isinstance(sample, list) else [sample]
        # As the server makes text of them.
        lines = [json.dumps(document, ensure_ascii=False, separators=(",", ":")) for document in documents]
        fields["sample"] = "\n".join(lines)
    return fields


def values(document: Mapping[object, object]) -> dict[str, object]:
    """The values as JSON has them. Raises Wrong for a date, a cycle, or too many values."""
    budget = iter(range(_MOST_VALUES))
    return {str(field): _plain(value, (str(field),), budget) for field, value in document.items()}


def essential(fields: Fields) -> dict[str, object]:
    """What a test says, with its defaults and without what is not given: equal for tests that say the same."""
    signal = str(fields.get("signal_type") or signal_of(fields))
    said = {field: fields.get(field) for field in IN_API} | {"signal_type": signal}
    said["duration_seconds"] = fields.get("duration_seconds") or DURATION_SECONDS
    rules = fields.get("rules")
    if isinstance(rules, list):
        said["rules"] = [_essential_rule(rule, signal) for rule in rules if isinstance(rule, Mapping)]
    # An expected output that is empty says that nothing may come out, and an empty `ignore` that all is compared.
    return {
        field: value
        for field, value in said.items()
        if value is not None and (value not in ([], {}) or field in ("expected", "ignore"))
    }


def digest(fields: Fields) -> str:
    """The SHA-256 of what a test says, as the server computes it (docs/test-suites.md)."""
    written = json.dumps(essential(fields), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


def signal_of(fields: Fields) -> str:
    return str(fields.get("target_pipeline") or "").partition("/")[0]


def _essential_rule(rule: Mapping[str, object], signal: str) -> dict[str, object]:
    # The server removes white space around a name.
    defaults = {"expect": "any", "context": _CONTEXTS.get(signal)}
    rule = {**rule, "name": str(rule.get("name")).strip()}
    return {field: value for field in _RULE if (value := rule.get(field, defaults.get(field))) is not None}


def meant(field: str, known: Iterable[str]) -> str:
    """What follows the refusal of a field: the name that was probably meant, or all that are known."""
    import difflib

    similar = difflib.get_close_matches(field, list(known), n=1)
    return f": did you mean {similar[0]}?" if similar else f": use {', '.join(known)}"


def _given(document: Mapping[object, object], field: str) -> bool:
    return document.get(field) is not None


def _plain(value: object, place: Place, budget: Iterator[int], depth: int = 0) -> object:
    if next(budget, None) is None:
        raise Wrong(place[:1], f"has more than {_MOST_VALUES:,} values: write the sample as text, or into a file")
    if depth > _DEEPEST:
        raise Wrong(place[:1], f"is nested more than {_DEEPEST} deep, or contains itself")
    match value:
        case None | bool() | int():
            return value
        case str():
            return _whole(value, place)
        case float() if math.isfinite(value):
            return value
        case list():
            return [_plain(entry, (*place, at), budget, depth + 1) for at, entry in enumerate(value)]
        case dict():
            return {
                _whole(str(key), place): _plain(entry, (*place, str(key)), budget, depth + 1)
                for key, entry in value.items()
            }
        case _:
            raise Wrong(place, f"is a {_kind(value)} in YAML: put it in quotes to make it text")


def _whole(text: str, place: Place) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Wrong(place, "contains half of a character (a surrogate)") from error
    return text


def _text(place: Place, value: object) -> None:
    if not isinstance(value, str):
        raise Wrong(place, f"must be text, and is {a_kind(value)}: put it in quotes")


def _one_of(*allowed: str) -> Callable[[Place, object], None]:
    def checked(place: Place, value: object) -> None:
        if value not in allowed:
            raise Wrong(place, f"must be {' or '.join(allowed)}")

    return checked


def _sample(place: Place, value: object) -> None:
    if isinstance(value, list) and value and all(isinstance(document, dict) for document in value):
        return
    if not isinstance(value, str | dict):
        raise Wrong(place, "must be text, an OTLP/JSON document or a list of such documents")


def _seconds(place: Place, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 60:
        raise Wrong(place, "must be a whole number of seconds from 1 to 60")


def _texts(place: Place, value: object) -> None:
    for at, entry in enumerate(_list(place, value)):
        _text((*place, at), entry)


def _rules(place: Place, value: object) -> None:
    for at, rule in enumerate(_list(place, value)):
        if not isinstance(rule, dict):
            raise Wrong((*place, at), "must have the fields name and condition")
        unknown = [str(field) for field in rule if field not in _RULE]
        if unknown:
            raise Wrong((*place, at, unknown[0]), f"is not a field of a rule{meant(unknown[0], _RULE)}")
        for field in ("name", "condition"):
            if field not in rule:
                raise Wrong((*place, at), f"{field} is missing")
            _text((*place, at, field), rule[field])


def _attributes(place: Place, value: object) -> None:
    for component, attributes in _mapping(place, value):
        for _ in _mapping((*place, str(component)), attributes):
            pass


def _env(place: Place, value: object) -> None:
    for variable, content in _mapping(place, value):
        _text((*place, str(variable)), content)


def _list(place: Place, value: object) -> Iterable[object]:
    if not isinstance(value, list):
        raise Wrong(place, f"must be a list, and is {a_kind(value)}")
    return value


def _mapping(place: Place, value: object) -> Iterable[tuple[object, object]]:
    if not isinstance(value, dict):
        raise Wrong(place, f"must be names with values, and is {a_kind(value)}")
    return value.items()


def a_kind(value: object) -> str:
    """`text`, or `a list` and the like."""
    kind = _kind(value)
    return kind if kind == "text" else f"a {kind}"


def _kind(value: object) -> str:
    match value:
        case bool():
            return "truth value"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list():
            return "list"
        case dict():
            return "mapping"
        case bytes():
            return "binary value"
        case _:
            return "date" if hasattr(value, "year") else "value of another type"


_CHECKS: Final[Mapping[str, Callable[[Place, object], None]]] = {
    "target_pipeline": _text,
    "signal_type": _one_of(*SIGNALS),
    "sample": _sample,
    "sample_file": _text,
    "sample_format": _one_of("raw", "otlp"),
    "sample_name": _text,
    "duration_seconds": _seconds,
    "feature_gates": _texts,
    **dict(zip(STAND_INS, (_texts, _texts, _attributes), strict=True)),
    "env": _env,
    "rules": _rules,
    "expected": _text,
    "expected_file": _text,
    "ignore": _texts,
}

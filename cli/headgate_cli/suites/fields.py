"""The fields of a test, in a file and in the API: which there are, of what types, and what they mean if absent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from headgate_cli.file_checks import Wrong, keys, list_of, mapping, mapping_of, one_of, or_null, text, values
from headgate_cli.runs.stand_ins import FIELDS as STAND_INS
from headgate_cli.yaml_files import SIGNALS, Place

Fields = Mapping[str, object]

DURATION_SECONDS: Final = 5
# In the order of a file.
IN_API: Final = (
    *("target_pipeline", "signal_type", "sample", "sample_format", "sample_name", "duration_seconds"),
    *("feature_gates", *STAND_INS, "env", "rules", "expected", "ignore"),
)
# What a file has instead of a text of its own.
FILE_OF: Final = {"sample": "sample_file", "expected": "expected_file"}
_RULE: Final = ("name", "condition", "context", "expect", "min", "max")
CONTEXTS: Final = {"logs": "log", "traces": "span", "metrics": "datapoint", "profiles": "profile"}


def check(document: Mapping[object, object]) -> None:
    """Check names and types, so far as a request could not carry them or the server could not name their place.

    Raises Wrong.
    """
    _CHECK((), document)
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


def essential(fields: Fields) -> dict[str, object]:
    """The content of a test with its defaults and without absent fields: equal for tests that say the same."""
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
    defaults = {"expect": "any", "context": CONTEXTS.get(signal)}
    rule = {**rule, "name": str(rule.get("name")).strip()}
    return {field: value for field in _RULE if (value := rule.get(field, defaults.get(field))) is not None}


def _given(document: Mapping[object, object], field: str) -> bool:
    return document.get(field) is not None


def _sample(place: Place, value: object) -> object:
    documents = isinstance(value, list) and value and all(isinstance(document, dict) for document in value)
    if not documents and not isinstance(value, str | dict):
        raise Wrong(place, "must be text, an OTLP/JSON document or a list of such documents")
    return value


def _seconds(place: Place, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 60:
        raise Wrong(place, "must be a whole number of seconds from 1 to 60")
    return value


def _rule(place: Place, value: object) -> object:
    if not isinstance(value, dict):
        raise Wrong(place, "must have the fields name and condition")
    return _RULE_CHECK(place, value)


_RULE_CHECK: Final = keys(
    {**dict.fromkeys(_RULE, lambda _, value: value), "name": text, "condition": text},
    ("name", "condition"),
    noun="a field of a rule",
)
_TEXTS: Final = list_of(text)
_CHECK: Final = keys(
    {
        field: or_null(check)
        for field, check in {
            "target_pipeline": text,
            "signal_type": one_of(SIGNALS),
            "sample": _sample,
            "sample_file": text,
            "sample_format": one_of(("raw", "otlp")),
            "sample_name": text,
            "duration_seconds": _seconds,
            "feature_gates": _TEXTS,
            **dict(zip(STAND_INS, (_TEXTS, _TEXTS, mapping_of(mapping)), strict=True)),
            "env": mapping_of(text),
            "rules": list_of(_rule),
            "expected": text,
            "expected_file": text,
            "ignore": _TEXTS,
        }.items()
    },
    noun="a field of a test",
)

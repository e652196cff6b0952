"""Where the cursor is in a configuration, in texts that mostly do not parse. The cursor is `‸`."""

import pytest

from headgate_cli.lsp.configuration import is_collector
from headgate_cli.lsp.ottl_fields import field_at
from headgate_cli.lsp.place import place_at, siblings_above
from headgate_cli.lsp.text import DocumentText
from headgate_cli.lsp.tree import Path

BLOCK = "processors:\n  transform:\n    log_statements:\n      - context: log\n        conditions: [a]\n"
PIPELINE = "service:\n  pipelines:\n    logs:\n"


@pytest.mark.parametrize(
    ("marked", "role", "path", "typed"),
    [
        ("‸", "key", (), ""),
        ("rec‸\nservice:\n", "key", (), "rec"),
        ("receivers:\n  ot‸", "key", ("receivers",), "ot"),
        ("receivers:\n  otlp:\n    a: b\n    c:\n      d:\n  ‸\nx:\n", "key", ("receivers",), ""),
        ("receivers:\n  otlp:\n    c: ‸", "value", ("receivers", "otlp", "c"), ""),
        ('receivers:\n  otlp:\n    c: "v‸', "value", ("receivers", "otlp", "c"), "v"),
        ("receivers:\n  otlp: &a\n    c: d‸", "value", ("receivers", "otlp", "c"), "d"),
        (f"{PIPELINE}      receivers: [a, b‸, c]\n", "entry", ("service", "pipelines", "logs", "receivers", 1), "b"),
        (
            f"{PIPELINE}      receivers:\n      - a\n      - ‸\n",
            "key",
            ("service", "pipelines", "logs", "receivers", 1),
            "",
        ),
        (
            f"{PIPELINE}      receivers: [\n        a,\n        b‸\n",
            "entry",
            ("service", "pipelines", "logs", "receivers", 1),
            "b",
        ),
        ("receivers: {otlp: {protocols: {gr‸", "key", ("receivers", "otlp", "protocols"), "gr"),
        ("receivers: {otlp: {endpoint: 0.0‸", "value", ("receivers", "otlp", "endpoint"), "0.0"),
        (
            f"{BLOCK}        statements:\n          - set(a‸",
            "entry",
            ("processors", "transform", "log_statements", 0, "statements", 0),
            "set(a",
        ),
        (f"{BLOCK}        ‸", "key", ("processors", "transform", "log_statements", 0), ""),
        (f"{BLOCK}      - con‸", "key", ("processors", "transform", "log_statements", 1), "con"),
        ("a:\n  b: |\n    c: d\n      e‸", "scalar", ("a", "b"), "c: d\n      e"),
        ("a:\n  b: c # d‸", "comment", ("a",), ""),
        ('a:\n  b: "# d‸', "value", ("a", "b"), "# d"),
        ("\"a b\":\n  'c':\n    d‸", "key", ("a b", "c"), "d"),
        ("a:\r\n  b:\r\n    ‸", "key", ("a", "b"), ""),
    ],
)
def test_the_cursors_place_is_known_by_indentation(marked: str, role: str, path: Path, typed: str) -> None:
    place = place_at(DocumentText(marked.replace("‸", "")), marked.index("‸"))

    assert (place.role, place.path, place.typed) == (role, path, typed)


def test_siblings_are_the_other_keys_of_the_same_mapping() -> None:
    marked = "a:\n  b: 1\n  c:\n    d: 2\n  ‸\n  e: 3\nf: 4\n"
    place = place_at(DocumentText(marked.replace("‸", "")), marked.index("‸"))

    assert dict(place.siblings) == {"b": "1", "c": "", "e": "3"}


def test_the_context_beside_an_expression_is_found_above_and_below_it() -> None:
    below = "a:\n  log_statements:\n    - statements:\n        - set(a\n      context: scope\n"
    above = f"{BLOCK}        statements:\n          - set(b"
    assert siblings_above(DocumentText(below), below.index("set"), "context") == "scope"
    assert siblings_above(DocumentText(above), above.index("set"), "context") == "log"


@pytest.mark.parametrize(
    ("path", "kind", "contexts"),
    [
        (("processors", "transform/x", "log_statements", 0), "statement", ("log", "scope", "resource")),
        (("processors", "filter", "logs", "log_record", 3), "condition", ("log",)),
        (
            ("processors", "tail_sampling", "policies", 0, "and", "and_sub_policy", 1, "ottl_condition", "span", 0),
            "condition",
            ("span",),
        ),
        (("connectors", "count", "spans", "my.count", "conditions", 0), "condition", ("span",)),
        (
            ("connectors", "routing", "table", 0, "statement"),
            "statement",
            ("resource", "span", "metric", "datapoint", "log"),
        ),
        (("connectors", "signaltometrics", "logs", 0, "sum", "value"), "value_expression", ("log",)),
    ],
)
def test_the_settings_that_hold_ottl_are_known(path: Path, kind: str, contexts: tuple[str, ...]) -> None:
    field = field_at(path)

    assert field is not None
    assert (field.kind, field.contexts) == (kind, contexts)


@pytest.mark.parametrize(
    "path",
    [
        ("processors", "transform", "error_mode"),
        ("processors", "batch", "timeout"),
        ("processors",),
        ("service", "a", "b"),
    ],
)
def test_other_settings_hold_no_ottl(path: Path) -> None:
    assert field_at(path) is None


@pytest.mark.parametrize(
    ("content", "language", "file", "expected"),
    [
        ("receivers:\n  otlp:\nservice:\n", "yaml", "file:///a.yaml", True),
        ("receivers:\n", "yaml", "file:///a.yaml", True),
        ("receivers: broken: [\nexporters:\n", "yaml", "file:///a.yaml", True),
        ("route:\nreceivers:\n- name: x\n", "yaml", "file:///alertmanager.yaml", False),
        ("service: x\nfunctions:\n", "yaml", "file:///serverless.yml", False),
        ("services:\n  web:\n", "yaml", "file:///compose.yaml", False),
        ("apiVersion: v1\nkind: ConfigMap\n", "yaml", "file:///otel.yaml", False),
        ("", "yaml", "file:///otel-collector.yaml", True),
        ("", "yaml", "file:///a.yaml", False),
        ("a: b\n", "otelcol", "file:///a.yaml", True),
    ],
)
def test_only_yaml_that_looks_like_a_collectors_is_one(content: str, language: str, file: str, expected: bool) -> None:
    assert is_collector(content, language, file) is expected

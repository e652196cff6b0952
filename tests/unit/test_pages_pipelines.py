"""Which pipelines a text names."""

import pytest

from headgate.configurations import pipelines as module
from headgate.configurations.pipelines import pipelines

TEXT = """\
receivers: {a: {service: {pipelines: {no: 1}}}}
service:
  extensions: [x, {pipelines: {no: z}}, *a]
  pipelines:
    logs: {receivers: [a], service: {pipelines: {no: 1}}}
    traces/b c:
    'metrics/[x]': {receivers: [], processors: [batch]}
    ? [a, b]
    : {no: y}
    logs/z: *a
  telemetry: {pipelines: {no: 1}}
pipelines: {no: b}
"""


def test_the_keys_below_service_pipelines_are_the_pipelines() -> None:
    assert pipelines(TEXT) == ["logs", "traces/b c", "metrics/[x]", "logs/z"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x: &p {logs: , traces: }\nservice: {pipelines: *p}", ["logs", "traces"]),
        ("x: &s {pipelines: {logs: }}\nservice: *s", ["logs"]),
        ("x: &s {pipelines: &p {logs: }}\nservice: {<<: *s}", ["logs"]),
        ("x: &a {logs: }\ny: &b {traces: }\nservice: {pipelines: {<<: [*a, *b, *a], l: }}", ["logs", "traces", "l"]),
        ("x: &a {logs: }\ny: &b {<<: *a, traces: }\nservice: {pipelines: {logs: , <<: *b}}", ["logs", "traces"]),
        ("x: &n logs/a\nservice: {pipelines: {*n : {}}}", ["logs/a"]),
        # The last before it counts, and what is not there, or names itself, is nothing.
        ("x: &p {logs: }\ny: &p {traces: }\nservice: {pipelines: *p}\nz: &p {metrics: }", ["traces"]),
        ("service: {pipelines: {<<: *none, logs: }}", ["logs"]),
        ("service: {pipelines: &p {<<: *p, logs: }}", ["logs"]),
    ],
)
def test_anchors_and_merges_are_followed(text: str, expected: list[str]) -> None:
    assert pipelines(text) == expected


KEYS = "{" + ", ".join(f"k{n}: " for n in range(500)) + "}\n"
BOMB = "".join(f"x{n}: &x{n} {{<<: [{', '.join([f'*x{n - 1}'] * 9)}]}}\n" for n in range(1, 100))


@pytest.mark.parametrize(
    "text",
    [
        f"x: &x {KEYS}" + "service: {pipelines: *x}\n" * 500,
        f"x: &x {KEYS}" + "service: {pipelines: {<<: *x}}\n" * 500,
        f"x0: &x0 {KEYS}{BOMB}service: {{pipelines: *x99}}",
    ],
)
def test_what_is_named_again_and_again_is_looked_at_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    entries = module._entries
    monkeypatch.setattr(module, "_entries", lambda level: (looked.append(one) or one for one in entries(level)))

    assert len(pipelines(text)) == 500
    assert len(looked) < 3_000


def test_what_stands_before_a_mistake_is_read() -> None:
    assert pipelines("service: {pipelines: {logs: {}, traces: [") == ["logs", "traces"]


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "service:", "service: []", "service: {pipelines: logs}", "{" * 100_000, "a: [\0"]
)
def test_a_text_without_pipelines_has_none(text: str) -> None:
    assert pipelines(text) == []


def test_where_tags_are_declared_by_the_hundred_nothing_is_read() -> None:
    named = "---\nservice: {pipelines: {logs: {}}}\n"

    assert pipelines("%TAG !a! x\n" + named) == ["logs"]
    assert pipelines("".join(f"%TAG !a{n}! x\n" for n in range(101)) + named) == []

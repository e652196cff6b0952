"""Which pipelines a text names."""

import pytest

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


def test_what_stands_before_a_mistake_is_read() -> None:
    assert pipelines("service: {pipelines: {logs: {}, traces: [") == ["logs", "traces"]


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "service:", "service: []", "service: {pipelines: logs}", "{" * 100_000, "a: [\0"]
)
def test_a_text_without_pipelines_has_none(text: str) -> None:
    assert pipelines(text) == []

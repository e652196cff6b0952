"""Which signals a configuration delivers, by its text."""

import pytest

from headgate.configurations.delivery import delivering, undelivered

_PIPELINES = "service: {{pipelines: {{{}}}}}\n"


def text(**pipelines: str) -> str:
    listed = ", ".join(f"{name.replace('_', '/')}: {{exporters: [{given}]}}" for name, given in pipelines.items())
    return "connectors: {count: {}, routing/a: {}}\n" + _PIPELINES.format(listed)


def test_exporters_that_throw_away_and_connectors_deliver_nothing() -> None:
    assert delivering(text(logs="debug, otlp/a, count", logs_b="file", traces="nop/x, routing/a")) == {
        "logs": ["otlp/a", "file"],
        "traces": [],
    }


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        (text(logs="otlp"), text(logs="debug"), ["logs"]),
        (text(logs="otlp", traces="otlp"), text(logs="otlp/b"), ["traces"]),
        (text(logs="debug"), text(logs="nop"), []),
        (text(logs="otlp"), text(logs="debug", logs_b="kafka"), []),
        (text(logs="otlp"), "exporters: [", ["logs"]),
        ("", text(logs="debug"), []),
    ],
)
def test_a_signal_without_an_exporter_that_delivers_is_lost(before: str, after: str, lost: list[str]) -> None:
    assert undelivered(before, after) == lost

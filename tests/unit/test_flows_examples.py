"""How flows configure each component, cut out of their texts."""

from dataclasses import replace

import pytest
import yaml

from headgate.flows import examples
from headgate.flows.model import ComponentExample, Flow, FullFlow
from headgate.flows.source import load
from tests.support.service import ROOT

FLOW = Flow("one", "One", "s", "s", "a", ("logs",), ("t",), "0.139.0", "otelcol-contrib")
TEXT = """\
receivers:
  otlp/in:
    protocols:
      grpc: {}   # a comment of its own

  # about nginx
  nginx: {endpoint: http://localhost}
processors:
  batch:
exporters:
  debug: &debug
    verbosity: basic
  debug/more: *debug
service: {pipelines: {}}
"""


def texts(*flows: tuple[str, str]) -> dict[str, str]:
    made = [FullFlow(replace(FLOW, slug=slug), "", text) for slug, text in flows]
    return {f"{one.kind} {one.type} {one.flow}": one.yaml for one in examples.of_flows(made)}


def test_each_component_has_its_own_lines() -> None:
    found = texts(("one", TEXT))

    assert found == {
        "exporter debug one": "exporters:\n  debug: &debug\n    verbosity: basic\n",
        "processor batch one": "processors:\n  batch:\n",
        "receiver nginx one": "receivers:\n  nginx: {endpoint: http://localhost}\n",
        "receiver otlp one": "receivers:\n  otlp/in:\n    protocols:\n      grpc: {}   # a comment of its own\n",
    }


def test_the_shortest_goes_first_but_one_without_settings_last() -> None:
    bare, long, short = (
        f"processors:\n  batch:\n{settings}" for settings in ("", "    timeout: 10s\n    a: 1\n", "    timeout: 5s\n")
    )

    assert list(texts(("bare", bare))) == ["processor batch bare"]
    assert list(texts(("bare", bare), ("long", long), ("short", short))) == ["processor batch short"]


def test_every_component_of_the_gallery_has_an_example_that_is_yaml() -> None:
    flows = [source.published() for source in load(ROOT / "flows")]
    used = {
        (section.removesuffix("s"), name.partition("/")[0])
        for flow in flows
        for section, components in yaml.safe_load(flow.yaml).items()
        if section != "service"
        for name in components
    }
    found = examples.of_flows(flows)

    assert {(one.kind, one.type) for one in found} == used
    for one in found:
        ((section, components),) = yaml.safe_load(one.yaml).items()
        assert (section.removesuffix("s"), [name.partition("/")[0] for name in components]) == (one.kind, [one.type])


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("connectors:\n  spanmetrics:\n    a: spanmetrics\n", "connectors:\n  span_metrics:\n    a: spanmetrics\n"),
        ("  # spanmetrics: no\n  spanmetrics/a: {}\n", "  # spanmetrics: no\n  span_metrics/a: {}\n"),
        ("connectors:\n  spanmetrics2:\n", "connectors:\n  spanmetrics2:\n"),
    ],
)
def test_an_example_is_shown_with_another_name_of_its_type(text: str, renamed: str) -> None:
    example = ComponentExample("connector", "spanmetrics", text, "red-metrics").renamed("span_metrics")

    assert (example.type, example.yaml) == ("span_metrics", renamed)

"""A value in a YAML text is set, and every other byte stays."""

import click
import pytest

from headgate_cli.configurations.edit_many import SettingType
from headgate_engine.setting import Absent, NotSettable, Setting, edited
from headgate_engine.yaml_text import NotYaml

TEXT = """\
# The head.
receivers:
  otlp: {protocols: {grpc: }}   # flow
x: &shared
  endpoint: a
exporters:
  otlphttp:
    endpoint: "https://a.example.com" # where to
    headers:
      x-team: shop

  debug:
  otlphttp/two: *shared
  otlphttp/three:
    <<: *shared
    # of three
    timeout: 5s
service:
  pipelines:
    logs: {receivers: [otlp], exporters: [otlphttp, debug]}
"""


def setting(written: str) -> Setting:
    return SettingType().convert(written, None, None)


@pytest.mark.parametrize(
    ("written", "before", "after"),
    [
        ("exporters.otlphttp.endpoint=https://b.example.com", '"https://a.example.com"', "https://b.example.com"),
        ("exporters::otlphttp::endpoint=a: b", '"https://a.example.com"', "'a: b'"),
        ("exporters.otlphttp.headers.x-team=", "x-team: shop", 'x-team: ""'),
        ("exporters.otlphttp.headers.x-zone=a", "      x-team: shop\n", "      x-team: shop\n      x-zone: a\n"),
        ("exporters.otlphttp.tls.insecure=true", "x-team: shop\n", "x-team: shop\n    tls:\n      insecure: true\n"),
        ("exporters.debug.verbosity=basic", "  debug:\n", "  debug:\n    verbosity: basic\n"),
        ("receivers.otlp.protocols.grpc.endpoint=[::]:4317", "{grpc: }", "{grpc: {endpoint: '[::]:4317'}}"),
        ("receivers.otlp.protocols.grpc=0", "{grpc: }", "{grpc: 0}"),
        ("receivers.otlp.protocols.http={}", "{grpc: }", "{grpc: , http: {}}"),
        ("exporters.otlphttp/three.timeout=6s", "timeout: 5s", "timeout: 6s"),
        ("exporters.otlphttp/three.endpoint=b", "timeout: 5s\n", "timeout: 5s\n    endpoint: b\n"),
        ("service.pipelines.logs.exporters.1=otlphttp/two", "[otlphttp, debug]", "[otlphttp, otlphttp/two]"),
        ("service.pipelines.logs.receivers=[]", "receivers: [otlp]", "receivers: []"),
        ("exporters.otlphttp.endpoint=https://a.example.com", "", ""),
    ],
)
def test_one_value_changes_and_comments_stay(written: str, before: str, after: str) -> None:
    assert TEXT.count(before) == 1 or not before

    assert edited(TEXT, [setting(written)]) == TEXT.replace(before, after)


def test_a_text_without_the_component_is_told_apart() -> None:
    with pytest.raises(Absent, match="It has no exporters::kafka"):
        edited(TEXT, [setting("exporters.kafka.brokers=[a]")])


def test_what_an_anchor_shares_is_not_changed_by_itself() -> None:
    with pytest.raises(NotSettable, match="an anchor or a merge shares what is there"):
        edited(TEXT, [setting("exporters.otlphttp/two.endpoint=b")])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("exporters.otlphttp.endpoint", "has no ="),
        ("endpoint=b", "is not the path of a setting"),
        ("exporters..endpoint=b", "is not the path of a setting"),
        ("exporters.otlphttp.endpoint={a", "the value is not YAML"),
    ],
)
def test_what_is_no_setting_is_refused_with_how_to_write_one(written: str, said: str) -> None:
    with pytest.raises(click.BadParameter, match=said):
        setting(written)


def test_a_value_whose_anchors_expand_without_end_is_refused_at_once() -> None:
    levels = ", ".join(f"&a{n + 1} [*a{n}, *a{n}]" for n in range(40))

    with pytest.raises(click.BadParameter, match="its anchors expand to more than 200,000 values"):
        setting(f"exporters.debug.verbosity=[&a0 [x], {levels}]")


@pytest.mark.parametrize("scalar", ["1" + ":59" * 200 + ".5", '!!int ""', "!!bool perhaps", "!!timestamp later"])
def test_a_value_that_is_not_of_its_tag_is_not_yaml(scalar: str) -> None:
    with pytest.raises(NotYaml):
        edited(f"exporters: {{debug: {{verbosity: {scalar}}}}}", [setting("exporters.debug.verbosity=basic")])


@pytest.mark.parametrize("anchors", [[f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}]" for n in range(40)], ["b: &b [*b]"]])
def test_a_text_whose_anchors_expand_without_end_is_refused_at_once(anchors: list[str]) -> None:
    text = "\n".join(["a0: &a0 [1]", *anchors, TEXT])

    with pytest.raises(NotSettable, match="its anchors expand to more than 200,000 values"):
        edited(text, [setting("exporters.otlphttp.endpoint=b")])

"""Where exporters send to, as the text of a configuration says it."""

import pytest

from headgate.instances.series.destinations import host_of, hosts

TEXT = """\
defaults: &tls {endpoint: "https://Merged.example.com:443/v1"}
exporters:
  otlp/a: {endpoint: "a.example.com:4317"}
  otlphttp/b: {endpoint: "${env:SCHEME:-https}://b.example.com/otlp"}
  otlphttp/merged: {<<: *tls}
  otlphttp/secret: {endpoint: "${env:ADDRESS}"}
  otlphttp/parts: {logs_endpoint: "https://one.example.com/l", traces_endpoint: "https://one.example.com/t"}
  kafka/one: {brokers: ["k.example.com:9092"]}
  kafka/two: {brokers: ["k1.example.com:9092", "k2.example.com:9092"]}
  debug:
"""


def test_each_exporter_has_the_host_that_its_text_names() -> None:
    assert hosts(TEXT, {}) == {
        "otlp/a": "a.example.com",
        "otlphttp/b": "b.example.com",
        "otlphttp/merged": "merged.example.com",
        "otlphttp/secret": None,
        "otlphttp/parts": "one.example.com",
        "kafka/one": "k.example.com",
        "kafka/two": None,
        "debug": None,
    }


def test_a_variable_of_the_group_is_known() -> None:
    assert hosts(TEXT, {"ADDRESS": "https://backend.example.com:4318"})["otlphttp/secret"] == "backend.example.com"


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("[2001:db8::1]:4317", "2001:db8::1"),
        ("https://user@h.example.com:443/x?y=z", "h.example.com"),
        ("dns:///h.example.com:4317", "h.example.com"),
        ("", None),
        ("https://[", None),
        ("$NAME", None),
    ],
)
def test_an_address_has_a_host_or_none(address: str, host: str | None) -> None:
    assert host_of(address, {}) == host


@pytest.mark.parametrize(
    "text", ["", "[", "exporters: [a]", "a: &a {exporters: {b: *a}}", "exporters: {a: {endpoint: {b: c}}}"]
)
def test_a_text_that_says_nothing_has_no_hosts(text: str) -> None:
    assert set(hosts(text, {}).values()) <= {None}

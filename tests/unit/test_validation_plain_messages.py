"""What is read from the plain command's text. Every message is one that otelcol-contrib 0.139.0 printed."""

import pytest

from headgate_engine.validation.model import Finding, Variable
from headgate_engine.validation.plain_messages import findings, variables

DECODING = (
    "failed to get config: cannot unmarshal the configuration: decoding failed due to the following error(s):\n\n"
)
RESOLVING = "failed to get config: cannot resolve the configuration: "
NOT_YAML = "retrieved value (type=string) cannot be used as a Conf: assuming string type since contents are not valid"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            DECODING + '\'receivers\' unknown type: "foo" for id: "foo/bar" (valid values: [otlp nop])\n'
            '\'processors\' unknown type: "zzz" for id: "zzz" (valid values: [batch])',
            ["receivers::foo/bar", "processors::zzz"],
        ),
        (
            DECODING + "'receivers' error reading configuration for \"otlp/a.b\": decoding failed due to the following "
            "error(s):\n\n'' has invalid keys: endpoin, foo\n'protocols.http' has invalid keys: a\n"
            "'exporters' error reading configuration for \"debug\": decoding failed due to the following error(s):\n\n"
            "'verbosity' unknown metrics level \"zzz\"",
            ["receivers::otlp/a.b", "exporters::debug"],
        ),
        (
            DECODING + "'service.telemetry.metrics' expected type 'int', got unconvertible type 'string', value: "
            "'x in \"evil::path\" y'",
            ["service::telemetry::metrics"],
        ),
        (DECODING + "'service.pipelines[logs]' has invalid keys: a, b", ["service::pipelines[logs]::a"]),
        (
            DECODING + "'receivers' error reading configuration for \"otlp\": decoding failed due to the following "
            "error(s):\n\n'protocols.grpc' decoding failed due to the following error(s):\n\n"
            "'max_concurrent_streams' expected type 'uint32', got unconvertible type 'string'",
            ["receivers::otlp"],
        ),
        (
            DECODING + "'receivers' '' in \"otlp/\" id: the part after / should not be empty",
            ["receivers::otlp/"],
        ),
        (DECODING + "'' has invalid keys: foo", ["foo"]),
        (DECODING + "'service' has invalid keys: telemetri", ["service::telemetri"]),
        (
            DECODING + '\'service.pipelines\' in "log" id: unknown pipeline signal: "log"',
            ["service::pipelines::log"],
        ),
        (
            "processors::memory_limiter: 'check_interval' must be greater than zero\n"
            "processors::batch: send_batch_max_size must be greater or equal to send_batch_size",
            ["processors::memory_limiter", "processors::batch"],
        ),
        (
            'service::pipelines::logs/x: references receiver "nop" which is not configured',
            ["service::pipelines::logs/x"],
        ),
        (
            'failed to build pipelines: connector "forward" used as exporter in [logs] pipeline but not used in any '
            "supported receiver pipeline",
            ["connectors::forward"],
        ),
        (RESOLVING + 'scheme "NAME" is not supported for uri "NAME:-x"', ["service"]),
        (RESOLVING + NOT_YAML + " YAML: yaml: line 2: did not find expected ',' or ']'", [""]),
        ("something never seen before", ["service"]),
        ("", ["service"]),
    ],
)
def test_each_error_of_the_message_is_a_finding(message: str, expected: list[str]) -> None:
    assert [(found.component_path, found.code) for found in findings(message)] == [(path, "other") for path in expected]


def test_the_findings_hold_the_whole_text() -> None:
    message = "processors::filter: one\n  two\nreceivers::otlp: three"

    assert findings(message) == [
        Finding("processors::filter: one\n  two", "processors::filter", "other"),
        Finding("receivers::otlp: three", "receivers::otlp", "other"),
    ]


def test_a_syntax_error_keeps_its_line() -> None:
    (found,) = findings(RESOLVING + NOT_YAML + " YAML: yaml: line 2: found character that cannot start any token")

    assert found.line == 2


def test_variables_are_named_once_and_have_a_default_when_it_is_everywhere() -> None:
    yaml = "a: ${env:A}\nb: ${B:-x}\nc: ${env:A:-y}\nd: $${env:D}\ne: ${B:-}"

    assert list(variables(yaml)) == [Variable("A", False, ""), Variable("B", True, "")]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (f"{DECODING}'service' has invalid keys: {'unknown type: ' * 60_000}", "service"),
        (f"{DECODING}'receivers' {'unknown type: ' * 60_000}", "receivers"),
        (f'receivers::otlp: {": references a " * 60_000}"', "receivers::otlp"),
        ("failed to build pipelines: " + '"' * 900_000, "service::pipelines"),
    ],
)
def test_what_a_message_quotes_is_not_searched_again_and_again(message: str, expected: str) -> None:
    # Each of these would take hours: the time grew with the square of the length.
    (found,) = findings(message)

    assert found.component_path == expected
    assert found.message == message.removeprefix(DECODING).strip()

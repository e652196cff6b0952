"""Which components differ between two texts."""

import pytest

from headgate.configurations.differences import ComponentDifference, differences

BEFORE = """\
receivers:
  otlp: {protocols: {grpc: {}}}
  filelog: {include: [/var/log/a.log]}
exporters:
  debug:
    verbosity: basic
service:
  telemetry: {logs: {level: info}}
  pipelines:
    logs: {receivers: [otlp, filelog], exporters: [debug]}
"""


def test_components_pipelines_and_settings_are_compared_by_what_they_mean() -> None:
    after = (
        BEFORE.replace("  filelog: {include: [/var/log/a.log]}\n", "  nop:\n")
        .replace("basic", "detailed")
        .replace("level: info", "level: warn")
        .replace("[otlp, filelog]", "[otlp, nop]")
    )

    assert differences(BEFORE, after) == [
        ComponentDifference("receivers", "nop", "added", None, 3),
        ComponentDifference("receivers", "filelog", "removed", 3, None),
        ComponentDifference("exporters", "debug", "changed", 5, 5),
        ComponentDifference("pipelines", "logs", "changed", 10, 10),
        ComponentDifference("service", "telemetry", "changed", 8, 8),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("receivers: {otlp: {a: 1, b: 2}}", "# new\nreceivers:\n  'otlp':\n    b: 2\n    a: 1 # one\n"),
        ("receivers: {a: {x: [1, 2]}, b: {x: [1, 2]}}", "receivers: {a: &a {x: [1, 2]}, b: *a}"),
        ("receivers: {a: {x: 1}, b: {x: 1, y: 3}}", "receivers: {a: &a {x: 1}, b: {<<: *a, y: 3}}"),
        ("receivers: {a: {x: 1, y: 2}, b: {x: 2, y: 2}}", "receivers: {a: &a {x: 1, y: 2}, b: {<<: [*a], x: 2}}"),
        ("", "# nothing\n"),
    ],
)
def test_the_way_a_text_is_written_makes_no_difference(before: str, after: str) -> None:
    assert differences(before, after) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{a: {x: 5}}", "{a: {x: '5'}}"),
        ("{a: {x: [1, 2]}}", "{a: {x: [2, 1]}}"),
        ("{a: }", "{a: {}}"),
        # With a tag of its own, no kind of node is implied by the tag.
        ("{a: !x []}", "{a: !x {}}"),
        # A tag may contain what separates it from the value.
        ('{a: !<x%00y> "z"}', '{a: !<x> "y\\0z"}'),
    ],
)
def test_another_type_order_of_a_list_or_emptiness_is_a_change(before: str, after: str) -> None:
    assert differences(f"receivers: {before}", f"receivers: {after}") == [
        ComponentDifference("receivers", "a", "changed", 1, 1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "receivers: {",
        f"receivers: {{}} # {'x' * 400_000}",
        "receivers: {a: &a {b: *a}}",
        "receivers: &a {<<: {<<: *a}}",
        f"receivers: {'[' * 100_000}",
        "\n".join(["a0: &a0 1", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 20_000)), "receivers: {x: *a19999}"]),
        "\n".join(["a0: &a0 {k: 1}", *(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], k{n}: 1}}" for n in range(1, 60))])
        + "\nreceivers: {x: *a59}\n",
    ],
)
def test_a_text_that_cannot_be_read_or_repeats_without_end_is_not_compared(text: str) -> None:
    assert differences("receivers: {}", text) is None

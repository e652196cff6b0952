"""The ids of components that are noted with a text: which, and how much of a text is read for them."""

import pytest

from headgate.configurations.component_ids import LONGEST, MOST_EVENTS, MOST_IDS, ids_in

COMMENTS = "# a comment\n" * MOST_EVENTS
ENTRIES = "other: [" + "a," * MOST_EVENTS + "]\n"


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("receivers:\n  otlp:\n    protocols: {grpc: }\n  'a/b':\nprocessors: {batch: {}}\n", ["otlp", "a/b", "batch"]),
        ("base: &b {batch: }\nprocessors:\n  <<: *b\n  filter:\n", ["batch", "filter"]),
        ("receivers: nothing\nexporters: [a]\n", []),
        ("receivers: {otlp: ", ["otlp"]),
        ("", []),
    ],
)
def test_components_are_the_keys_of_the_sections(text: str, ids: list[str]) -> None:
    assert sorted(ids_in(text)) == sorted(ids)


@pytest.mark.parametrize("before", [COMMENTS, ENTRIES], ids=["comments", "entries"])
def test_a_text_that_is_longer_than_the_parser_reads_is_read_by_lines(before: str) -> None:
    text = before + (
        "receivers: # all\r\n\n  # one\n  otlp: \n    protocols:\n  'a/b': {}\n  \"q\":\r\nexporters:\n    debug/2:\n"
        "service:\n  pipelines:\n"
    )

    assert sorted(ids_in(text)) == ["a/b", "debug/2", "otlp", "q"]


def test_only_so_many_ids_are_noted_and_none_that_nobody_can_search() -> None:
    many = "receivers:\n" + "".join(f"  otlp/{n}:\n" for n in range(MOST_IDS + 10))
    long = f"receivers:\n  otlp/{'x' * LONGEST}:\n  otlp:\n"

    assert (len(ids_in(many)), ids_in(long)) == (MOST_IDS, ["otlp"])

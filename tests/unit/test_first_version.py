"""Texts that cost more to compare than they have characters are not compared."""

import pytest

from headgate.instances import first_version

DOUBLED = "a0: &a0 {k: 1, k: 2}\n" + "".join(f"a{n}: &a{n} {{k: *a{n - 1}, k: *a{n - 1}}}\n" for n in range(1, 26))
ITSELF = "a: &a [*a]\n"
LONG_PLACES = "".join(f"{'  ' * n}{'k' * 1_000}:\n" for n in range(20)) + f"{' ' * 42}[{'1,' * 19_000}1]\n"


@pytest.mark.parametrize("text", [DOUBLED, ITSELF, LONG_PLACES], ids=["doubled", "itself", "long places"])
def test_a_text_of_aliases_or_long_places_is_not_compared(text: str) -> None:
    assert first_version.difference(text, "a: 1\n") == "the texts could not be compared"


def test_places_that_differ_are_named() -> None:
    assert first_version.difference("exporters: {debug: {}}\n", "exporters: {debug: {verbosity: detailed}}\n") == (
        "only the version has exporters::debug::verbosity"
    )


def test_a_setting_that_only_the_host_has_is_no_difference_if_it_is_empty() -> None:
    reported = "processors: {batch: {timeout: 1s, metadata_keys: [], x: null, y: ''}}\n"
    assert first_version.difference(reported, "processors: {batch: {timeout: 1s}}\n") == ""

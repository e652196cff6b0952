"""The reason why a version was not applied, from what the real supervisor (0.149.0) and collector (0.139.0) said."""

from pathlib import Path

import pytest

from headgate.opamp.reasons import LONGEST, reason

SAID = Path(__file__).with_name("reasons")


@pytest.mark.parametrize("said", sorted(SAID.glob("*.txt")), ids=lambda said: said.stem)
def test_the_reason_is_the_collectors_own_each_once(said: Path) -> None:
    assert reason(said.read_text()) == said.with_suffix(".reason").read_text().rstrip()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("", ""),
        ("plain", "plain"),
        ("two\n\n  lines\ntwo", "two\nlines"),
        ("Config apply timeout exceeded", "Config apply timeout exceeded"),
        ("config validation failed: signal: killed, output: ", "config validation failed: signal: killed, output:"),
        ("configuration validation failed: failed to create temp config file", "failed to create temp config file"),
        ("x: Error: inside", "x: Error: inside"),
        ("a\r\nb", "a\nb"),
    ],
)
def test_what_is_not_wrapped_stays(said: str, told: str) -> None:
    assert reason(said) == told


@pytest.mark.parametrize(
    "said", ["x" * 3_000_000, "Error: " * 500_000, "decoding failed due to the following error(s):\n" * 50_000]
)
def test_it_is_short_whatever_is_said(said: str) -> None:
    assert len(reason(said)) <= LONGEST

"""The reason why a version was not applied, from what the real supervisor (0.149.0) and collector (0.139.0) said."""

from pathlib import Path

import pytest

from headgate.opamp.reasons import LONGEST, reason, was_killed

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


@pytest.mark.parametrize(
    ("said", "killed"),
    [
        ("Agent exited unexpectedly with exit code -1 while applying configuration", True),
        ("no route\n(Agent exited unexpectedly with exit code 0 while applying configuration)", True),
        ("Agent exited unexpectedly with exit code 1 while applying configuration", False),
        ("configuration validation failed: config validation failed: signal: killed, output: warn", True),
        ("configuration validation failed: config validation failed: exit status 1, output: Error: x", False),
        ("The collector ended 3 times in the 10 minutes after this (it exited unexpectedly)", False),
        ("Config apply timeout exceeded", False),
        ("", False),
    ],
)
def test_a_collector_that_was_killed_is_told_from_one_that_failed(said: str, killed: bool) -> None:
    assert was_killed(said) is killed

"""The reason why a version was not applied, from what the real supervisor (0.149.0) and collector (0.139.0) said."""

from pathlib import Path

import pytest

from headgate.instances.reported.model import Cause
from headgate.opamp.reasons import LONGEST, REASONS, cause, reason

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


# A row of the table each; a test of layers/supervisor/internal/official says whether the supervisor still says so.
CAUSES: list[tuple[str, Cause]] = [
    ("no route\n(Agent exited unexpectedly with exit code -1 while applying configuration)", "killed"),
    ("Agent exited unexpectedly with exit code 0 while applying configuration", "killed"),
    ("configuration validation failed: config validation failed: signal: killed, output: warn", "killed"),
    ("bind: in use\n(Agent exited unexpectedly with exit code 1 while applying configuration)", "version"),
    ("Agent exited unexpectedly with exit code 137 while applying configuration", "version"),
    ("configuration validation failed: config validation failed: exit status 1, output: Error: x", "version"),
    ("yaml: line 1: did not find expected node content", "version"),
    (
        "no route\n(The collector ended 3 times in the 10 minutes after this configuration was applied (it exited",
        "version",
    ),
    ("Collector 0.140.0 cannot run here, so that nothing was changed: the disk is full", "version"),
    ("Config apply timeout exceeded; collector 0.140.0 did not stay, and 0.139.0 runs again", "version"),
    ("The offer of a collector cannot be read: the link is not a path of this service", "version"),
    ("The change cannot be written down: no space left on device", "host"),
    ("The variables of this version are not on this host: no space left on device", "host"),
    ("configuration validation failed: failed to create temp config file for validation: no space left", "host"),
    ("configuration validation failed: failed to write temp config file for validation: no space left", "host"),
    ("configuration validation failed: failed to close temp config file: no space left", "host"),
    ("cannot start the agent: startNormal: fork/exec: resource temporarily unavailable", "host"),
    ("Config apply timeout exceeded", "unclear"),
    ("dial tcp: i/o timeout\n(Config apply timeout exceeded)", "unclear"),
    ("a sentence of a later release", "unclear"),
    ("", "unclear"),
]


@pytest.mark.parametrize(("said", "expected"), CAUSES)
def test_only_a_known_reason_counts_against_a_version(said: str, expected: Cause) -> None:
    assert cause(said) == expected


def test_every_row_of_the_table_has_a_message() -> None:
    unseen = [pattern.pattern for pattern, _ in REASONS if not any(pattern.search(said) for said, _ in CAUSES)]
    assert unseen == []


@pytest.mark.parametrize("said", sorted(SAID.glob("*.txt")), ids=lambda said: said.stem)
def test_what_was_recorded_of_a_broken_version_counts(said: Path) -> None:
    assert cause(said.read_text()) == ("unclear" if said.stem == "late" else "version")

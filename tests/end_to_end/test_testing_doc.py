"""docs/test-suites.md: the tests that live with a configuration, line by line as they stand."""

import pytest

from tests.support.cli_support import Cli
from tests.support.transcript import plain, section, shell, transcript

pytestmark = pytest.mark.end_to_end

WRITTEN = transcript(section("docs/test-suites.md", "## Tests that live with the configuration"))

COVERAGE = transcript(section("docs/test-suites.md", "## What the tests notice"))


# test_suites.py saves and runs tests in the same way.
@pytest.mark.full
def test_the_tests_of_a_configuration_are_as_they_are_written(cli: Cli) -> None:
    shown = shell([command for command, _ in WRITTEN], cli.url, cli.token, cli.folder)

    for (command, expected), said in zip(WRITTEN, shown, strict=True):
        assert plain(said) == plain(expected), command


@pytest.mark.full
def test_what_the_tests_notice_is_as_it_is_written(cli: Cli) -> None:
    shown = shell([command for command, _ in COVERAGE], cli.url, cli.token, cli.folder)

    for (command, expected), said in zip(COVERAGE, shown, strict=True):
        assert plain(said) == plain(expected), command

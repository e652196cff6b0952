"""README's first verdict, line by line as it stands."""

from pathlib import Path

import pytest

from tests.support.service import running_service
from tests.support.transcript import plain, section, shell, transcript

pytestmark = pytest.mark.end_to_end

TEXT = section("README.md", "## Start it")


def test_the_first_verdict_is_as_it_is_written(tmp_path: Path) -> None:
    written = transcript(TEXT)
    with running_service(tmp_path / "data", as_people_do=True) as service:
        shown = shell([command for command, _ in written], service.base_url, service.read_write_token, tmp_path)

    for (command, expected), said in zip(written, shown, strict=True):
        assert plain(said) == plain(expected), command

"""README's first verdict, line by line as it stands."""

from pathlib import Path

import pytest

from tests.support.service import running_service
from tests.support.transcript import plain, section, shell, transcript

pytestmark = pytest.mark.end_to_end

TEXT = section("README.md", "## Start it")


def test_the_first_verdict_is_as_it_is_written_and_nobody_waits_for_a_limit(tmp_path: Path) -> None:
    written = transcript(TEXT)
    # As if nothing were set.
    with running_service(tmp_path / "data", as_people_do=True, HEADGATE_RATE_LIMIT_PER_MINUTE="") as service:
        with service.client() as api:
            assert api.get("/identity").headers["RateLimit-Limit"] == "600"
        shown = shell([command for command, _ in written], service.base_url, service.read_write_token, tmp_path)

    for (command, expected), said in zip(written, shown, strict=True):
        assert plain(said) == plain(expected), command

"""README's first ten minutes, line by line as they stand."""

import json
from pathlib import Path

import pytest

from tests.support.service import running_service
from tests.support.transcript import blocks, plain, section, shell, transcript

pytestmark = pytest.mark.end_to_end

TEXT = section("README.md", "## The first ten minutes")


def test_the_first_ten_minutes_are_as_they_are_written(tmp_path: Path) -> None:
    written = transcript(TEXT)
    (curl,) = blocks(TEXT, "sh")
    data = tmp_path / "data"
    with running_service(data, as_people_do=True) as service:
        *shown, listed = shell(
            [*(command for command, _ in written), curl.strip()], service.base_url, service.read_write_token, tmp_path
        )

    for (command, expected), said in zip(written, shown, strict=True):
        assert plain(said) == plain(expected), command
    (shop,) = json.loads(listed)["items"]
    assert (shop["name"], shop["latest_version"], shop["published_version"]) == ("shop", 2, 1)

    with running_service(data) as service:
        again = service.client().get(f"/configurations/{shop['id']}").json()
    assert again["yaml"] == (tmp_path / "shop.yaml").read_text()

"""GET /collector-versions, and what is asked of versions that are not there, reduced, or official releases."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate import checker
from headgate.settings import settings
from headgate_local.options import read_options
from headgate_local.template import Template
from tests.support import faulty
from tests.support.members import JoinWith, Member
from validation.app import router as validation_router

API = "/api/v1/public"
DEFAULT = "0.139.0"
REDUCED, RELEASE, BROKEN = "0.158.0", "0.150.0", "0.149.0"


@pytest.fixture
def collectors(aws_here: Template, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The default collector, and a stand-in for each other kind of version."""
    ours = read_options(os.environ).collectors
    (tmp_path / DEFAULT).symlink_to((ours / DEFAULT).resolve())
    for version, variant in {REDUCED: "reduced", RELEASE: "release", BROKEN: "crashes"}.items():
        faulty.install(tmp_path / version, variant)
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", str(tmp_path))
    settings.cache_clear()
    checker.close()
    yield tmp_path
    checker.close()


@pytest.fixture
def member(collectors: Path, join: JoinWith) -> Member:
    return join([validation_router])


def test_each_version_is_listed_with_what_it_is_and_can_do(member: Member) -> None:
    answer = member.http.get(f"{API}/collector-versions").json()

    assert set(answer) == {"items", "next_cursor"}
    assert [item["version"] for item in answer["items"]] == [REDUCED, RELEASE, BROKEN, DEFAULT]
    assert answer["items"][0] == {
        "version": REDUCED,
        "distribution": "otelcol-contrib",
        "default": False,
        "source": "built",
        "reduced": True,
        "lacks": [{"kind": "receiver", "type": "hostmetrics"}],
        "capabilities": {"positions": True, "lint": True, "test_runs": True, "upgrade_check": True},
        "unusable": None,
    }
    by_version = {item["version"]: item for item in answer["items"]}
    assert by_version[RELEASE]["source"] == "official_release"
    assert by_version[RELEASE]["capabilities"] == {
        "positions": False,
        "lint": False,
        "test_runs": True,
        "upgrade_check": False,
    }
    assert by_version[BROKEN]["source"] is None
    assert by_version[BROKEN]["unusable"] == "The collector's checker exited with status 2: panic"
    assert by_version[DEFAULT]["default"]


def test_the_list_comes_in_pages(member: Member) -> None:
    first = member.http.get(f"{API}/collector-versions", params={"limit": 3}).json()
    second = member.http.get(f"{API}/collector-versions", params={"limit": 3, "cursor": first["next_cursor"]}).json()

    assert [item["version"] for item in first["items"] + second["items"]] == [REDUCED, RELEASE, BROKEN, DEFAULT]
    assert second["next_cursor"] is None


def test_listing_leaves_no_process_of_another_version_behind(member: Member) -> None:
    member.http.get(f"{API}/collector-versions")

    assert checker.of_this_process().pids(REDUCED) == []

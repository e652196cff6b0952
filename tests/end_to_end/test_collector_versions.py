"""Several collector versions in one service: listed, asked and run, and found when they are linked meanwhile."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from headgate.foundation.settings import settings
from headgate_local.options import read_options
from tests.support import faulty, run_support
from tests.support.run_support import configuration, request
from tests.support.service import running_service

pytestmark = pytest.mark.end_to_end

# The default collector under another number, and a release without a `check` command that cannot run anything.
SECOND, RELEASE = "0.138.0", "0.137.0"
FILTER = "{filter: {logs: {log_record: ['body == \"x\"']}}}"


@dataclass(frozen=True)
class Versions:
    """A running service, and the folder of its collectors."""

    client: httpx.Client
    collectors: Path

    def listed(self) -> dict[str, dict[str, Any]]:
        return {item["version"]: item for item in self.client.get("/collector-versions").json()["items"]}

    def link(self, version: str, folder: Path) -> None:
        (self.collectors / version).symlink_to(folder)


@pytest.fixture(scope="module")
def default_folder() -> Path:
    return (read_options(os.environ).collectors / settings().collector_version).resolve()


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory, default_folder: Path) -> Iterator[Versions]:
    folder = tmp_path_factory.mktemp("collectors")
    (folder / settings().collector_version).symlink_to(default_folder)
    data = tmp_path_factory.mktemp("data")
    with running_service(data, HEADGATE_COLLECTORS_DIR=str(folder)) as service, service.client() as client:
        yield Versions(client, folder)


def test_the_default_collector_describes_itself(versions: Versions) -> None:
    listed = versions.listed()[settings().collector_version]

    assert (listed["default"], listed["source"], listed["reduced"], listed["lacks"]) == (True, "built", False, [])
    assert listed["can"] == {"lines": True, "lint": True, "runs": True, "steps": True, "upgrade_check": True}
    assert listed["unusable"] is None


def test_a_version_that_is_linked_while_the_service_runs_is_asked_and_run(
    versions: Versions, default_folder: Path
) -> None:
    yaml = configuration(FILTER, "[filter]")
    before = versions.client.post("/ottl/lint", json={"yaml": yaml, "version": SECOND})
    versions.link(SECOND, default_folder)

    validated = versions.client.post("/validate", json={"yaml": yaml, "version": SECOND}).json()
    linted = versions.client.post("/ottl/lint", json={"yaml": yaml, "version": SECOND}).json()
    run = run_support.run(versions.client, request(yaml=yaml, collector_version=SECOND))

    assert (before.status_code, before.json()["code"]) == (422, "collector_version_not_installed")
    assert (validated["valid"], validated["version"]) == (True, SECOND)
    assert (linted["valid"], linted["checked"]) == (True, 1)
    assert (run["status"], run["collector_version"]) == ("Success", SECOND)
    assert list(versions.listed()) == [settings().collector_version, SECOND]


def test_an_official_release_gives_verdicts_and_no_more(versions: Versions, tmp_path: Path) -> None:
    faulty.install(tmp_path, "release")
    versions.link(RELEASE, tmp_path)

    # The stand-in's verdict is what the text says after the slash.
    validated = versions.client.post("/validate", json={"yaml": "x/invalid", "version": RELEASE}).json()
    linted = versions.client.post("/ottl/lint", json={"yaml": configuration(), "version": RELEASE})

    assert (validated["valid"], validated["version"]) == (False, RELEASE)
    assert [error["code"] for error in validated["errors"]] == ["other"]
    assert (linted.status_code, linted.json()["code"]) == (422, "lint_not_possible")
    assert versions.listed()[RELEASE]["source"] == "official_release"


def test_a_version_that_was_removed_is_not_listed_and_not_asked(versions: Versions, default_folder: Path) -> None:
    versions.link("0.136.0", default_folder)
    assert "0.136.0" in versions.listed()
    (versions.collectors / "0.136.0").unlink()

    answer = versions.client.post("/validate", json={"yaml": configuration(), "version": "0.136.0"})

    assert "0.136.0" not in versions.listed()
    assert (answer.status_code, answer.json()["code"]) == (422, "collector_version_not_installed")

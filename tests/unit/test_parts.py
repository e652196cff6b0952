"""Parts of an application: imported by their first request, and answering as if they had been there from the start."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from headgate.http.app import create_app
from headgate.http.parts import Part
from scripts import part_paths
from tests.support.in_process import TestClient

EXACT = 'from fastapi import APIRouter\nrouter = APIRouter()\n@router.get("/things/new")\ndef new(): return "new"\n'
ANY = """\
from fastapi import APIRouter
router = APIRouter()
@router.get("/things/{name}")
def get(name: str): return name
@router.put("/things/{name}/size")
def put(name: str): return name
"""
# What a request takes without a credential; one with a credential imports nothing more.
REQUEST = """\
import json, sys
from importlib import import_module
from starlette.testclient import TestClient
application = import_module(sys.argv[1]).app
before = {*sys.modules}
TestClient(application).get(sys.argv[2])
print(json.dumps([sorted(before), sorted({*sys.modules} - before)]))
"""


@pytest.fixture
def things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FastAPI]:
    (tmp_path / "part_of_new.py").write_text(EXACT)
    (tmp_path / "part_of_any.py").write_text(ANY)
    monkeypatch.syspath_prepend(tmp_path)
    yield create_app("Test", [Part("part_of_new", "/things/new"), Part("part_of_any", "/things/*/**")])
    for name in ("part_of_new", "part_of_any"):
        sys.modules.pop(name, None)


def test_a_part_is_imported_by_the_first_request_to_its_paths(things: FastAPI) -> None:
    http = TestClient(things)

    assert http.get("/elsewhere").status_code == 404
    assert "part_of_any" not in sys.modules
    assert http.get("/things/a").json() == "a"
    assert "part_of_any" in sys.modules
    assert "part_of_new" not in sys.modules


def test_the_order_of_parts_decides_not_that_of_requests(things: FastAPI) -> None:
    http = TestClient(things)

    assert [http.get(path).json() for path in ("/things/a", "/things/new")] == ["a", "new"]


def test_a_method_that_no_route_has_is_refused_with_those_that_there_are(things: FastAPI) -> None:
    refused = TestClient(things).get("/things/a/size")

    assert (refused.status_code, refused.headers["allow"]) == (405, "PUT")


@pytest.mark.parametrize(
    ("pattern", "covered", "apart"),
    [
        ("/a/*", ["/a/b", "/a/b%2Fc"], ["/a", "/a/", "/a/b/c", "/a/b/"]),
        ("/a/*/c/**", ["/a/b/c", "/a/b/c/d/e", "/a/b/c/"], ["/a/b/cd", "/a/c"]),
        ("/a.b", ["/a.b"], ["/axb", "/a.b/c"]),
    ],
)
def test_a_star_is_one_segment_and_two_at_the_end_are_all_below(
    pattern: str, covered: list[str], apart: list[str]
) -> None:
    part = Part("json", pattern)

    assert [path for path in [*covered, *apart] if part.covers(path)] == covered


def test_every_part_is_imported_at_the_paths_of_its_routes() -> None:
    assert part_paths.MODULE.read_text() == part_paths.module(), "run `make openapi`"


@pytest.mark.parametrize(
    ("application", "path", "needs", "leaves"),
    [
        (
            "fleets.app",
            "/api/v1/public/fleets",
            "fleets.api.fleets",
            ["fleets.pages", "fleets.api.groups", "headgate.rollouts", "headgate.captures"],
        ),
        (
            "fleets.app",
            "/api/v1/public/fleets/f/instances/i",
            "fleets.api.instances",
            ["fleets.pages", "fleets.api.captures", "fleets.api.rollouts", "headgate.overview"],
        ),
        (
            "configurations.app",
            "/api/v1/public/configurations",
            "configurations.api",
            ["configurations.policies", "configurations.list_pages"],
        ),
        (
            "testing.app",
            "/api/v1/public/testing/runs",
            "testing.api",
            ["testing.rule_pages", "testing.comparisons", "testing.coverages"],
        ),
    ],
)
def test_a_cold_start_imports_what_its_request_needs(
    application: str, path: str, needs: str, leaves: list[str]
) -> None:
    """Behind each number of `make bench ONLY=imports`: services that a request does not use cost it nothing."""
    done = subprocess.run(
        [sys.executable, "-c", REQUEST, application, path], capture_output=True, text=True, check=True
    )
    at_start, by_request = map(set, json.loads(done.stdout.splitlines()[-1]))

    assert needs in by_request
    assert not {name for name in at_start if name.startswith(("pydantic_settings.sources.providers.aws", "boto3"))}
    assert not {name for name in at_start | by_request if name.startswith(tuple(leaves))}

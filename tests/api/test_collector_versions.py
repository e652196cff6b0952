"""GET /collector-versions, and what is asked of versions that are not there, reduced, or official releases."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate import checker
from headgate.foundation.settings import settings
from headgate.runs import runner, store
from headgate.runs.model import CASE
from headgate.runs.run_steps import RunSteps
from headgate_local.options import read_options
from headgate_local.template import Template
from testing.app import router as runs_router
from testing.app import rules_router
from tests.support import configurations as cfg
from tests.support import deployments, faulty
from tests.support.members import API, JoinWith, Member
from tests.support.world import create_state_machines, leave_results
from validation.app import router as validation_router

# The real default collector, whatever its number.
DEFAULT = "0.139.0"
REDUCED, RELEASE, BROKEN = "0.158.0", "0.150.0", "0.149.0"
# The default collector under another number.
SECOND = "0.140.0"
YAML = """\
receivers: {otlp: {protocols: {grpc: {}}}}
processors: {filter: {logs: {log_record: ['body == "x"']}}}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [otlp], processors: [filter], exporters: [debug]}}}
"""
NEEDS_MORE = "component_not_in_build/hostmetrics"
RUN = {"sample": "a line", "signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1}
RULES = {"signal_type": "logs", "rules": [{"name": "some", "condition": "true"}]}
LACKS_IT = (
    f"receivers::hostmetrics: this build of collector {REDUCED} lacks the receiver hostmetrics, which the official "
    "release has"
)


@pytest.fixture
def collectors(aws_here: Template, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The default collector, and a stand-in for each other kind of version."""
    ours = read_options(os.environ).collectors / settings().collector_version
    for version in (DEFAULT, SECOND):
        (tmp_path / version).symlink_to(ours.resolve())
    for version, variant in {REDUCED: "reduced", RELEASE: "release", BROKEN: "crashes"}.items():
        faulty.install(tmp_path / version, variant)
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", str(tmp_path))
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSION", DEFAULT)
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    settings.cache_clear()
    checker.close()
    yield tmp_path
    checker.close()


@pytest.fixture
def member(collectors: Path, join: JoinWith) -> Member:
    return join([validation_router, configurations_router, *fleets_routers, runs_router, rules_router])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """The operations that the checker was asked, each with its version."""
    questions: list[tuple[str, str | None]] = []
    call = checker.COLLECTORS.call

    def recorded(op: str, *args: Any, version: str | None = None, **more: Any) -> dict[str, object]:
        questions.append((op, version))
        return call(op, *args, version=version, **more)

    monkeypatch.setattr(checker.COLLECTORS, "call", recorded)
    return questions


def stored(member: Member, yaml: str, version: str) -> str:
    """The id of a configuration, whose first version is for that collector."""
    configuration_id = cfg.create(member, yaml=yaml)
    assert cfg.patch(member, configuration_id, 1, collector_version=version).status_code == 200
    return configuration_id


def put_rules(member: Member, configuration_id: str) -> Response:
    path = f"{API}/configurations/{configuration_id}/versions/1/validation-pipelines/logs"
    return member.http.put(path, json=RULES)


def assert_not_in_build(response: Response) -> None:
    assert (response.status_code, response.json()["code"]) == (503, "component_not_in_build")
    assert "Retry-After" not in response.headers
    assert response.json()["detail"].startswith(f"{LACKS_IT}; the YAML was not checked: choose a collector version ")


@pytest.mark.collector
def test_each_version_is_listed_with_what_it_is_and_can_do(member: Member) -> None:
    answer = member.http.get(f"{API}/collector-versions").json()

    assert set(answer) == {"items", "next_cursor"}
    assert [item["version"] for item in answer["items"]] == [REDUCED, RELEASE, BROKEN, SECOND, DEFAULT]
    assert "system calls" in answer["items"][0].pop("confined_by")
    assert answer["items"][0] == {
        "version": REDUCED,
        "distribution": "otelcol-contrib",
        "default": False,
        "source": "built",
        "reduced": True,
        "lacks": [{"kind": "receiver", "type": "hostmetrics"}],
        "can": {"lines": True, "lint": True, "runs": True, "steps": False, "upgrade_check": True},
        "unusable": None,
        "hosts": [],
        "whole_in_seconds": None,
    }
    by_version = {item["version"]: item for item in answer["items"]}
    assert by_version[RELEASE]["source"] == "official_release"
    assert by_version[RELEASE]["can"] == {
        "lines": False,
        "lint": False,
        "runs": True,
        "steps": False,
        "upgrade_check": False,
    }
    assert by_version[BROKEN]["source"] is None
    assert by_version[BROKEN]["unusable"] == "The collector's checker exited with status 2: panic"
    assert by_version[DEFAULT]["default"]


@pytest.mark.collector
def test_the_list_comes_in_pages(member: Member) -> None:
    first = member.http.get(f"{API}/collector-versions", params={"limit": 3}).json()
    second = member.http.get(f"{API}/collector-versions", params={"limit": 3, "cursor": first["next_cursor"]}).json()

    assert [item["version"] for item in first["items"] + second["items"]] == [REDUCED, RELEASE, BROKEN, SECOND, DEFAULT]
    assert second["next_cursor"] is None


def test_listing_leaves_no_process_of_another_version_behind(member: Member) -> None:
    member.http.get(f"{API}/collector-versions")

    assert checker.of_this_process().pids(REDUCED) == []


@pytest.mark.collector
def test_lint_asks_the_version_that_was_named(member: Member, asked: list[tuple[str, str | None]]) -> None:
    expressions = {"context": "log", "conditions": ["true"]}
    for body in ({"yaml": YAML, "version": SECOND}, {**expressions, "version": SECOND}, {"yaml": YAML}):
        answer = member.http.post(f"{API}/ottl/lint", json=body)
        assert (answer.status_code, answer.json()["checked"]) == (200, 1), answer.text

    assert asked == [("lint", SECOND), ("lint", SECOND), ("lint", DEFAULT)]


@pytest.mark.parametrize(
    ("version", "status", "code"),
    [
        ("0.1.0", 422, "collector_version_not_installed"),
        (RELEASE, 422, "lint_not_possible"),
        (BROKEN, 503, "not_checked"),
    ],
)
def test_lint_says_why_a_version_cannot_be_asked(version: str, status: int, code: str, member: Member) -> None:
    answer = member.http.post(f"{API}/ottl/lint", json={"yaml": YAML, "version": version})

    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    if status == 422:
        assert [error["loc"] for error in answer.json()["errors"]] == [["body", "version"]]


@pytest.mark.collector
def test_a_version_that_is_not_installed_is_answered_with_those_that_are(member: Member) -> None:
    details = [
        member.http.post(f"{API}/{path}", json={"yaml": YAML, "version": "0.1.0"}).json()["detail"]
        for path in ("validate", "ottl/lint")
    ]

    installed = ", ".join((DEFAULT, SECOND, BROKEN, RELEASE, REDUCED))
    assert details == [f"Collector version 0.1.0 is not installed; installed: {installed}"] * 2


def test_what_a_reduced_build_lacks_is_not_checked(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError("the plain command was asked, which would call the component unknown")

    monkeypatch.setattr(checker.COLLECTORS, "validate_plainly", asked)
    for path in ("validate", "ottl/lint"):
        assert_not_in_build(member.http.post(f"{API}/{path}", json={"yaml": NEEDS_MORE, "version": REDUCED}))


def test_an_edit_that_was_not_checked_is_not_saved(member: Member) -> None:
    configuration_id = stored(member, "before", REDUCED)

    path = f"{API}/configurations/{configuration_id}/versions/1"
    assert_not_in_build(member.http.patch(f"{path}?validate=true", json={"yaml": NEEDS_MORE}))
    assert member.http.get(path).json()["yaml"] == "before"


def test_an_assignment_says_that_it_was_not_checked(member: Member) -> None:
    configuration_id = stored(member, NEEDS_MORE, REDUCED)
    cfg.publish(member, configuration_id)

    created = deployments.add(member, deployments.server(member), configuration_id)

    assert created.status_code == 201
    (warning,) = created.json()["warnings"]
    assert (warning["code"], warning["severity"]) == ("not_checked", "warning")
    assert LACKS_IT in warning["message"]


def test_a_run_that_needs_what_the_build_lacks_ends_in_error(member: Member) -> None:
    run = member.http.post(f"{API}/testing/runs", json={**RUN, "yaml": NEEDS_MORE, "collector_version": REDUCED})

    assert (run.status_code, run.json()["status"], run.json()["collector_version"]) == (202, "Error", REDUCED)
    assert run.json()["stderr"].startswith(f"The test was never executed: {LACKS_IT}")


def test_rules_of_what_the_build_lacks_are_not_saved(member: Member) -> None:
    configuration_id = stored(member, NEEDS_MORE, REDUCED)

    refused = put_rules(member, configuration_id)

    assert_not_in_build(refused)
    assert refused.json()["detail"].endswith("; no rule was saved")
    path = f"{API}/configurations/{configuration_id}/versions/1/validation-pipelines"
    assert member.http.get(path).json()["items"] == []


@pytest.mark.collector
@pytest.mark.parametrize(
    ("version", "versions"),
    [(SECOND, [SECOND, SECOND]), (RELEASE, [RELEASE, DEFAULT] * 2), ("0.1.0", ["0.1.0", DEFAULT] * 2)],
)
def test_rules_are_read_by_their_own_version_or_if_it_cannot_by_the_default_one(
    version: str, versions: list[str], member: Member, asked: list[tuple[str, str | None]]
) -> None:
    saved = put_rules(member, stored(member, YAML, version))

    assert saved.status_code == 200, saved.text
    assert [one for _, one in asked] == versions


@pytest.mark.collector
@pytest.mark.parametrize(
    ("version", "judge", "note"),
    [
        (SECOND, SECOND, ""),
        (
            RELEASE,
            DEFAULT,
            f"headgate: note: collector {DEFAULT} prepared this run and evaluates its rules: {RELEASE} is an official "
            "release, without a checker\n",
        ),
    ],
)
def test_a_run_is_prepared_and_judged_by_its_own_version_or_if_it_cannot_by_the_default_one(
    version: str, judge: str, note: str, member: Member, aws_here: Template, asked: list[tuple[str, str | None]]
) -> None:
    create_state_machines(aws_here)
    body = {**RUN, "yaml": YAML, "rules": RULES["rules"], "collector_version": version}

    started = member.http.post(f"{API}/testing/runs", json=body)
    assert started.status_code == 202, started.text
    run_id = started.json()["id"]
    RunSteps().prepare(run_id)
    leave_results(run_id, {CASE: '{"resourceLogs":[]}\n'})
    RunSteps().evaluate(run_id)

    # The last one asked for each operation is the one that answered.
    assert dict(asked) == {"prepare": judge, "compile": judge, "evaluate": judge, "tell": DEFAULT}
    run = store.find(run_id)
    assert run is not None
    assert runner.ready(run)[CASE].notes == note


@pytest.mark.collector
def test_a_run_of_a_version_that_is_not_installed_ends_in_error(member: Member) -> None:
    run = member.http.post(f"{API}/testing/runs", json={**RUN, "yaml": YAML, "collector_version": "0.1.0"}).json()

    assert (run["status"], run["collector_version"]) == ("Error", "0.1.0")
    assert run["stderr"].startswith(
        "The test was never executed: collector 0.1.0 is not installed on the test runner; installed: "
    )

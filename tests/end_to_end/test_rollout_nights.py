"""Presets to their end, approvals and nights on real hosts whose clocks are an hour behind or ahead of the service's.

Soaks of minutes and hours are promoted: none passes while the service is away, or because its clock went forward.
"""

import time
from collections.abc import Iterator

import pytest

from tests.support import rolling_hosts
from tests.support.admin import PUBLIC, Admin
from tests.support.fleet_host import PATIENCE
from tests.support.local_service import LocalService
from tests.support.rolling_hosts import Entity, Hosts

pytestmark = [pytest.mark.end_to_end, pytest.mark.full]
HOUR = 3_600
AHEAD = "HEADGATE_CLOCK_AHEAD_SECONDS"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    started = LocalService(tmp_path_factory.mktemp("nights") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    started.environment[AHEAD] = str(HOUR)
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def group(service: LocalService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with rolling_hosts.hosts(tmp_path_factory.mktemp("web"), service.client(), number=2, a_second=10) as found:
        yield found


def to_its_end(group: Hosts, admin: Admin, rollout: str) -> tuple[Entity, int]:
    """The rollout once it has ended, each of its soaks promoted, and how often a person approved it."""
    approved, path = 0, f"{group.group}/rollouts/{rollout}"
    until = time.monotonic() + PATIENCE
    while (shown := group.rollout(rollout))["status"] in ("in_progress", "waiting_for_approval"):
        assert time.monotonic() < until, shown
        if shown["status"] == "waiting_for_approval":
            assert group.api.post(f"{path}/approve").status_code == 403
            assert admin.http.post(f"{PUBLIC}{path}/approve").status_code == 200
            approved += 1
        else:
            group.api.post(f"{path}/promote")
        time.sleep(0.5)
    return shown, approved


@pytest.mark.parametrize(("preset", "approvals"), [("canary", 0), ("careful", 1), ("fast", 0), ("all_at_once", 0)])
def test_a_preset_comes_to_its_end(group: Hosts, service: LocalService, preset: str, approvals: int) -> None:
    n = group.publish(preset)
    group.losses()
    body = {"version_number": n, "strategy": {"preset": preset}}
    rollout = group.api.post(f"{group.group}/rollouts", json=body).json()["id"]

    ended, approved = to_its_end(group, Admin(service), rollout)

    assert (ended["status"], ended["failures"], approved) == ("completed", [], approvals)
    group.all_run(n)
    assert {loss.lost for loss in group.losses().values()} == {0}


def test_who_started_it_does_not_approve_it_with_a_session_either(group: Hosts, service: LocalService) -> None:
    admin = Admin(service)
    steps = [{"percent": 100, "soak_seconds": 1, "approval": True}]
    body = {"version_number": group.publish("own"), "strategy": {"steps": steps}}
    path = f"{PUBLIC}{group.group}/rollouts"
    path = f"{path}/{admin.http.post(path, json=body).json()['id']}"
    group.until(path.rpartition("/")[2], lambda shown: bool(shown["status"] == "waiting_for_approval"))

    refused = admin.http.post(f"{path}/approve")

    assert (refused.status_code, refused.json()["code"]) == (403, "own_rollout")
    assert admin.http.post(f"{path}/abort").status_code == 200


def test_a_night_without_the_service_takes_nothing_back(group: Hosts, service: LocalService) -> None:
    n = group.publish("over night")
    rollout = group.start(n, "the laptop sleeps", HOUR, 5)
    group.until(rollout, lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))
    group.losses()
    service.stop()
    service.environment[AHEAD] = str(10 * HOUR)
    service.start()
    group.api = service.client()
    group.until(rollout, lambda shown: "after an interruption" in (shown["reason"] or ""))

    back = group.until(rollout, lambda shown: shown["reason"] is None, seconds=400)
    assert (back["status"], back["step"]) == ("in_progress", 1)
    ended, _ = to_its_end(group, Admin(service), rollout)
    assert (ended["status"], ended["failures"]) == ("completed", [])
    group.all_run(n)
    assert {loss.lost for loss in group.losses().values()} == {0}


def test_a_clock_that_is_set_back_takes_nothing_back_and_the_rollout_says_that_it_waits(
    group: Hosts, service: LocalService
) -> None:
    n = group.publish("set back")
    rollout = group.start(n, "the clock was ahead", HOUR, 5)
    group.until(rollout, lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))
    group.losses()
    service.stop()
    service.environment[AHEAD] = str(int(service.environment[AHEAD]) - HOUR)
    service.start()
    group.api = service.client()
    waits = group.until(rollout, lambda shown: "this service's clock was set back" in (shown["reason"] or ""))
    assert (waits["status"], waits["failures"]) == ("in_progress", [])
    assert group.api.post(f"{group.group}/rollouts/{rollout}/retry").status_code == 200

    ended, _ = to_its_end(group, Admin(service), rollout)
    assert (ended["status"], ended["failures"]) == ("completed", [])
    group.all_run(n)
    assert {loss.lost for loss in group.losses().values()} == {0}


def test_hosts_an_hour_ahead_take_a_version_and_go_back_from_a_failing_one(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    service = LocalService(tmp_path_factory.mktemp("behind") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    service.environment[AHEAD] = str(-HOUR)
    service.start()
    try:
        folder = tmp_path_factory.mktemp("hosts ahead")
        with rolling_hosts.hosts(folder, service.client(), number=2, a_second=10) as ahead:
            good = ahead.publish("good")
            assert ahead.ends(ahead.start(good, "good", 1, 1))["status"] == "completed"
            ahead.all_run(good)
            wrong = ahead.publish("wrong", backend=ahead.backend.wrong)
            assert ahead.ends(ahead.start(wrong, "a wrong backend", 60, 1))["status"] == "rolled_back"
            ahead.all_run(good)
    finally:
        service.stop()

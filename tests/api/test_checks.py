"""What one credential may have under way at the collector, counted here and on moto's real conditional writes."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate import checker
from headgate.checker import CheckerBusy
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import check_store, checks
from headgate.identity import service as identity
from headgate.identity.checks import TooManyChecks
from headgate.storage import aws
from testing.app import router as runs_router
from testing.app import rules_router
from tests.support.fleets import create as create_fleet
from tests.support.members import API, JoinWith, Member
from validation.app import router as validation_router

LIMIT = 4
ROUTERS = [validation_router, configurations_router, rules_router, runs_router, *fleets_routers]
RULES = {"signal_type": "logs", "rules": [{"name": "a", "condition": "true"}]}
RUN = {"yaml": "a: b", "sample": "x", "signal_type": "logs", "target_pipeline": "logs"}


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on AWS, where instances share the count."""
    monkeypatch.setenv("HEADGATE_CHECKER_FUNCTION", "headgate-checker")
    monkeypatch.setenv("HEADGATE_CHECKS_UNDER_WAY", str(LIMIT))
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    settings.cache_clear()


@pytest.fixture(params=["headgate-checker", ""], ids=["shared", "counted here"])
def _both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_CHECKER_FUNCTION", request.param)
    settings.cache_clear()


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join(ROUTERS, "ann")


@pytest.fixture
def caller(ann: Member) -> Caller:
    """Whoever has Ann's token."""
    found, _ = identity.authenticate(ann.token, clock.now())
    assert isinstance(found, Caller)
    return found


@pytest.fixture
def full(caller: Caller) -> Iterator[None]:
    """Every place of Ann's is taken."""
    with ExitStack() as held:
        for _ in range(LIMIT):
            held.enter_context(checks.under_way(caller))
        yield


def configuration(member: Member) -> str:
    made = member.http.post(f"{API}/configurations", json={"name": "a", "yaml": "a: b"})
    return str(made.json()["id"])


def default_group(member: Member) -> str:
    fleet = create_fleet(member, "Edge").json()["id"]
    (group,) = member.http.get(f"{API}/fleets/{fleet}/deployments").json()["items"]
    return f"{API}/fleets/{fleet}/deployments/{group['id']}"


def busy(*_: object, **__: object) -> dict[str, object]:
    raise CheckerBusy("asked")


ASKING: dict[str, Callable[[Member], Any]] = {
    "validate": lambda who: who.http.post(f"{API}/validate", json={"yaml": "a: b"}),
    "lint": lambda who: who.http.post(f"{API}/ottl/lint", json={"yaml": "a: b"}),
    "validated edit": lambda who: who.http.patch(
        f"{API}/configurations/{configuration(who)}/versions/1?validate=true", json={"yaml": "b: c"}
    ),
    "rules": lambda who: who.http.put(
        f"{API}/configurations/{configuration(who)}/versions/1/validation-pipelines/logs", json=RULES
    ),
    "upgrade of a text": lambda who: who.http.post(
        f"{API}/validate/upgrade-check", json={"yaml": "a: b", "to": "0.139.0"}
    ),
    "upgrade of a version": lambda who: who.http.post(
        f"{API}/configurations/{configuration(who)}/versions/1/upgrade-check", json={"to": "0.139.0"}
    ),
    "upgrade of a group": lambda who: who.http.post(
        f"{API}/fleets/{new_id('flt')}/deployments/{new_id('dep')}/upgrade-check", json={"to": "0.139.0"}
    ),
    "run": lambda who: who.http.post(f"{API}/testing/runs", json=RUN),
    "new group": lambda who: who.http.post(
        f"{API}/fleets/{new_id('flt')}/deployments",
        json={"name": "a", "configuration_id": new_id("cfg"), "version_number": 1},
    ),
    "assignment": lambda who: who.http.patch(default_group(who), json={"version_number": 1}),
}


@pytest.mark.parametrize("what", ASKING)
@pytest.mark.usefixtures("full")
def test_whatever_asks_the_collector_is_429_when_too_many_are_under_way(
    what: str, ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker.COLLECTORS, "call", lambda *_, **__: pytest.fail("the collector was asked"))

    answer = ASKING[what](ann)

    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_checks_under_way")
    assert int(answer.headers["Retry-After"]) >= 1
    assert int(answer.headers["RateLimit-Remaining"]) > 0


@pytest.mark.usefixtures("full")
def test_what_asks_nothing_goes_on(ann: Member) -> None:
    made = configuration(ann)

    edited = ann.http.patch(f"{API}/configurations/{made}/versions/1", json={"yaml": "b: c"})

    assert edited.status_code == 200


@pytest.mark.usefixtures("full")
def test_another_credential_is_not_held_up(join: JoinWith, monkeypatch: pytest.MonkeyPatch) -> None:
    bob = join(ROUTERS, "bob")
    monkeypatch.setattr(checker.COLLECTORS, "call", busy)

    assert ASKING["lint"](bob).json()["detail"] == "asked; the YAML was not checked"


@pytest.mark.usefixtures("_both")
def test_a_request_that_fails_gives_its_place_back(
    ann: Member, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker.COLLECTORS, "call", busy)
    for _ in range(LIMIT + 1):
        assert ASKING["lint"](ann).status_code == 503

    with ExitStack() as held:
        for _ in range(LIMIT):
            held.enter_context(checks.under_way(caller))


@pytest.mark.usefixtures("_both")
def test_of_many_at_once_exactly_as_many_as_may_get_in(caller: Caller) -> None:
    for _ in range(5):
        all_here, all_tried = threading.Barrier(16), threading.Barrier(16)

        def attempt(_: int, here: threading.Barrier = all_here, tried: threading.Barrier = all_tried) -> bool:
            here.wait()
            try:
                with checks.under_way(caller):
                    tried.wait()
                    return True
            except TooManyChecks:
                tried.wait()
                return False

        with ThreadPoolExecutor(16) as threads:
            assert sum(threads.map(attempt, range(16))) == LIMIT


@pytest.mark.usefixtures("full")
def test_places_of_requests_that_died_are_free_again_after_a_while(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TooManyChecks), checks.under_way(caller):
        pass

    later = clock.now() + timedelta(seconds=40)
    monkeypatch.setattr(clock, "now", lambda: later)

    with checks.under_way(caller):
        pass


def test_a_table_that_does_not_answer_is_503(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> str:
        raise ClientError({"Error": {"Code": "InternalServerError", "Message": "no"}}, "UpdateItem")

    monkeypatch.setattr(check_store, "add", fails)

    assert ASKING["validate"](ann).status_code == 503


def test_a_place_that_cannot_be_given_back_does_not_spoil_the_answer(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ClientError({"Error": {"Code": "InternalServerError", "Message": "no"}}, "UpdateItem")

    monkeypatch.setattr(check_store, "remove", fails)

    with checks.under_way(caller):
        pass


@pytest.mark.usefixtures("_both")
def test_the_number_is_a_parameter(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_CHECKS_UNDER_WAY", "1")
    settings.cache_clear()

    with checks.under_way(caller), pytest.raises(TooManyChecks, match="1 checks"), checks.under_way(caller):
        pass


def test_a_process_that_has_the_collectors_counts_without_the_table(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADGATE_CHECKER_FUNCTION", "")
    monkeypatch.setattr(check_store, "add", lambda *_: pytest.fail("the table was asked"))
    settings.cache_clear()

    with checks.under_way(caller):
        pass


def test_the_item_goes_by_itself(caller: Caller) -> None:
    with checks.under_way(caller):
        items = aws.dynamodb().scan(TableName=settings().identity_table)["Items"]
    (mine,) = [one for one in items if one["pk"]["S"] == f"checks#{caller.credential_id}"]

    assert datetime.fromtimestamp(int(mine["expires"]["N"]), clock.now().tzinfo) > clock.now()

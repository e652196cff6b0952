"""Every endpoint with AWS failing at each of its calls in turn, in every way.

First the request is made with nothing wrong, and its calls are counted. Then it is made again from the same state for
each call and each way to fail. A fault that passes must not be noticed; one that lasts ends in the answer that the
specification has for it, or was in something that the request does not depend on. Either nothing is saved then, or
what the request saves in all. The same request afterwards, in the same process, is answered as ever.

An endpoint without a row fails the first test.
"""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from headgate import checker
from headgate.checker import CheckerBusy, CheckerFailed, NotInstalled
from headgate.http import idempotency
from headgate.reference import builds
from headgate_local import template
from tests.support import asked_once, sizes
from tests.support.endpoints import ROWS, VERSION
from tests.support.faults.aws_faults import LASTING, PASSING, Fault, Kind
from tests.support.faults.bench import Bench, made_ready
from tests.support.faults.every_message import MESSAGES
from tests.support.faults.every_page import PAGES
from tests.support.faults.rows import ONCE, Row
from tests.support.faults.verdicts import clean, outage_problems, problems_of
from tests.support.fleet_endpoints import DEPLOYMENT, FLEET
from tests.support.processes import wait_until_ended
from tests.support.routes import pages
from tests.support.world import PUBLIC

pytestmark = pytest.mark.sized

EVERY_ROW: Final = [*ROWS, *PAGES, *MESSAGES]
# Whether it passes. The few take turns: not done, done unheard, and done with an error.
FEW: Final[list[tuple[Kind, bool]]] = [
    ("denied", False),
    ("throttled", True),
    ("lost", False),
    ("lost", True),
    ("unsure", False),
]
WAYS: Final = sizes.either(FEW, [*((kind, True) for kind in PASSING), *((kind, False) for kind in LASTING)])


@pytest.fixture(scope="module")
def bench(aws_here: template.Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with made_ready(aws_here, tmp_path_factory.mktemp("state")) as bench:
        yield bench


def test_every_page_has_a_row() -> None:
    # These two ask AWS for nothing.
    constant = {"GET /style.css", "GET /assets/{name}", f"GET {PUBLIC}/openapi.json"}

    assert {row.endpoint for row in PAGES} == {f"{method} {path}" for method, path in pages({"GET", "POST"})} - constant


# What only reads leaves nothing half saved: a third of it, and all that writes.
FAILED_ROWS: Final = sizes.either(
    [row for number, row in enumerate(EVERY_ROW) if number % 3 == 0 or not row.reads], EVERY_ROW
)


@pytest.mark.parametrize("row", FAILED_ROWS, ids=str)
def test_a_fault_at_any_call_ends_as_it_should(row: Row, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_once.install(monkeypatch)
    undisturbed = clean(row, bench)
    assert undisturbed.calls >= 1

    first = EVERY_ROW.index(row)
    calls = range(undisturbed.calls)
    # Every twelfth call, or each of them: rows make the same calls, and each row begins with another one.
    places = sizes.either(calls[first % 12 :: 12] or calls[first % len(calls) :][:1], calls)
    faults = [
        Fault(kind, at, once) for number, at in enumerate(places) for kind, once in sizes.turn(WAYS, first + number)
    ]
    problems = list(problems_of(row, bench, faults, undisturbed))
    assert not problems, "\n".join([f"{undisturbed.calls} calls", *problems])


CREATES: Final = [row for row in ROWS if row.endpoint.startswith(f"POST {PUBLIC}") and row.status in (201, 202)]


@pytest.mark.parametrize("row", CREATES, ids=str)
def test_a_create_that_died_before_its_answer_is_not_made_again(
    row: Row, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_once.install(monkeypatch)
    keyed = replace(row, headers=ONCE)
    bench.reset(row)
    with pytest.MonkeyPatch.context() as patch:
        # As a process that ends between the create and its answer: nothing of what comes after it is done.
        patch.setattr(idempotency, "store_answer", lambda *_: None)
        patch.setattr(idempotency, "release", lambda *_: None)
        first = bench.send(keyed)
    made = bench.changed()

    again = bench.send(keyed)

    assert (again.status_code, again.json()) == (first.status_code, first.json() | dict.fromkeys(row.shown_once))
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]
    assert again.headers.get("etag") == first.headers.get("etag")
    assert bench.changed() == made


def test_what_was_made_under_a_key_and_is_gone_is_made_anew(bench: Bench) -> None:
    row = next(row for row in CREATES if "runs" in row.endpoint and not row.name)
    keyed = replace(row, headers=ONCE)
    bench.reset(row)
    clean = bench.send(keyed)
    calls = [str(call) for call in bench.aws.calls]
    bench.reset(row)
    refused = bench.send(keyed, Fault("denied", calls.index("stepfunctions.StartExecution")))

    again = bench.send(keyed)

    assert (clean.status_code, refused.status_code, again.status_code) == (202, 503, 202)
    assert "idempotency-replayed" not in again.headers


OUTAGES: Final = {
    "failed": CheckerFailed("The collector's checker died on it"),
    "busy": CheckerBusy("No checker was free in time"),
    "not installed": NotInstalled("0.139.0"),
    "killed": None,
}
# What an outage of the checker does not stop: a validation by the plain command, an upgrade check, which asks once more
# if a version is busy, and an assignment, which says so.
UNSTOPPED: Final = (
    {("failed", f"POST {PUBLIC}/validate{what}") for what in ("", "/batch")}
    | {("failed", f"PATCH {VERSION}")}
    | {("busy", f"POST {path}/upgrade-check") for path in (f"{PUBLIC}/validate", VERSION, DEPLOYMENT)}
)


def asks_checker(row: Row) -> bool:
    words = (
        *("/validate", "upgrade-check", "/ottl", "/components", "/policies", "/suppressions", "PUT"),
        "POST /api/v1/public/testing",
    )
    return any(word in row.endpoint for word in words) or (
        row.query == "?validate=true"
        or "assigned" in row.name
        or row.endpoint in (f"POST {FLEET}/deployments", f"POST {FLEET}/captures")
    )


# A test is stored without being run, and a job asks when it is prepared.
SILENT: Final = (
    "volume-mounts",
    "/override",
    "/selector",
    "/mode",
    "{deployment_id}/captures",
    "/tests/",
    "/testing/suites",
    "/testing/comparisons",
    "/testing/coverage",
    "/fleets/prices",
)
ASKING: Final = [row for row in ROWS if asks_checker(row) and not any(word in row.endpoint for word in SILENT)]


@pytest.mark.parametrize(
    ("row", "outage"),
    [(row, outage) for number, row in enumerate(ASKING) for outage in sizes.turn([*OUTAGES], number)],
    ids=str,
)
def test_a_checker_that_fails_at_any_question_leaves_nothing_half_saved(row: Row, outage: str, bench: Bench) -> None:
    asked: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker.COLLECTORS, "call", counting(asked, None, ""))
        anew(bench, row)
        assert bench.send(row).status_code == row.status
        clean_changes = bench.changed()
        count = len(asked)
        assert count >= 1

        for at in range(count):
            asked.clear()
            patch.setattr(checker.COLLECTORS, "call", counting(asked, at, outage))
            anew(bench, row)
            response = bench.send(row)

            assigns = "/deployments" in row.endpoint and "upgrade-check" not in row.endpoint
            # A killed process may or may not be the one that is asked.
            unstopped = outage == "killed" and response.status_code == row.status
            # The first question of this run is to a version that is not installed anyway.
            unstopped |= (outage, row.name, at) == ("not installed", "refused", 0)
            # The verdict stands, and the part says that it was not checked.
            part = row.query.startswith("?lint=true") and at > 0 and outage != "killed"
            # Each of several texts says it for itself; after a failure the plain command gives the verdict.
            not_checked = '"problem":{"code":"not_checked"' in response.text
            # A process that is killed may be the one that is asked.
            batch = row.endpoint.endswith("/validate/batch")
            part |= batch and (outage in ("busy", "not installed") or (outage == "killed" and not_checked))
            if part:
                assert (response.status_code, not_checked) == (row.status, True)
                assert bench.changed() <= clean_changes
                continue
            # The versions' answers are compared without a second try.
            compares = asked[at : at + 1] == ["upgrade"]
            if unstopped or assigns or ((outage, row.endpoint) in UNSTOPPED and not compares):
                assert (response.status_code, bench.changed()) == (row.status, clean_changes), response.text
                told = [one["code"] for one in response.json().get("warnings", [])]
                assert not assigns or outage in ("killed", "failed") or "not_checked" in told
            else:
                assert not list(outage_problems(row, response)), response.text
                assert bench.changed() == set()
    bench.reset(row)
    assert bench.send(row).status_code == row.status


def anew(bench: Bench, row: Row) -> None:
    """Reset, also for the functions that ask a build once and keep its answer."""
    bench.reset(row)
    builds.forget()


def counting(asked: list[str], at: int | None, outage: str) -> Callable[..., dict[str, object]]:
    """`checker.COLLECTORS.call`, which meets the outage at the question number `at`."""
    call = CALL

    def counted(op: str, request: Mapping[str, object], **more: Any) -> dict[str, object]:
        asked.append(op)
        if len(asked) - 1 == at:
            failure = OUTAGES[outage]
            if failure is not None:
                raise type(failure)(failure.detail)
            for pid in checker.of_this_process().pids():
                os.kill(pid, signal.SIGKILL)
                wait_until_ended(pid)
        return call(op, request, **more)

    return counted


CALL: Final = checker.COLLECTORS.call

"""What counts for the alarms that undo a deployment: a defect does, what a caller or AWS brings about does not."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from flows.app import router as flows_router
from headgate import checker
from headgate.checker import (
    CheckerBusy,
    CheckerFailed,
    CheckerNotStarted,
    CheckerUnreachable,
    CollectorNotFetched,
    NotInstalled,
    Refused,
)
from headgate.checker.function import CheckerFunction
from headgate.fleets import tokens as fleet_tokens
from headgate.foundation import clock, metrics
from headgate.foundation.errors import BadGateway, Contention
from headgate.foundation.faults import Blame, blame
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import signing
from headgate.runs.execution import RunGone
from headgate.runs.run_steps import RunSteps
from headgate.storage import aws
from headgate_engine.validation import service as validation
from headgate_local import template
from headgate_local.service import functions
from run_steps.app import PassingFault, handler
from tests.support.askers import ASKER
from tests.support.aws import read_template
from tests.support.faults.aws_faults import Aws, Fault, Kind, watched
from tests.support.in_process import TestClient
from tests.support.lambda_invocations import Answer, running
from tests.support.members import API, JoinWith
from validation.app import router as validation_router

Told = list[tuple[int, str]]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """The status of each request, and whose fault it is if it is one."""
    told: Told = []

    def tell(status: int, blame: Blame = "ours") -> dict[str, object]:
        told.append((status, blame))
        return {}

    monkeypatch.setattr(metrics, "of_request", tell)
    return told


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (CheckerBusy("All are taken"), (503, "caller")),
        (CheckerFailed("It died on this text"), (503, "caller")),
        (CheckerNotStarted("It cannot be executed"), (503, "ours")),
        (CheckerUnreachable("It may not be asked"), (503, "ours")),
        (CollectorNotFetched("It is not what was announced"), (503, "ours")),
        (NotInstalled(settings().collector_version), (503, "ours")),
        (RuntimeError("a defect"), (500, "ours")),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else "",
)
def test_an_outage_of_the_checker_counts_by_its_cause(
    error: Exception, expected: tuple[int, str], told: Told, join: JoinWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker.COLLECTORS, "call", raising(error))
    monkeypatch.setattr(checker.COLLECTORS, "validate_plainly", raising(error))

    join([validation_router]).http.post(f"{API}/validate", json={"yaml": "a: b"})

    assert told == [expected]


@pytest.mark.parametrize(
    ("error", "status"),
    [(NotInstalled("0.0.1", ("0.139.0",)), 422), (Refused("too_costly", "It has 3,000 components"), 422)],
    ids=["a version that is not there", "a text that is too costly"],
)
def test_what_is_wrong_with_a_request_is_not_a_server_error(
    error: Exception, status: int, told: Told, join: JoinWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker.COLLECTORS, "call", raising(error))

    join([validation_router]).http.post(f"{API}/validate", json={"yaml": "a: b", "version": "0.0.1"})

    assert [one[0] for one in told] == [status]


def test_fleets_that_are_not_configured_are_not_the_fault_of_a_deployment(
    told: Told, join: JoinWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADGATE_FLEET_ENDPOINT", raising=False)
    settings.cache_clear()

    join([*fleets_routers]).http.post(f"{API}/fleets", json={"label": "a", "type": "server-supervisor"})

    assert told == [(503, "caller")]


def test_changes_that_come_in_each_others_way_are_not_the_fault_of_ours(
    told: Told, join: JoinWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.configurations.service.create", raising(Contention("Too many at once")))

    join([configurations_router]).http.post(f"{API}/configurations", json={"name": "Edge", "yaml": "a: b"})

    assert told == [(503, "caller")]


def test_a_gallery_that_nobody_has_published_is_not_a_fault_of_a_deployment(told: Told, join: JoinWith) -> None:
    join([flows_router]).http.get(f"{API}/flows")

    assert told == [(503, "caller")]


@pytest.fixture
def faulty(aws_here: template.Template) -> Iterator[Aws]:
    with watched() as found:
        yield found
    aws.forget_clients()


KINDS: list[tuple[Kind, Blame]] = [
    ("refused", "aws"),
    ("cut", "aws"),
    ("timeout", "aws"),
    ("throttled", "aws"),
    ("error", "aws"),
    ("denied", "ours"),
]


@pytest.mark.parametrize(("kind", "blame"), KINDS)
@pytest.mark.parametrize("path", [f"{API}/configurations", f"{API}/fleets"])
def test_a_table_that_denies_counts_and_one_that_does_not_answer_does_not(
    kind: Kind, blame: Blame, path: str, faulty: Aws, told: Told, join: JoinWith
) -> None:
    """The fault is in the request's own work; the second path answers 502."""
    ann = join([configurations_router, *fleets_routers])
    faulty.begin(Fault(kind, 2))

    answer = ann.http.get(path)

    assert (faulty.hit, told) == (True, [(answer.status_code, blame)])
    assert answer.status_code in (502, 503)


@pytest.mark.parametrize(("kind", "blame"), KINDS)
def test_a_page_and_a_collectors_message_count_alike(kind: Kind, blame: Blame, faulty: Aws, told: Told) -> None:
    http = TestClient(functions(read_template()), raise_server_exceptions=False)
    sender = {
        "Authorization": f"Bearer {fleet_tokens.value_of(new_id('flt'), 1)}",
        "X-Deployment-Id": new_id("dep"),
        "Content-Type": "application/x-protobuf",
    }
    signing.signing_key.cache_clear()
    faulty.begin(Fault(kind, 0))
    page = http.get("/sign-in")
    faulty.begin(Fault(kind, 0))
    message = http.post("/v1/opamp", headers=sender, content=b"")

    assert (page.status_code, message.status_code) == (503, 503)
    assert told == [(503, blame), (503, blame)]


def test_an_outage_counts_by_what_it_came_of() -> None:
    def outage_of(cause: Exception) -> BadGateway:
        try:
            raise BadGateway("The fleet service did not answer") from cause
        except BadGateway as error:
            return error

    assert [blame(outage_of(cause)) for cause in (CheckerBusy("busy"), ValueError("x"))] == ["caller", "ours"]


FAILURES = {
    "too long": (b'{"errorMessage": "2026-11-22T01:02:03Z 5f1c Task timed out after 29.00 seconds"}', "caller"),
    "too long, in its newer words": (b'{"errorType": "Sandbox.Timedout", "errorMessage": "x"}', "caller"),
    "too much memory": (b'{"errorType": "Runtime.OutOfMemory", "errorMessage": "x"}', "caller"),
    "killed": (b'{"errorType": "Runtime.ExitError", "errorMessage": "Runtime exited: signal: killed"}', "caller"),
    "it does not start": (b'{"errorType": "Runtime.ImportModuleError", "errorMessage": "No module"}', "ours"),
    "a defect": (b'{"errorType": "KeyError", "errorMessage": "request"}', "ours"),
}


@pytest.mark.parametrize(("payload", "expected"), FAILURES.values(), ids=FAILURES)
def test_a_text_that_ends_the_collectors_function_is_its_senders_affair(
    payload: bytes, expected: Blame, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    with running(lambda *_: Answer(payload, function_error="Unhandled")) as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", served.url)
        aws.forget_clients()
        monkeypatch.setattr(checker.COLLECTORS, "call", CheckerFunction("checker").call)
        with pytest.raises(validation.NotChecked) as caught:
            validation.validate("a: b", asker=ASKER)
    aws.forget_clients()

    assert blame(caught.value) == expected


# Steps of test runs: Lambda counts an error for each exception, the code those that are to be expected.


@pytest.fixture
def in_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "headgate-RunStepsFunction-1A2B")


def errors_and_expected(attempt: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    """The two metrics of RunStepsErrorsAlarm after one invocation."""
    errors = 0
    try:
        attempt()
    except Exception:  # noqa: BLE001  Lambda's runtime counts any error
        errors = 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return errors, sum("ExpectedStepErrors" in line for line in lines)


def a_step() -> object:
    return handler({"step": "finish", "run_id": "run_1"}, None)


@pytest.mark.parametrize(("kind", "blame"), KINDS)
def test_a_step_that_is_tried_again_counts_only_where_trying_cannot_help(
    kind: Kind, blame: Blame, faulty: Aws, in_lambda: None, capsys: pytest.CaptureFixture[str]
) -> None:
    faulty.begin(Fault(kind, 0))
    failed = errors_and_expected(a_step, capsys)
    faulty.begin()
    again = errors_and_expected(a_step, capsys)

    assert (failed, again) == ((1, 0 if blame == "ours" else 1), (0, 0))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (CheckerBusy("All are taken"), (1, 1)),
        (CheckerFailed("It died on this output"), (1, 1)),
        (RunGone(), (1, 1)),
        (CheckerNotStarted("It cannot be executed"), (1, 0)),
        (KeyError("a defect"), (1, 0)),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else "",
)
def test_a_step_counts_by_its_cause(
    error: Exception,
    expected: tuple[int, int],
    in_lambda: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(RunSteps, "finish", raising(error))

    assert errors_and_expected(a_step, capsys) == expected


def test_an_expected_error_is_of_the_minute_in_which_lambda_counts_it(
    in_lambda: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    began = clock.now().replace(microsecond=0)
    times = iter([began])
    monkeypatch.setattr("run_steps.app.clock.now", lambda: next(times))
    monkeypatch.setattr(RunSteps, "finish", raising(CheckerBusy("All are taken")))

    with pytest.raises(PassingFault, match="All are taken"):
        a_step()

    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert line["_aws"]["Timestamp"] == int(began.timestamp() * 1000)

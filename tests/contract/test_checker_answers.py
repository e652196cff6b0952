"""The custom resource that asks a new version of the collector's function: what it tells CloudFormation."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from checker.app import handler as checker_handler
from headgate import checker
from headgate.foundation.settings import settings
from headgate.storage import aws
from tests.support import lambda_invocations
from tests.support.cloudformation import Answers, taking_answers
from tests.support.lambda_invocations import Answer, answering
from validation import checker_answers

pytestmark = [pytest.mark.contract, pytest.mark.collector]

ARN = "arn:aws:lambda:us-east-1:123456789012:function:headgate-checker:7"


@pytest.fixture
def cloudformation() -> Iterator[tuple[str, Answers]]:
    with taking_answers() as taking:
        yield taking


@pytest.fixture
def told_after(
    cloudformation: tuple[str, Answers], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., tuple[dict[str, Any], list[tuple[str, str, int]]]]]:
    """What CloudFormation is told if Lambda answers so, and what was invoked."""
    url, told = cloudformation

    def after(
        answer: Callable[[str, bytes], Answer], kind: str = "Create"
    ) -> tuple[dict[str, Any], list[tuple[str, str, int]]]:
        with lambda_invocations.running(answer) as served:
            monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", served.url)
            monkeypatch.setenv("HEADGATE_CHECKER_FUNCTION", ARN)
            for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "us-east-1"}.items():
                monkeypatch.setenv(f"AWS_{name}", value)
            settings.cache_clear()
            aws.forget_clients()
            checker._function.cache_clear()
            event = {
                "RequestType": kind,
                "ResponseURL": url,
                "StackId": "s",
                "RequestId": "r",
                "LogicalResourceId": "CheckerAnswers",
                "ResourceProperties": {"Checker": ARN},
            }
            checker_answers.handler(event, None)
        return told[-1], served.invoked

    yield after
    settings.cache_clear()
    aws.forget_clients()
    checker._function.cache_clear()


# The checker's own function, in this process.
really = answering(lambda question: checker_handler(question, None))
NOT_STARTED = {"error": {"kind": "not_started", "code": "", "message": "The checker is refused", "installed": []}}


def always(payload: object) -> Callable[[str, bytes], Answer]:
    return lambda _name, _payload: Answer(json.dumps(payload).encode())


def test_a_function_that_answers_rightly_names_its_walls(told_after: Any) -> None:
    told, invoked = told_after(really)

    assert (told["Status"], told["Reason"]) == ("SUCCESS", "Done")
    assert "system calls" in told["Data"]["Walls"]
    assert {(name, tenant) for name, tenant, _ in invoked} == {(ARN, "deployment")}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (always(NOT_STARTED), "The checker is refused"),
        (lambda *_: Answer(status=404, code="ResourceNotFoundException"), "could not be asked"),
        (lambda *_: Answer(b'{"errorType": "Runtime.ExitError"}', function_error="Unhandled"), "function"),
        (always({"result": "?"}), "unknown form"),
    ],
)
def test_a_function_that_does_not_start_fails_the_stack_with_that_reason(
    told_after: Any, answer: Callable[[str, bytes], Answer], reason: str
) -> None:
    told, _ = told_after(answer)

    assert told["Status"] == "FAILED"
    assert reason in told["Reason"]


def test_a_function_that_takes_a_bad_text_for_a_good_one_fails_the_stack(told_after: Any) -> None:
    def good(name: str, payload: bytes) -> Answer:
        answered = really(name, payload)
        return Answer(answered.payload.replace(b'"valid": false', b'"valid": true'))

    told, _ = told_after(good)

    assert told["Status"] == "FAILED"
    assert told["Reason"].startswith("The collector's function takes a bad text for another")


def test_a_deletion_asks_nothing(told_after: Any) -> None:
    told, invoked = told_after(always({}), "Delete")

    assert (told["Status"], invoked) == ("SUCCESS", [])

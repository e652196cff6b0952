"""The function that has the collectors, as those who ask it see it: whatever comes back, nothing of it is believed."""

import base64
import json
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from checker import large_questions
from checker.app import handler
from headgate.checker import (
    Asker,
    CheckerBusy,
    CheckerFailed,
    CheckerUnreachable,
    Described,
    NoChecker,
    NotInstalled,
    Refused,
    Unusable,
    links,
)
from headgate.checker.function import CheckerFunction
from headgate.checker.links import ForeignAddress
from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate_engine.checker import messages
from headgate_engine.checker.messages import Malformed
from headgate_engine.rules import engine
from headgate_engine.rules.engine import SandboxFailed
from headgate_engine.rules.model import Rule
from headgate_engine.validation import service as validation
from headgate_engine.validation.model import NotChecked
from tests.support.askers import ASKER
from tests.support.lambda_invocations import Answer, Invocations, running

NAME = "arn:aws:lambda:us-east-1:123456789012:function:headgate-checker:live"
ANSWER = {"result": {"valid": True}}


def sent(answer: object) -> Answer:
    return Answer(json.dumps(answer).encode())


def packed(text: bytes) -> Answer:
    return sent({"gz": base64.b64encode(zlib.compress(text, 1)).decode()})


@pytest.fixture
def invocations(monkeypatch: pytest.MonkeyPatch) -> Iterator[Invocations]:
    for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    with running(lambda *_: sent(ANSWER)) as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", served.url)
        monkeypatch.setenv("HEADGATE_CHECKER_FUNCTION", NAME)
        settings.cache_clear()
        aws.forget_clients()
        yield served
    settings.cache_clear()
    aws.forget_clients()


@pytest.fixture
def function(invocations: Invocations) -> CheckerFunction:
    return CheckerFunction(NAME)


def test_the_organization_is_the_tenant(function: CheckerFunction, invocations: Invocations) -> None:
    function.call("validate", {}, asker=Asker("org_a", "tok_1"))
    function.call("validate", {}, asker=Asker("org_b", "tok_2"))

    assert [(name, tenant) for name, tenant, _ in invocations.invoked] == [(NAME, "org_a"), (NAME, "org_b")]


@pytest.mark.parametrize(("seconds", "waited"), [(None, [24]), (1_000, [24]), (20, [18]), (13, [12]), (3, [6])])
def test_the_function_is_waited_for_as_long_as_the_asker_has_time(
    seconds: float | None, waited: list[int], monkeypatch: pytest.MonkeyPatch, function: CheckerFunction
) -> None:
    asked: list[int] = []

    def functions(seconds: int) -> aws.LambdaClient:
        asked.append(seconds)
        return client

    client = aws.functions()
    monkeypatch.setattr(aws, "functions", functions)
    asker = ASKER if seconds is None else ASKER.until(time.monotonic() + seconds)
    function.call("validate", {}, asker=asker)

    assert asked == waited


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ({"kind": "refused", "code": "too_costly", "message": "m", "installed": []}, Refused),
        ({"kind": "busy", "code": "", "message": "m", "installed": []}, CheckerBusy),
        ({"kind": "failed", "code": "", "message": "m", "installed": []}, CheckerFailed),
        ({"kind": "unusable", "code": "", "message": "m", "installed": []}, Unusable),
        ({"kind": "no_checker", "code": "", "message": "m", "installed": []}, NoChecker),
        ({"kind": "not_installed", "code": "0.1.2", "message": "m", "installed": ["0.139.0"]}, NotInstalled),
        ({"kind": "another", "code": "", "message": "m", "installed": []}, CheckerUnreachable),
        ({"kind": "refused", "code": 5, "message": "m", "installed": []}, CheckerUnreachable),
        ({"kind": "not_installed", "code": "0.1.2", "message": "m", "installed": "all"}, CheckerUnreachable),
        ("refused", CheckerUnreachable),
    ],
)
def test_an_error_comes_out_as_it_went_in_or_as_none_of_ours(
    function: CheckerFunction, invocations: Invocations, error: object, raised: type[Exception]
) -> None:
    invocations.answer = lambda *_: sent({"error": error})

    with pytest.raises(raised):
        function.call("validate", {}, asker=ASKER)


HOSTILE = {
    "nothing": Answer(b""),
    "no JSON": Answer(b"\x00\xff"),
    "no object": sent([ANSWER]),
    "neither result nor error": sent({"valid": True}),
    "a result that is not an object": sent({"result": [1]}),
    "more than an invocation carries": Answer(b'{"result": {"a": "' + b"x" * 6_500_000 + b'"}}'),
    "an answer and megabytes of nothing": Answer(json.dumps(ANSWER).encode() + b" " * 6_500_000),
    "a part of an answer": Answer(b'{"result": {"valid": true}}', declared_bytes=40),
    "too deep": Answer(b'{"result": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}"),
    "far too deep": Answer(b'{"result": {"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}}"),
    "deep, packed": packed(b'{"result": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}"),
    "endless lists, packed": packed(b'{"result": {"a": [' + b"[]," * 2_000_000 + b"1]}}"),
    "a bomb": packed(b'{"result": {"a": "' + b"x" * (messages.MAX_BYTES + 1) + b'"}}'),
    "not packed at all": sent({"gz": "AAAA"}),
    "packed, not as text": sent({"gz": 5}),
    "packed by half": sent({"gz": base64.b64encode(zlib.compress(b'{"result": {}}' * 99)[:-8]).decode()}),
    "a string without end": Answer(b'{"result": {"a": "' + rb"\"" * 500_000),
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_is_not_a_verdict(function: CheckerFunction, invocations: Invocations, answer: Answer) -> None:
    invocations.answer = lambda *_: answer

    with pytest.raises(CheckerUnreachable):
        function.call("validate", {}, asker=ASKER)


WRONG: dict[str, dict[str, Any]] = {
    "an object without anything": {},
    "valid with errors": {
        "valid": True,
        "errors": [{"message": "m", "component_path": "", "code": "other"}],
        "warnings": [],
        "environment": [],
    },
    "words for numbers": {"valid": "yes", "errors": {}, "warnings": 5, "environment": None},
    "a code of its own": {
        "valid": False,
        "errors": [{"message": "m", "component_path": "", "code": "<script>"}],
        "warnings": [],
        "environment": [],
    },
}


@pytest.mark.parametrize("result", WRONG.values(), ids=WRONG)
def test_an_answer_of_another_shape_is_an_outage_to_whoever_asked(
    invocations: Invocations, result: dict[str, Any]
) -> None:
    invocations.answer = lambda *_: sent({"result": result})
    asked: list[Callable[[], object]] = [
        lambda: validation.validate("a: b", asker=ASKER),
        lambda: validation.lint_yaml("a: b", asker=ASKER),
        lambda: engine.signals_of("a: b", "logs", "logs", asker=ASKER, yaml_at=("body", "yaml")),
        lambda: engine.evaluate(["logs"], [RULE], "{}", asker=ASKER),
    ]

    for ask in asked:
        with pytest.raises((NotChecked, SandboxFailed)):
            ask()


RULE = Rule("r", "true", "log", "any")


def test_what_is_installed_is_one_question(function: CheckerFunction, invocations: Invocations) -> None:
    built = {"version": "0.158.0", "description": {"reduced": True}, "unusable": ""}
    release = {"version": "0.150.0", "description": None, "unusable": ""}
    invocations.answer = lambda *_: sent({"result": {"collectors": [built, release]}})

    assert function.described(asker=ASKER) == (
        Described("0.158.0", {"reduced": True}),
        Described("0.150.0", None),
    )
    assert len(invocations.invoked) == 1


@pytest.mark.parametrize(
    "collectors",
    [
        "all",
        [5],
        [{"version": "0.158.0"}],
        [{"version": 5, "description": None, "unusable": ""}],
        [{"version": "0.158.0", "description": [], "unusable": ""}],
        [{"version": "0.158.0", "description": None, "unusable": None}],
        [{"version": "../0.158.0", "description": None, "unusable": ""}],
        [{"version": "0.158", "description": None, "unusable": ""}],
    ],
)
def test_a_list_of_another_shape_is_an_outage(
    function: CheckerFunction, invocations: Invocations, collectors: object
) -> None:
    invocations.answer = lambda *_: sent({"result": {"collectors": collectors}})

    with pytest.raises(CheckerUnreachable):
        function.described(asker=ASKER)


@pytest.mark.parametrize(("code", "raised"), [("TooManyRequestsException", CheckerBusy), ("X", CheckerUnreachable)])
def test_a_function_that_is_not_started_is_asked_once_more_where_that_may_help(
    function: CheckerFunction, invocations: Invocations, code: str, raised: type[Exception]
) -> None:
    invocations.answer = lambda *_: Answer(status=429 if raised is CheckerBusy else 403, code=code)

    with pytest.raises(raised):
        function.call("validate", {}, asker=ASKER)

    assert len(invocations.invoked) == (2 if raised is CheckerBusy else 1)


def test_a_function_that_failed_is_not_asked_for_the_plain_commands_verdict_too(invocations: Invocations) -> None:
    """It may have taken all the time there was."""
    invocations.answer = lambda *_: Answer(b"{}", function_error="Unhandled")

    with pytest.raises(NotChecked):
        validation.validate("a: b", asker=ASKER)

    assert len(invocations.invoked) == 1


@pytest.mark.parametrize("size", [10, 100_000, 3_000_000])
def test_a_message_comes_out_as_it_went_in_whatever_its_size(size: int) -> None:
    message = {"op": "any", "text": "ä\x00\U0001f600\ud800" * (size // 4)}
    envelope = messages.packed(message)

    assert messages.unpacked(messages.parsed(json.dumps(envelope).encode())) == message
    assert messages.size(envelope) < max(200, size)


def test_brackets_in_strings_are_not_depth() -> None:
    text = json.dumps({"a": "[" * 1000 + '"' + "{" * 1000, "b\\": ["\\", '"[[[']})

    assert messages.parsed(text.encode())["a"] == "[" * 1000 + '"' + "{" * 1000


@pytest.mark.parametrize(
    ("text", "said"), [(b'{"a": [1', "what is not JSON"), (b'{"a": ' + b"[" * 1000, "nested deeper than 64 levels")]
)
def test_an_answer_that_ends_early_is_malformed(text: bytes, said: str) -> None:
    with pytest.raises(Malformed, match=said):
        messages.parsed(text)


@pytest.mark.parametrize(("levels", "fits"), [(messages.DEEPEST - 1, True), (messages.DEEPEST, False)])
def test_depth_ends_where_it_is_said_to(levels: int, fits: bool) -> None:
    text = b'{"a": ' + b"[" * levels + b"]" * levels + b"}"
    if fits:
        assert messages.parsed(text)
    else:
        with pytest.raises(Malformed, match="nested deeper than 64 levels"):
            messages.parsed(text)


@pytest.mark.parametrize(
    "url",
    [
        "http://bucket.s3.eu-central-1.amazonaws.com/checks/a?X-Amz-Signature=1",
        "https://bucket.s3.eu-central-1.amazonaws.com:8443/checks/a",
        "https://bucket.s3.us-west-2.amazonaws.com/checks/a",
        "https://s3.eu-central-1.amazonaws.com.evil.example/checks/a",
        "https://evil.example/.s3.eu-central-1.amazonaws.com/checks/a",
        "https://evil.example#.s3.eu-central-1.amazonaws.com/",
        "https://user:word@bucket.s3.eu-central-1.amazonaws.com/checks/a",
        "https://bucket.s3.eu-central-1.amazonaws.com@evil.example/checks/a",
        "https://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
        "file:///etc/passwd",
        "https:///checks/a",
        "",
    ],
)
def test_a_question_is_fetched_from_this_regions_s3_and_from_nowhere_else(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)

    with pytest.raises(ForeignAddress):
        large_questions.fetch(url)


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1"])
def test_the_urls_that_are_signed_here_are_taken(region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    aws.forget_clients()
    url = aws.s3().generate_presigned_url("get_object", Params={"Bucket": "headgate-bucket-1", "Key": "checks/a"})
    aws.forget_clients()

    connection, target = links.connection(url)
    assert connection.host.startswith("headgate-bucket-1.s3.")
    assert target.startswith("/checks/a?X-Amz-")


def test_a_question_of_another_organization_than_the_environments_is_not_answered() -> None:
    class Context:
        tenant_id = "org_a"

    question = {"op": "installed", "request": {}, "organization_id": "org_b", "credential_id": "tok_b"}
    with pytest.raises(ValueError, match="another organization"):
        handler(question, Context())

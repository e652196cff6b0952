"""Whatever a route answers, the function returns what Lambda takes: the answer if it fits, or a problem."""

import base64
import gzip
import json
import sys
from typing import Any

import pytest
from awslambdaric.lambda_runtime_marshaller import to_json
from fastapi import APIRouter, Response

from headgate.http.app import Handler, create_app, lambda_handler
from tests.support.lambda_runtime import http_event

LIMIT = 6 * 1_048_576
JSON = "application/json"
# Each takes more bytes in the function's answer than in its own encoding, or as many.
CHARACTERS = ("a", '"', "\n", "\x01", "é", "☃", "😀")


@pytest.fixture(scope="module")
def handler() -> Handler:
    router = APIRouter()

    @router.get("/answer")
    def answer(character: str, times: int, media_type: str) -> Response:
        return Response(character * times, media_type=media_type)

    return lambda_handler(create_app("Test", [router]))


@pytest.fixture(autouse=True)
def _as_on_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    """By it, Lambda's runtime chooses how it writes characters beyond ASCII."""
    monkeypatch.setenv("AWS_EXECUTION_ENV", f"AWS_Lambda_python3.{sys.version_info.minor}")


def asked(handler: Handler, character: str, times: int, media_type: str, coding: str = "") -> dict[str, Any]:
    event: dict[str, Any] = http_event("GET", "/answer")
    event["headers"] |= {"accept-encoding": coding} if coding else {}
    event["rawQueryString"] = f"character=%{character.encode().hex('%')}&times={times}&media_type={media_type}"
    return handler(event, None)


def size_of(answer: dict[str, Any]) -> int:
    return len(to_json(answer).encode())


@pytest.mark.parametrize(
    ("character", "media_type"),
    [*((character, JSON) for character in CHARACTERS), ("☃", "text/plain; charset=utf-8"), ("☃", "image/png")],
)
def test_an_answer_of_any_content_is_sent_up_to_the_limit_and_refused_beyond(
    handler: Handler, character: str, media_type: str
) -> None:
    one, two = (size_of(asked(handler, character, times * 3, media_type)) for times in (1_000, 2_000))
    fitting = (LIMIT - 2 * one + two) // ((two - one) // 1_000) - 5
    sent, refused = (asked(handler, character, 3 * times, media_type) for times in (fitting, fitting + 50))

    assert sent["statusCode"] == 200
    assert LIMIT - 1_000 < size_of(sent) <= LIMIT
    assert (refused["statusCode"], refused["headers"]["content-type"]) == (500, "application/problem+json")
    told = json.loads(refused["body"])
    assert (told["code"], told["request_id"]) == ("answer_too_large", refused["headers"]["x-request-id"])
    assert "a smaller `limit`" in told["detail"]


@pytest.mark.parametrize("coding", ["gzip", "br, gzip;q=0.5"])
def test_a_larger_answer_is_compressed_for_who_takes_that(handler: Handler, coding: str) -> None:
    answer = asked(handler, '"', 5_000_000, JSON, coding)

    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, True)
    content = base64.b64decode(answer["body"])
    assert (answer["headers"]["content-encoding"], answer["headers"]["vary"]) == ("gzip", "Accept-Encoding")
    assert answer["headers"]["content-length"] == str(len(content))
    assert gzip.decompress(content) == b'"' * 5_000_000


@pytest.mark.parametrize("coding", ["", "identity", "gzip;q=0"])
def test_it_is_refused_to_who_does_not(handler: Handler, coding: str) -> None:
    answer = asked(handler, '"', 5_000_000, JSON, coding)

    assert json.loads(answer["body"])["code"] == "answer_too_large"
    assert "Accept-Encoding: gzip" in json.loads(answer["body"])["detail"]


def test_what_is_no_text_is_refused_to_everybody(handler: Handler) -> None:
    answer = asked(handler, "☃", 2_500_000, "image/png", "gzip")

    assert json.loads(answer["body"])["code"] == "answer_too_large"

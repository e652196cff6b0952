"""Whatever a route answers, the function returns what Lambda takes: the answer if it fits, or a problem."""

import json
from typing import Any

import pytest
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


def asked(handler: Handler, character: str, times: int, media_type: str) -> dict[str, Any]:
    event = http_event("GET", "/answer")
    event["rawQueryString"] = f"character=%{character.encode().hex('%')}&times={times}&media_type={media_type}"
    return handler(event, None)


def size_of(answer: dict[str, Any]) -> int:
    return len(json.dumps(answer, ensure_ascii=False).encode())


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

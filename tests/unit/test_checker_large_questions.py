"""Fetching a question too large for an invocation: from where it was put, before any process starts, and no further."""

import json
import os

import pytest

from checker import large_questions
from checker.app import handler
from headgate import checker
from headgate_engine.checker import messages
from headgate_engine.checker.messages import Malformed
from tests.support.askers import ASKER
from tests.support.bucket_stand_in import Bucket

QUESTION = {
    "op": "any",
    "request": {"echo": "fetched"},
    "organization_id": ASKER.organization_id,
    "credential_id": ASKER.credential_id,
}


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.usefixtures("faulty_checker")
def test_no_process_that_has_read_a_text_is_alive_while_the_next_one_is_fetched(bucket: Bucket) -> None:
    bucket.answers["/bucket/checks/a"] = (200, {}, json.dumps(messages.packed(QUESTION)).encode())
    first = handler(QUESTION, None)
    pids = checker.of_this_process().pids()
    gone: list[bool] = []
    bucket.while_asked = lambda: gone.extend(map(is_gone, pids))

    second = handler({"url": f"{bucket.url}/bucket/checks/a?X-Amz-Signature=1"}, None)

    assert (first["result"]["echo"], second["result"]["echo"]) == ("fetched", "fetched")
    assert bucket.asked == ["/bucket/checks/a?X-Amz-Signature=1"]
    assert gone == [True] * len(pids) != []


@pytest.mark.parametrize(
    "answer",
    [
        (302, {"Location": "/latest/meta-data"}, b""),
        (307, {"Location": "http://127.0.0.1:1/"}, b""),
        (403, {}, b"<Error/>"),
        (200, {"Content-Length": "50"}, b'{"op": "any"}'),
        (200, {}, b" " * (messages.MAX_BYTES + 1)),
    ],
    ids=["a redirect", "another redirect", "expired", "a part", "too much"],
)
def test_an_incomplete_question_is_not_answered(bucket: Bucket, answer: tuple[int, dict[str, str], bytes]) -> None:
    bucket.answers = {"/bucket/checks/a": answer, "/latest/meta-data": (200, {}, json.dumps(QUESTION).encode())}

    with pytest.raises(OSError, match=r"S3 (answered|broke off)"):
        large_questions.fetch(f"{bucket.url}/bucket/checks/a?X-Amz-Signature=1")
    assert bucket.asked == ["/bucket/checks/a?X-Amz-Signature=1"]


def test_malformed_json_is_not_a_question(bucket: Bucket) -> None:
    bucket.answers["/bucket/checks/a"] = (200, {}, b"<html>")

    with pytest.raises(Malformed):
        large_questions.fetch(f"{bucket.url}/bucket/checks/a?X-Amz-Signature=1")

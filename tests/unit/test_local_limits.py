"""What API Gateway and Lambda would refuse of a function's requests and answers, the local service refuses."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headgate_local import limits
from headgate_local.limits import MOST_PAYLOAD, Limited, Throttle

Headers = Sequence[tuple[bytes, bytes]]
JSON: Headers = [(b"content-type", b"application/json")]
PROTOBUF: Headers = [(b"content-type", b"application/x-protobuf")]


def answering(content: bytes = b"{}", headers: Headers = JSON, *, reads: bool = False, waits: float = 0) -> ASGIApp:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if reads:
            await receive()
        await asyncio.sleep(waits)
        await send({"type": "http.response.start", "status": 200, "headers": list(headers)})
        await send({"type": "http.response.body", "body": content})

    return application


async def _ask(
    application: ASGIApp,
    body: bytes = b"",
    headers: Headers = JSON,
    path: str = "/a",
    receive: Receive | None = None,
) -> tuple[int, bytes]:
    sent: list[Message] = []

    async def receive_whole() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    await application({**scope, "headers": list(headers)}, receive or receive_whole, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


def ask(application: ASGIApp, body: bytes = b"", headers: Headers = JSON, path: str = "/a") -> tuple[int, bytes]:
    return asyncio.run(_ask(application, body, headers, path))


@pytest.mark.parametrize(
    ("headers", "path"),
    [([(b"cookie", b"x" * 10_240)], "/a"), ([(b"a", b"x")] * 3_000, "/a"), ([], "/" + "a" * 10_240)],
)
def test_a_head_of_over_ten_kilobytes_is_431(headers: Headers, path: str) -> None:
    status, body = ask(Limited(answering()), headers=headers, path=path)

    assert (status, json.loads(body)) == (431, {"message": "Request Header Fields Too Large"})


def test_a_head_below_that_is_passed_on() -> None:
    assert ask(Limited(answering()), headers=[(b"cookie", b"x" * 10_000)])[0] == 200


@pytest.mark.parametrize(
    ("headers", "size", "status"),
    [(JSON, 5_900_000, 200), (JSON, 6_400_000, 413), (PROTOBUF, 4 * 1_048_576, 200), (PROTOBUF, 4_800_000, 413)],
)
def test_a_body_that_does_not_fit_into_an_event_is_413(headers: Headers, size: int, status: int) -> None:
    assert ask(Limited(answering(reads=True)), b"x" * size, headers)[0] == status


def test_a_body_is_not_read_before_the_function_asks_for_it() -> None:
    assert ask(Limited(answering()), b"x" * 7_000_000)[0] == 200


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"x" * 6_200_000, JSON, 200),
        # Each quote is two bytes in the function's own JSON.
        (b'"' * 3_200_000, JSON, 500),
        (b"x" * 4_800_000, PROTOBUF, 500),
    ],
)
def test_an_answer_that_lambda_does_not_take_is_500(content: bytes, headers: Headers, status: int) -> None:
    assert ask(Limited(answering(content, headers)))[0] == status


def test_a_function_that_takes_too_long_is_500() -> None:
    assert ask(Limited(answering(waits=5), seconds=0.05))[0] == 500


@pytest.mark.parametrize(
    ("reads", "body", "status"),
    # A function that does not read is slow itself, whatever of the body is on its way.
    [(True, b"begun", 408), (True, None, 500), (False, b"begun", 500)],
)
def test_a_body_that_does_not_arrive_in_time_is_408(reads: bool, body: bytes | None, status: int) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        while reads and (await receive()).get("more_body"):
            pass
        await asyncio.Event().wait()

    async def asked() -> int:
        sent: list[Message] = []
        parts = [{"type": "http.request", "body": body or b"", "more_body": body is not None}]

        async def receive() -> Message:
            return parts.pop() if parts else await asyncio.Future()

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/a", "query_string": b"", "headers": JSON}
        await Limited(application, seconds=0.02)(scope, receive, send)
        return int(sent[0]["status"])

    assert asyncio.run(asked()) == status


def test_a_stage_takes_so_many_at_once_and_then_so_many_a_second() -> None:
    now = 100.0
    throttle = Throttle(200, 500)
    throttle._at = now
    limited = Limited(answering(), throttle=throttle, clock=lambda: now)

    assert [ask(limited)[0] for _ in range(501)] == [200] * 500 + [429]
    now += 0.125
    assert [ask(limited)[0] for _ in range(26)] == [200] * 25 + [429]


def test_a_program_that_is_read_from_the_disk_has_no_such_limits() -> None:
    program = answering(b"a" * (MOST_PAYLOAD + 1), [(b"content-type", b"application/octet-stream")])

    assert ask(Limited(program))[0] == 500
    status, content = ask(Limited(program, sends_files=True))
    assert (status, len(content)) == (200, MOST_PAYLOAD + 1)
    assert ask(Limited(answering(b"a" * (MOST_PAYLOAD + 1)), sends_files=True))[0] == 500


def test_an_environment_handles_one_request_at_a_time() -> None:
    under_way, most = 0, 0

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        await answering()(scope, receive, send)

    async def all_at_once() -> list[tuple[int, bytes]]:
        limited = Limited(application, environments=2)
        return await asyncio.gather(*[_ask(limited) for _ in range(8)])

    assert [status for status, _ in asyncio.run(all_at_once())] == [200] * 8
    assert most == 2


@given(st.text(max_size=300))
def test_what_counts_of_a_text_is_what_the_runtime_client_sends(text: str) -> None:
    """Sizes are of JSON, in which quotes, line ends and control characters take more than a byte."""
    content = text.encode(errors="replace")
    sent = {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": content.decode()}
    counted = limits._answer_bytes(
        [
            {"type": "http.response.start", "status": 200, "headers": list(JSON)},
            {"type": "http.response.body", "body": content},
        ]
    )

    really = len(json.dumps(sent, ensure_ascii=False).encode())
    assert really - 80 < counted < really + 80
    assert counted < MOST_PAYLOAD


def test_a_request_whose_turn_is_far_off_is_refused_at_once_with_a_time_and_those_before_it_are_answered() -> None:
    async def asked() -> tuple[list[int], list[int]]:
        free = asyncio.Event()

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            await free.wait()
            await answering()(scope, receive, send)

        limited = Limited(application, environments=2, patience=1.0, clock=lambda: 0.0)
        requests = [asyncio.ensure_future(_ask(limited)) for _ in range(200)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        refused = [request.result() for request in requests if request.done()]
        seconds = [int(json.loads(body)["detail"].split()[-2]) for _, body in refused]
        assert {status for status, _ in refused} == {429}
        free.set()
        return seconds, [status for status, _ in await asyncio.gather(*requests)]

    seconds, statuses = asyncio.run(asked())

    waiting = statuses.count(200)
    assert 20 < waiting < 100
    assert statuses == [200] * waiting + [429] * (200 - waiting)
    assert set(seconds) <= {2, 3}


def test_a_body_that_arrives_slowly_takes_no_turn_from_others() -> None:
    async def asked() -> tuple[list[int], int]:
        whole = asyncio.Event()

        async def receive_slowly() -> Message:
            await whole.wait()
            return {"type": "http.request", "body": b"last", "more_body": False}

        limited = Limited(answering(reads=True), environments=2, patience=1.0)
        slow = [asyncio.ensure_future(_ask(limited, receive=receive_slowly)) for _ in range(200)]
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            status = (await _ask(limited))[0]
        whole.set()
        return [status for status, _ in await asyncio.gather(*slow)], status

    slow, status = asyncio.run(asked())

    assert status == 200
    assert set(slow) <= {200, 429}


def test_a_body_that_never_arrives_is_408() -> None:
    async def receive_never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    limited = Limited(answering(reads=True), environments=2, seconds=0.01)

    assert asyncio.run(_ask(limited, receive=receive_never))[0] == 408

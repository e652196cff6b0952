"""Functions that wait: in a thread where other requests share the event loop, and in place on Lambda."""

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

import pytest
from fastapi import APIRouter

from headgate.foundation.errors import Gone
from headgate.http.app import create_app, lambda_handler
from headgate.http.routing import Threaded
from headgate.http.threads import in_thread

_SET: Final = ContextVar("set", default="")
_EVENT: Final = {
    "version": "2.0",
    "rawPath": "/where",
    "rawQueryString": "",
    "headers": {"host": "testserver"},
    "requestContext": {"http": {"method": "GET", "path": "/where", "sourceIp": "127.0.0.1"}, "stage": "$default"},
    "isBase64Encoded": False,
}


def _where() -> int:
    _SET.set("inside")
    return threading.get_ident()


def test_a_request_on_lambda_is_answered_without_a_thread() -> None:
    router = APIRouter(route_class=Threaded)
    router.add_api_route("/where", _where)

    answer = lambda_handler(create_app("Test", [router]))(_EVENT, None)

    assert answer["body"] == str(threading.get_ident())


@pytest.mark.parametrize(("path", "status"), [("/absent", 404), ("/where?n=x", 422), ("/where?n=0", 410)])
def test_an_error_on_lambda_is_answered_without_a_thread(
    path: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def where(n: int) -> None:
        raise Gone(f"{n} is not there any more")

    router = APIRouter(route_class=Threaded)
    router.add_api_route("/where", where)
    handler = lambda_handler(create_app("Test", [router]))

    def refuse(_: threading.Thread) -> None:
        raise AssertionError("a thread is started")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    path, _, query = path.partition("?")
    context = {"http": {"method": "GET", "path": path, "sourceIp": "127.0.0.1"}, "stage": "$default"}
    answer = handler(_EVENT | {"rawQueryString": query, "requestContext": context}, None)

    assert answer["statusCode"] == status


def test_where_requests_share_an_event_loop_a_function_that_waits_runs_in_a_thread() -> None:
    assert asyncio.run(in_thread(_where)) != threading.get_ident()


def test_what_a_function_sets_in_its_context_ends_with_it_wherever_it_ran() -> None:
    async def around() -> str:
        await in_thread(_where)
        return _SET.get()

    assert asyncio.run(around()) == ""
    assert _on_lambda(around) == '""'


def _on_lambda(endpoint: Callable[..., object]) -> str:
    router = APIRouter()
    router.add_api_route("/where", endpoint)
    return str(lambda_handler(create_app("Test", [router]))(_EVENT, None)["body"])

"""Requests reach the function that API Gateway would choose, unread."""

import asyncio
from collections.abc import Iterator, MutableMapping
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from headgate.http.parts import routes_of
from headgate_local.dispatch import Dispatcher, application_of
from headgate_local.service import functions
from headgate_local.template import Function, RouteTemplate, read
from tests.support.in_process import TestClient


def answering(name: str) -> ASGIApp:
    return PlainTextResponse(name)


def route(method: str, path: str) -> RouteTemplate:
    return RouteTemplate(method, path, Function("F", "f.app.handler"))


ROUTES = [
    ("*", "/things/{proxy+}", "below things"),
    ("*", "/things", "things"),
    ("GET", "/things/{id}", "read one"),
    ("*", "/things/{id}", "one"),
    ("*", "/things/special", "special"),
    ("*", "/things/{id}/parts/{part}", "part"),
]


@pytest.fixture
def client() -> Iterator[TestClient]:
    routes = [(route(method, path), answering(name)) for method, path, name in ROUTES]
    with TestClient(Dispatcher(routes, nowhere=answering("nowhere"))) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/things", "things"),
        ("POST", "/things", "things"),
        ("GET", "/things/1", "read one"),
        ("DELETE", "/things/1", "one"),
        ("GET", "/things/special", "special"),
        ("GET", "/things/1/parts/2", "part"),
        ("GET", "/things/1/parts", "below things"),
        ("GET", "/things/1/parts/2/3", "below things"),
        ("GET", "/things/", "nowhere"),
        ("GET", "/thing", "nowhere"),
        ("GET", "/things2", "nowhere"),
        ("GET", "/", "nowhere"),
    ],
)
def test_the_most_specific_route_wins(client: TestClient, method: str, path: str, name: str) -> None:
    assert client.request(method, path).text == name


def test_a_default_route_takes_what_no_other_does() -> None:
    dispatcher = Dispatcher(
        [(route("*", "$default"), answering("default")), (route("GET", "/a"), answering("a"))],
        nowhere=answering("nowhere"),
    )
    client = TestClient(dispatcher)

    assert [client.get("/a").text, client.post("/a").text, client.get("/b").text] == ["a", "default", "default"]


def test_nothing_of_a_body_is_read_on_the_way() -> None:
    async def refuse_at_once(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("too large", 413)(scope, receive, send)

    async def never() -> MutableMapping[str, Any]:
        raise AssertionError("the body was read")

    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    dispatcher = Dispatcher([(route("*", "/a"), refuse_at_once)], nowhere=answering("nowhere"))
    scope = {"type": "http", "method": "POST", "path": "/a", "headers": []}
    # Without a factory the loop of the thread is taken away, which other tests of the process use.
    anyio.run(dispatcher, scope, never, send, backend_options={"loop_factory": asyncio.new_event_loop})

    assert sent[0]["status"] == 413


def test_a_path_outside_the_template_is_the_same_problem_as_everywhere() -> None:
    response = TestClient(functions(read())).get("/api/v1/public/nowhere", headers={"X-Request-Id": "r-1"})

    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")
    assert (response.json()["code"], response.json()["request_id"]) == ("not_found", "r-1")


@pytest.mark.parametrize("one", read().routes(), ids=lambda one: f"{one.method} {one.path}")
def test_every_route_of_the_template_has_its_application(one: RouteTemplate) -> None:
    assert callable(application_of(one))


def test_the_applications_answer_exactly_where_the_template_routes_to_them() -> None:
    """A route that only the code or only the template has would work here and not on AWS, or the other way round."""
    dispatcher = Dispatcher([(one, answering(one.function.handler)) for one in read().routes()], answering("nowhere"))
    client = TestClient(dispatcher)

    # The fleet service is plain ASGI, and of one path.
    described = [(one.function.handler, application_of(one)) for one in read().routes()]
    reached = {
        path: client.get(path).text == handler
        for handler, application in described
        if isinstance(application, FastAPI) and routes_of(application)
        for path in application.openapi()["paths"]
    }

    assert reached
    assert all(reached.values()), reached

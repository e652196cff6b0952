"""How the command line's client takes what a server, or what stands before one, can answer."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import click
import pytest

from headgate_cli import VERSION
from headgate_cli.api import Api, ServerError
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.login.credentials import Credential, usable
from tests.service import free_port

Answer = tuple[int, dict[str, str], object]
HANG_UP: Answer = (0, {}, None)
LIMITED: Answer = (429, {"Retry-After": "7"}, {"detail": "over", "code": "rate_limited"})


@dataclass
class Server:
    """A server: `answers` in order, the last one again and again, and the requests that came."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def api(self, value: str = "sv_x", organization_id: str = "") -> Api:
        return Api(Credential(self.url, value, organization_id))


@pytest.fixture
def server() -> Iterator[Server]:
    described = Server()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            described.requests.append((f"{self.command} {self.path}", dict(self.headers), body))
            status, headers, answer = described.answers[min(len(described.requests), len(described.answers)) - 1]
            if not status:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _answer

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        described.url = f"http://127.0.0.1:{listening.server_port}"
        yield described
        listening.shutdown()


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client wanted to sleep."""
    seconds: list[float] = []
    monkeypatch.setattr("headgate_cli.api.time.sleep", seconds.append)
    return seconds


def test_over_the_limit_it_waits_as_told_and_asks_again(
    server: Server, slept: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [LIMITED, LIMITED, (200, {}, {"id": "x"})]

    assert server.api().post("/validate", {"yaml": "a"}) == {"id": "x"}
    assert slept == [7, 7]
    assert "over the request limit; going on in 7 s" in capsys.readouterr().err


def test_a_limit_that_never_ends_is_an_error(server: Server, slept: list[float]) -> None:
    server.answers = [LIMITED]

    with pytest.raises(ServerError, match="over"):
        server.api().get("/identity")
    assert len(server.requests) == 4


def test_no_server_makes_it_wait_for_hours(server: Server, slept: list[float]) -> None:
    server.answers = [(429, {"Retry-After": "86400"}, {}), (429, {"Retry-After": "soon"}, {}), (200, {}, {})]
    server.api().get("/identity")

    assert slept == [120, 5]


def test_a_create_that_is_cut_off_is_repeated_under_the_same_key(server: Server) -> None:
    server.answers = [HANG_UP, (201, {}, {"id": "x"})]
    server.api().create("/configurations", {"name": "a"})

    first, second = (headers["Idempotency-Key"] for _, headers, _ in server.requests)
    assert first == second


def test_a_create_whose_first_try_is_still_at_work_is_waited_for(server: Server, slept: list[float]) -> None:
    under_way = {"detail": "The first request is under way", "code": "idempotency_key_in_use"}
    server.answers = [HANG_UP, (409, {}, under_way), (201, {}, {"id": "x"})]

    assert server.api().create("/configurations", {"name": "a"}) == {"id": "x"}
    assert len(server.requests) == 3


def test_a_conflict_is_told_at_once(server: Server) -> None:
    server.answers = [(409, {}, {"detail": "The version is published", "code": "version_published"})]

    with pytest.raises(ServerError, match="The version is published"):
        server.api().create("/configurations", {"name": "a"})
    assert len(server.requests) == 1


def test_a_change_that_is_cut_off_is_not_repeated(server: Server) -> None:
    server.answers = [HANG_UP, (200, {}, {})]

    with pytest.raises(Unreachable, match="without an answer"):
        server.api().patch("/configurations/x", {"name": "a"})
    assert len(server.requests) == 1


def test_the_errors_of_every_field_are_told(server: Server) -> None:
    errors = [{"loc": ["body", "rules", 2, "condition"], "message": "unknown function"}]
    server.answers = [(422, {}, {"detail": "The rules are invalid", "code": "invalid", "errors": errors})]

    with pytest.raises(ServerError) as raised:
        server.api().create("/x", {})
    assert raised.value.message == "The rules are invalid\n  rules.2.condition: unknown function"
    assert (raised.value.status, raised.value.exit_code) == (422, 1)


@pytest.mark.parametrize(
    ("status", "code"), [(401, "unauthenticated"), (403, "write_access_required"), (403, "not_an_active_member")]
)
def test_what_another_credential_would_mend_exits_with_3(server: Server, status: int, code: str) -> None:
    server.answers = [(status, {}, {"detail": "no", "code": code})]

    with pytest.raises(NotAuthenticated):
        server.api().get("/identity")
    assert NotAuthenticated.exit_code == 3


@pytest.mark.parametrize(
    "answer",
    [
        (502, {"Content-Type": "text/html"}, b"<h1>Bad gateway</h1>"),
        (200, {"Content-Type": "text/html"}, b"<h1>Welcome to the hotel</h1>"),
        (200, {}, ["a list"]),
        (302, {"Location": "http://127.0.0.1:1/"}, b""),
    ],
)
def test_what_stands_before_the_server_is_not_taken_for_it(server: Server, answer: Answer) -> None:
    server.answers = [answer]

    with pytest.raises(Unreachable, match=server.url):
        server.api().get("/identity")
    assert len(server.requests) == 1


def test_a_list_is_read_to_its_end(server: Server) -> None:
    server.answers = [
        (200, {}, {"items": [{"n": 1}], "next_cursor": "a/b"}),
        (200, {}, {"items": [{"n": 2}], "next_cursor": None}),
    ]

    assert list(server.api().items("/configurations")) == [{"n": 1}, {"n": 2}]
    assert server.requests[1][0].endswith("?limit=100&cursor=a%2Fb")


def test_a_session_names_its_organization_and_a_token_does_not(server: Server) -> None:
    server.answers = [(200, {}, {})]
    server.api("ss_x", "org_1").get("/identity")
    server.api("sv_x").get("/identity")

    (_, session, _), (_, token, _) = server.requests
    assert (session["Authorization"], session["X-Service-Org"]) == ("Bearer ss_x", "org_1")
    assert "X-Service-Org" not in token
    assert token["User-Agent"] == f"headgate/{VERSION}"


def test_nobody_there_is_said_with_the_address() -> None:
    url = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(Failed, match=f"cannot reach {url}"):
        Api(Credential(url, "sv_x")).get("/identity")


@pytest.mark.parametrize("value", ["a b", "sv_é", "sv_x\r\nX-Evil: 1", ""])
def test_a_value_that_no_header_carries_is_no_credential(value: str) -> None:
    with pytest.raises(NotAuthenticated) as raised:
        usable(Credential("http://127.0.0.1", value))
    assert not value or value not in raised.value.message


def test_a_secret_with_a_line_break_at_its_end_is_one() -> None:
    assert usable(Credential("http://127.0.0.1/api/v1/public/", "sv_x\n")) == Credential("http://127.0.0.1", "sv_x")


def test_an_address_that_is_none_is_a_usage_error() -> None:
    with pytest.raises(click.UsageError):
        usable(Credential("ftp://127.0.0.1", "sv_x"))


def test_a_large_output_is_fetched_by_its_link_without_the_credential(server: Server) -> None:
    server.answers = [(307, {"Location": f"{server.url}/bucket/output?X-Amz-Signature=x"}, b""), (200, {}, b"a line\n")]

    assert server.api("ss_x", "org_1").text("/testing/runs/run_1/output") == "a line\n"
    (_, asked, _), (line, headers, _) = server.requests
    assert (asked["Authorization"], asked["X-Service-Org"]) == ("Bearer ss_x", "org_1")
    assert line == "GET /bucket/output?X-Amz-Signature=x"
    assert not {"authorization", "x-service-org"} & {name.lower() for name in headers}


def test_a_link_that_has_expired_is_said(server: Server) -> None:
    server.answers = [(307, {"Location": f"{server.url}/bucket/output"}, b""), (403, {}, b"<Error/>")]

    with pytest.raises(Failed, match="status 403"):
        server.api().text("/testing/runs/run_1/output")


def test_nothing_else_is_fetched_from_elsewhere(server: Server) -> None:
    server.answers = [(307, {"Location": f"{server.url}/elsewhere"}, b""), (200, {}, {"id": "x"})]

    with pytest.raises(Unreachable):
        server.api().get("/identity")
    assert len(server.requests) == 1

"""How the command line's client takes what a server, or what stands before one, can answer."""

import gzip

import click
import pytest

from headgate.captures.model import CapturesNotAllowed
from headgate.configurations.model import ConfigurationPublished
from headgate.foundation.errors import Conflict
from headgate_cli import VERSION
from headgate_cli.api import HttpApi, ServerError
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.login.credentials import Credential, usable
from headgate_cli.shaped import PlainAnswer
from tests.support.answering import Answer, Server, serving
from tests.support.ports import free_port

HANG_UP: Answer = (0, {}, None)
LIMITED: Answer = (429, {"Retry-After": "7"}, {"detail": "over", "code": "rate_limited"})


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

    assert server.api().post(PlainAnswer, "/validate", {"yaml": "a"}) == {"id": "x"}
    assert slept == [7, 7]
    assert "You have reached the request limit. The command continues in 7 s" in capsys.readouterr().err


def test_too_many_checks_under_way_are_said_to_be_that(
    server: Server, slept: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    busy = {"detail": "2 checks of this credential are under way", "code": "too_many_checks_under_way"}
    server.answers = [(429, {"Retry-After": "1"}, busy), (200, {}, {"id": "x"})]

    server.api().post(PlainAnswer, "/validate", {"yaml": "a"})
    said = "headgate: 2 checks of this credential are under way. The command continues in 1 s\n"
    assert (slept, capsys.readouterr().err) == ([1], said)


def test_a_limit_that_never_ends_is_an_error(server: Server, slept: list[float]) -> None:
    server.answers = [LIMITED]

    with pytest.raises(ServerError, match="over"):
        server.api().get(PlainAnswer, "/identity")
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("told", "seconds"), [("86400", 120), ("9" * 4_000, 120), ("1e9", 5), ("-7", 5), ("soon", 5), ("\xb2", 5)]
)
def test_no_server_makes_it_wait_for_hours(server: Server, slept: list[float], told: str, seconds: int) -> None:
    server.answers = [(429, {"Retry-After": told}, {}), (200, {}, {})]
    server.api().get(PlainAnswer, "/identity")

    assert slept == [seconds]


def test_a_create_that_is_cut_off_is_repeated_under_the_same_key(server: Server) -> None:
    server.answers = [HANG_UP, (201, {}, {"id": "x"})]
    server.api().create(PlainAnswer, "/configurations", {"name": "a"})

    first, second = (headers["Idempotency-Key"] for _, headers, _ in server.requests)
    assert first == second


def test_a_create_whose_first_try_is_still_at_work_is_waited_for(server: Server, slept: list[float]) -> None:
    under_way = {"detail": "The first request is under way", "code": "idempotency_key_in_use"}
    server.answers = [HANG_UP, (409, {}, under_way), (201, {}, {"id": "x"})]

    assert server.api().create(PlainAnswer, "/configurations", {"name": "a"}) == {"id": "x"}
    assert len(server.requests) == 3


def test_a_conflict_is_told_at_once(server: Server) -> None:
    server.answers = [(409, {}, {"detail": "The version is published", "code": "version_published"})]

    with pytest.raises(ServerError, match="The version is published"):
        server.api().create(PlainAnswer, "/configurations", {"name": "a"})
    assert len(server.requests) == 1


def test_a_change_that_is_cut_off_is_not_repeated(server: Server) -> None:
    server.answers = [HANG_UP, (200, {}, {})]

    with pytest.raises(Unreachable, match="without an answer"):
        server.api().patch(PlainAnswer, "/configurations/x", {"name": "a"})
    assert len(server.requests) == 1


def test_the_errors_of_every_field_are_told(server: Server) -> None:
    errors = [{"loc": ["body", "rules", 2, "condition"], "message": "unknown function"}]
    server.answers = [(422, {}, {"detail": "The rules are invalid", "code": "invalid", "errors": errors})]

    with pytest.raises(ServerError) as raised:
        server.api().create(PlainAnswer, "/x", {})
    assert raised.value.message == "The rules are invalid\n  rules.2.condition: unknown function"
    assert (raised.value.status, raised.value.exit_code) == (422, 1)


@pytest.mark.parametrize(
    ("status", "code"), [(401, "unauthenticated"), (403, "write_access_required"), (403, "not_an_active_member")]
)
def test_what_another_credential_would_mend_exits_with_3(server: Server, status: int, code: str) -> None:
    server.answers = [(status, {}, {"detail": "no", "code": code})]

    with pytest.raises(NotAuthenticated):
        server.api().get(PlainAnswer, "/identity")
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
        server.api().get(PlainAnswer, "/identity")
    assert len(server.requests) == 1


def test_a_list_is_read_to_its_end(server: Server) -> None:
    server.answers = [
        (200, {}, {"items": [{"n": 1}], "next_cursor": "a/b"}),
        (200, {}, {"items": [{"n": 2}], "next_cursor": None}),
    ]

    assert list(server.api().items(PlainAnswer, "/configurations")) == [{"n": 1}, {"n": 2}]
    assert server.requests[1][0].endswith("?limit=100&cursor=a%2Fb")


def test_a_session_names_its_organization_and_a_token_does_not(server: Server) -> None:
    server.answers = [(200, {}, {})]
    server.api("ss_x", "org_1").get(PlainAnswer, "/identity")
    server.api("sv_x").get(PlainAnswer, "/identity")

    (_, session, _), (_, token, _) = server.requests
    assert (session["Authorization"], session["X-Service-Org"]) == ("Bearer ss_x", "org_1")
    assert "X-Service-Org" not in token
    assert token["User-Agent"] == f"headgate/{VERSION}"


def test_nobody_there_is_said_with_the_address() -> None:
    url = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(Failed, match=f"cannot reach {url}"):
        HttpApi(Credential(url, "sv_x")).get(PlainAnswer, "/identity")


@pytest.mark.parametrize("value", ["a b", "sv_é", "sv_x\r\nX-Evil: 1", ""])
def test_a_value_that_no_header_carries_is_not_a_credential(value: str) -> None:
    with pytest.raises(NotAuthenticated) as raised:
        usable(Credential("http://127.0.0.1", value))
    assert not value or value not in raised.value.message


def test_a_secret_with_a_line_break_at_its_end_is_one() -> None:
    assert usable(Credential("http://127.0.0.1/api/v1/public/", "sv_x\n")) == Credential("http://127.0.0.1", "sv_x")


def test_a_malformed_address_is_a_usage_error() -> None:
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
        server.api().get(PlainAnswer, "/identity")
    assert len(server.requests) == 1


# A hostile server.


def test_an_answer_larger_than_any_of_ours_is_not_read_on(server: Server) -> None:
    server.answers = [(200, {}, b'{"a": "' + b"a" * (16 << 20) + b'"}')]

    with pytest.raises(Unreachable, match="sent more than 8 MB"):
        server.api().get(PlainAnswer, "/identity")


def test_an_answer_is_never_unpacked(server: Server) -> None:
    server.answers = [(200, {"Content-Encoding": "gzip"}, gzip.compress(b"{}" + b" " * (64 << 20)))]

    with pytest.raises(Unreachable, match="sent a compressed answer"):
        server.api().get(PlainAnswer, "/identity")
    assert server.requests[0][1]["Accept-Encoding"] == "identity"


def test_an_answer_that_drips_ends(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate_cli.http._MOST_SECONDS", -1.0)
    server.answers = [(200, {}, {})]

    with pytest.raises(Unreachable, match="took longer than"):
        server.api().get(PlainAnswer, "/identity")


@pytest.mark.parametrize("depth", [101, 500, 1_000_000])
def test_an_answer_that_is_too_deep_is_none_of_ours(server: Server, depth: int) -> None:
    server.answers = [(200, {}, b'{"a": ' + b"[" * depth + b"]" * depth + b"}")]

    with pytest.raises(Unreachable, match="does not answer like a Headgate server"):
        server.api().get(PlainAnswer, "/identity")


def test_a_cursor_that_comes_again_ends_the_list(server: Server) -> None:
    server.answers = [
        (200, {}, {"items": [], "next_cursor": "a"}),
        (200, {}, {"items": [], "next_cursor": "b"}),
        (200, {}, {"items": [], "next_cursor": "a"}),
    ]

    with pytest.raises(Unreachable, match="a list that does not end"):
        list(server.api().items(PlainAnswer, "/configurations"))
    assert len(server.requests) == 3


def test_a_list_with_ever_new_cursors_ends(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate_cli.api._MOST_PAGES", 20)
    server.answering = lambda _: (200, {}, {"items": [{}], "next_cursor": str(len(server.requests))})

    with pytest.raises(Unreachable, match="a list that does not end"):
        list(server.api().items(PlainAnswer, "/configurations"))
    assert len(server.requests) == 20


def test_a_list_of_huge_pages_ends(server: Server) -> None:
    large = "a" * (7 << 20)
    server.answering = lambda _: (200, {}, {"items": [], "next_cursor": str(len(server.requests)), "more": large})

    with pytest.raises(Unreachable, match="a list that does not end"):
        list(server.api().items(PlainAnswer, "/configurations"))
    assert len(server.requests) == 10


def test_no_other_host_is_given_the_credential(server: Server) -> None:
    with serving() as other:
        other.answers = [(200, {}, {"items": [], "next_cursor": None})]
        server.answers = [(307, {"Location": f"{other.url}/api/v1/public/identity"}, b"")]
        with pytest.raises(Unreachable):
            server.api().get(PlainAnswer, "/identity")
        with pytest.raises(Unreachable):
            list(server.api().items(PlainAnswer, "/identity"))
        server.api("ss_x", "org_1").text("/testing/runs/run_1/output")

        (asked,) = other.requests
    assert not {"authorization", "x-service-org"} & {name.lower() for name in asked[1]}


def test_a_way_out_names_the_configuration_that_both_sides_have(server: Server) -> None:
    server.answering = lambda asked: (404, {}, {"detail": "No such version", "code": "version_not_found"})

    with pytest.raises(ServerError, match="`headgate config versions cfg_a` lists them"):
        server.api().create(
            PlainAnswer, "/x", {"left": {"configuration_id": "cfg_a"}, "right": {"configuration_id": "cfg_a"}}
        )
    with pytest.raises(ServerError, match="`headgate config versions CONFIGURATION` lists them"):
        server.api().create(
            PlainAnswer, "/x", {"left": {"configuration_id": "cfg_a"}, "right": {"configuration_id": "cfg_b"}}
        )


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ConfigurationPublished(), "deleted: archive it: `headgate config archive cfg_a`"),
        (CapturesNotAllowed("web"), "an Admin allows them in a session, with `headgate capture allow`"),
    ],
)
def test_a_way_out_repeats_nothing_of_the_message(server: Server, problem: Conflict, expected: str) -> None:
    server.answering = lambda asked: (409, {}, {"detail": str(problem), "code": problem.code})

    with pytest.raises(ServerError) as raised:
        server.api().create(PlainAnswer, "/configurations/cfg_a", {})
    assert raised.value.message.endswith(expected)


def test_a_connection_is_used_again_and_opened_again_if_the_server_closed_it(server: Server) -> None:
    server.answers = [(200, {}, {"n": 1}), (200, {"Connection": "close"}, {"n": 2}), (200, {}, {"n": 3})]
    api = server.api()

    assert [api.patch(PlainAnswer, "/a b", {})["n"] for _ in range(3)] == [1, 2, 3]
    assert server.requests[0][0] == "PATCH /api/v1/public/a%20b"


def test_parameters_are_escaped(server: Server) -> None:
    server.answers = [(200, {}, {})]

    server.api().get(PlainAnswer, "/a", kind="é&")
    assert server.requests[0][0] == "GET /api/v1/public/a?kind=%C3%A9%26"


def test_requests_go_through_the_proxy_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url.replace("//", "//user:p%40ss@"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server.answers = [(200, {}, {"id": "x"})]

    HttpApi(Credential("http://headgate.example", "sv_x")).get(PlainAnswer, "/identity")
    server.api().get(PlainAnswer, "/identity")
    (through, headers, _), (direct, _, _) = server.requests
    assert through == "GET http://headgate.example/api/v1/public/identity"
    assert (headers["Host"], headers["Proxy-Authorization"]) == ("headgate.example", "Basic dXNlcjpwQHNz")
    assert direct == "GET /api/v1/public/identity"

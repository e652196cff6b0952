"""The checks of `headgate accept` as such, its request limit, and its report."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headgate_cli.accept import remains, report
from headgate_cli.accept.bench import OF_ANY_RUN, Bench, Given
from headgate_cli.accept.checks import limits
from headgate_cli.accept.checks.all import ALL
from headgate_cli.accept.model import Broken, Check
from headgate_cli.accept.remedies import PAGE, REMEDIES
from headgate_cli.accept.run import Result, run
from scripts.accept_endpoints import MODULE, module
from tests.support import cli_in_process
from tests.support.answering import Answer, Server, serving
from tests.support.service import ROOT

LIMIT = 10


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        found.answers = [(200, {}, {"items": []})]
        yield found


def bench(server: Server, *, seconds: float = 60) -> Bench:
    return Bench(Given(server.url, "sv_secret"), lambda _: None, seconds=seconds)


def limiting(server: Server, *, after: int, retry_after: str = "1") -> None:
    """The server answers so many requests, and refuses the others."""

    def answering(_: str) -> Answer:
        headers = {"RateLimit-Limit": str(LIMIT), "X-Request-Id": "r"}
        if len(server.requests) <= after:
            return 200, headers, {"kind": "service_account"}
        problem = {"type": "t", "title": "t", "status": 429, "detail": "d", "code": "rate_limited", "request_id": "r"}
        return 429, {**headers, "Retry-After": retry_after, "Content-Type": "application/problem+json"}, problem

    server.answering = answering


def ran(server: Server, act: Check, *, seconds: float = 60) -> Result:
    return run(bench(server, seconds=seconds), server.api(), [act], lambda _: None)


def test_the_endpoints_are_those_of_the_description() -> None:
    assert MODULE.read_text() == module(), "run `python -m scripts.accept_endpoints`"


def test_every_check_has_an_id_of_its_own_and_says_what_to_do_where_it_fails() -> None:
    headings = (ROOT / PAGE).read_text().splitlines()

    assert len({one.id for one in ALL}) == len(ALL)
    assert {one.section for one in ALL} == REMEDIES.keys()
    assert [section for section in REMEDIES if f"### {section}" not in headings] == []


def test_a_limit_that_is_kept_passes(server: Server) -> None:
    limiting(server, after=LIMIT)

    limits.rate.act(bench(server))


@pytest.mark.parametrize(("after", "retry_after"), [(1_000, "1"), (LIMIT, "0"), (LIMIT, "61"), (LIMIT, "soon")])
def test_a_limit_that_is_not_kept_or_does_not_say_how_long_fails(server: Server, after: int, retry_after: str) -> None:
    limiting(server, after=after, retry_after=retry_after)

    with pytest.raises(Broken):
        limits.rate.act(bench(server))


def test_what_there_is_no_time_for_is_not_checked_and_nothing_is_green(server: Server) -> None:
    result = ran(server, ALL[0], seconds=0)

    assert ([one.status for one in result.outcomes], result.passed) == (["not checked"], False)


def test_what_cannot_be_removed_is_told(server: Server) -> None:
    result = ran(server, Check("identity.none", "Nothing is done.", lambda _: None))
    server.answers = [(503, {}, {"detail": "Out of order", "code": "unavailable"})]
    worse = ran(server, Check("identity.none", "Nothing is done.", lambda _: None))

    assert result.left == []
    assert [sentence.partition(":")[0] for sentence in worse.left] == [
        "/fleets could not be listed",
        "/configurations could not be listed",
    ]


def test_an_answer_of_an_unknown_shape_fails_its_check_and_everything_is_still_taken_away(server: Server) -> None:
    def unpacks(_: Bench) -> None:
        (_only,) = list[str]()

    result = ran(server, Check("identity.none", "There is one group.", unpacks))

    assert [(one.status, "ValueError" in one.message) for one in result.outcomes] == [("failed", True)]
    assert [line.partition("?")[0] for line, _, _ in server.requests] == [
        "GET /api/v1/public/fleets",
        "GET /api/v1/public/configurations",
    ]


def test_what_a_person_named_with_the_prefix_stays(server: Server) -> None:
    names = ["headgate-accept-production", "headgate-accept-0123456789", "headgate-accept-01234567-once"]
    listed = {"items": [{"id": f"cfg_{number}", "name": name} for number, name in enumerate(names)]}
    server.answers = [(200, {}, {"items": []}), (200, {}, listed), (204, {}, b"")]

    assert remains.remove(server.api(), OF_ANY_RUN) == []
    assert [line for line, _, _ in server.requests if line.startswith("DELETE")] == [
        "DELETE /api/v1/public/configurations/cfg_2"
    ]


def test_a_server_cannot_write_into_the_report(server: Server, tmp_path: Path) -> None:
    def says(_: Bench) -> None:
        raise Broken("<b>x</b>\x00\x1b[31m\n# Passed | `y` [z](https://example.com) sv_secret")

    result = ran(server, Check("identity.none", "The check ends.", says))
    written = report.as_markdown(result)
    (tmp_path / "junit.xml").write_bytes(report.as_junit(result))
    (failure,) = ElementTree.parse(tmp_path / "junit.xml").iter("failure")

    assert "\\<b\\>x" in written
    assert not any(word in written for word in ("\x1b", "\n# Passed", "| `y`", "[z]", "sv_secret"))
    assert "sv_secret" not in str(failure.get("message"))


def test_no_report_is_written_through_a_link_in_a_checkout(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The command changes what SIGTERM does in its process.
    monkeypatch.setattr("signal.signal", lambda *_: None)
    checkout = tmp_path / "checkout"
    (checkout / "report").mkdir(parents=True)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (checkout / "report" / "report.md").symlink_to(mine)
    headgate = cli_in_process.runner(server, checkout, monkeypatch, capsys)
    code, _, err = headgate("accept --report report --only identity.none")

    assert (code, "leads out of its folder" in err, mine.read_text()) == (1, True, "mine")

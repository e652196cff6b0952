"""The checks of `headgate accept` as such, its request limit, and its report."""

import html
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from headgate_cli.accept import remains, report
from headgate_cli.accept.bench import OF_ANY_RUN, Bench, Given
from headgate_cli.accept.checks import limits
from headgate_cli.accept.checks.all import ALL
from headgate_cli.accept.errors import Broken
from headgate_cli.accept.model import PAGE, REMEDIES, PromiseCheck
from headgate_cli.accept.redaction import HIDDEN, SecretRedaction
from headgate_cli.accept.run import Result
from headgate_cli.accept.run import run as run_checks
from headgate_cli.api import HttpApi
from headgate_cli.login.credentials import Credential
from headgate_cli.responses import HttpAnswer as Answered
from scripts.accept_endpoints import MODULE, module
from tests.support import cli_in_process
from tests.support.answering import Answer, Server, serving
from tests.support.cli_in_process import Run
from tests.support.service import ROOT

LIMIT = 10
PUBLIC = "/api/v1/public"


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


def ran(server: Server, act: PromiseCheck, *, seconds: float = 60) -> Result:
    return run_checks(bench(server, seconds=seconds), server.api(), [act], lambda _: None)


def test_the_endpoints_are_those_of_the_description() -> None:
    assert MODULE.read_text() == module(), "run `python -m scripts.accept_endpoints`"


def test_every_check_has_an_id_of_its_own_and_says_what_to_do_where_it_fails() -> None:
    headings = (ROOT / PAGE).read_text().splitlines()

    assert len({one.id for one in ALL}) == len(ALL)
    assert {one.section for one in ALL} == REMEDIES.keys()
    assert [section for section in REMEDIES if f"## {section}" not in headings] == []


def test_a_limit_that_is_kept_passes(server: Server) -> None:
    limiting(server, after=LIMIT)

    limits.rate.act(bench(server))


@pytest.mark.parametrize(("after", "retry_after"), [(1_000, "1"), (LIMIT, "0"), (LIMIT, "61"), (LIMIT, "soon")])
def test_a_limit_that_is_not_kept_or_does_not_say_how_long_fails(server: Server, after: int, retry_after: str) -> None:
    limiting(server, after=after, retry_after=retry_after)

    with pytest.raises(Broken):
        limits.rate.act(bench(server))


BUSY = (503, {"Retry-After": "0", "X-Request-Id": "r"}, {"detail": "The checker was busy", "code": "unavailable"})
THERE = (200, {"X-Request-Id": "r"}, {"items": []})


@pytest.mark.parametrize(
    ("answers", "method", "status", "requests"),
    [
        ([BUSY, THERE], "GET", 200, 2),
        ([BUSY], "GET", 503, 3),
        ([BUSY, THERE], "POST", 503, 1),
        ([(503, {}, BUSY[2]), THERE], "GET", 503, 1),
    ],
    ids=["busy once", "out of order", "a write", "an outage that does not pass"],
)
def test_a_read_that_a_busy_server_asks_to_send_again_is_sent_three_times_at_most(
    server: Server, answers: list[Answer], method: str, status: int, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate_cli.accept.caller.time.sleep", lambda _: None)
    server.answers = answers

    answer = bench(server).write.send(method, "/fleets")

    assert (answer.status, len(server.requests)) == (status, requests)


def test_what_there_is_no_time_for_is_not_checked_and_nothing_is_green(server: Server) -> None:
    result = ran(server, ALL[0], seconds=0)

    assert ([one.status for one in result.outcomes], result.passed) == (["not checked"], False)


def test_what_cannot_be_removed_is_told(server: Server) -> None:
    result = ran(server, PromiseCheck("identity.none", "Nothing is done.", lambda _: None))
    server.answers = [(503, {}, {"detail": "Out of order", "code": "unavailable"})]
    worse = ran(server, PromiseCheck("identity.none", "Nothing is done.", lambda _: None))

    assert result.left == []
    assert [sentence.partition(":")[0] for sentence in worse.left] == [
        "/fleets could not be listed",
        "/configurations could not be listed",
    ]


def test_an_answer_of_an_unknown_shape_fails_its_check_and_everything_is_still_taken_away(server: Server) -> None:
    def unpacks(_: Bench) -> None:
        (_only,) = list[str]()

    result = ran(server, PromiseCheck("identity.none", "There is one group.", unpacks))

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

    result = ran(server, PromiseCheck("identity.none", "The check ends.", says))
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


SECRET = "k3y'\\&/+="


@pytest.mark.parametrize(
    "written",
    [
        "{}",
        "the answer is 500: '{}'",
        "{}{}",
        "x{}x",
    ],
)
@pytest.mark.parametrize("form", [str, repr, json.dumps, html.escape, lambda one: quote(one, safe="")])
def test_a_secret_is_hidden_wherever_and_however_it_is_written(written: str, form: Callable[[str], str]) -> None:
    secret = f"{SECRET}0123456789abcdef"
    told = SecretRedaction([secret])(written.replace("{}", form(secret)))

    assert HIDDEN in told
    assert not any(secret[start : start + 6] in told for start in range(len(SECRET), len(secret) - 5))


@pytest.mark.parametrize("cut", [slice(12, None), slice(None, -12), slice(6, -6)])
def test_a_secret_that_was_cut_is_hidden(cut: slice) -> None:
    secret = "".join(chr(ord("a") + n) for n in range(26)) * 2

    assert SecretRedaction([secret])(f"so: {secret[cut]}…") == f"so: {HIDDEN}…"


@pytest.mark.parametrize(
    "shaped",
    [
        "ft_" + "A1_-" * 10,
        "sv_" + "A1_-" * 10,
        "ss_" + "A1_-" * 10,
        "whsec_" + "A1+/" * 10 + "==",
        # The beginning of one.
        "ft_A1b2C3d4",
    ],
)
def test_what_looks_like_a_credential_is_hidden_though_nobody_knows_it(shaped: str) -> None:
    assert SecretRedaction()(f"it said '{shaped}'.") == f"it said '{HIDDEN}'."
    assert SecretRedaction()(f"https://x/?signature={'A1_-' * 4}&b=c") == f"https://x/?signature={HIDDEN}&b=c"


def test_what_is_not_secret_stays() -> None:
    text = "left_overs of shift_workers: the fleet ft_1 has the version sv_2, é"

    assert SecretRedaction(["a-token-of-this-server"])(text) == text
    assert SecretRedaction(["abc"])("abcdef") == "abcdef"


@pytest.mark.parametrize("field", ["token", "secret", "value", "password"])
def test_what_an_answer_has_for_a_secret_is_remembered_at_any_depth(field: str) -> None:
    redacted = SecretRedaction()
    redacted.learn(Answered(201, {}, json.dumps({"a": [{"connection": {field: "not-shaped-like-any"}}]}).encode()))

    assert redacted("it is not-shaped-like-any") == f"it is {HIDDEN}"


def test_a_server_that_shows_secrets_without_end_is_not_remembered_without_end() -> None:
    redacted = SecretRedaction()
    many = [{"token": f"secret-{number:020}"} for number in range(5_000)]
    redacted.learn(Answered(200, {}, json.dumps({"items": many}).encode()))
    redacted.learn(Answered(200, {}, b"\xff" * 10 + b"[" * 100_000))

    assert len(redacted._known) <= 2_000


def test_secrets_in_any_part_of_a_wrong_answer_are_in_no_part_of_the_report(
    server: Server,
) -> None:
    """A fleet's id that is its token gets into the path of the next request, and so into the latencies."""
    tokens = {f"{kind}_{kind * 12}{'Z9_-' * 8}" for kind in ("ft", "sv", "ss")} | {"whsec_" + "Z9+/" * 8}
    token = sorted(tokens)[0]

    def says(bench: Bench) -> None:
        bench.write.get(f"/fleets/{token}/deployments")
        raise Broken(" ".join(sorted(tokens)))

    server.answering = lambda asked: (200, {}, {"items": [{"id": token, "label": token, "said": [*tokens]}]})
    result = ran(server, PromiseCheck("identity.none", "The check ends.", says))
    written = [report.as_markdown(result), report.as_junit(result).decode(), json.dumps(report.as_json(result))]

    for text in written:
        plain = text.replace("\\", "")
        assert HIDDEN in plain
        assert not any(one[start : start + 12] in plain for one in tokens for start in range(len(one) - 11))


def test_webhooks_and_service_accounts_of_killed_runs_are_found_with_an_admins_session(server: Server) -> None:
    mine = {"id": "whk_1", "name": "headgate-accept-production"}
    listed = {
        f"{PUBLIC}/webhooks": [{"id": "whk_0", "name": "headgate-accept-01234567-webhook"}, mine],
        "/api/v1/app/service-accounts": [{"id": "sva_0", "name": "headgate-accept-01234567-account"}],
    }
    server.answering = lambda asked: (200, {}, {"items": listed.get(asked.partition(" ")[2].partition("?")[0], [])})
    session = Credential(server.url, "ss_x", "org_1")
    admin = remains.Admin(HttpApi(session), HttpApi(session, base=remains.APPLICATION))

    assert remains.remove(server.api(), OF_ANY_RUN, admin=admin) == []
    assert [line for line, _, _ in server.requests if line.startswith("DELETE")] == [
        f"DELETE {PUBLIC}/webhooks/whk_0",
        "DELETE /api/v1/app/service-accounts/sva_0",
    ]


@pytest.mark.parametrize(
    ("only", "chosen"),
    [
        ("--only lint,rules", {"lint", "rules"}),
        ("--only lint --only rules", {"lint", "rules"}),
        ("--only lint,rules.saved", {"lint", "rules"}),
        ("--only lint.text,lint", {"lint"}),
    ],
)
def test_only_takes_names_with_commas_between_them(run: Run, only: str, chosen: set[str]) -> None:
    code, out, _ = run(f"accept --list --json {only}")
    ids = [one["id"] for one in json.loads(out)]

    assert (code, {one.partition(".")[0] for one in ids}) == (0, chosen)
    assert len(ids) == len(set(ids))
    assert ids == [one.id for one in ALL if one.id in ids]


@pytest.mark.parametrize(
    ("only", "says"),
    [
        ("lnt", "there is no check or section 'lnt': the sections are identity, "),
        ("lint,rules,,runs", "there is no check or section ''"),
        ("lint.txt", "there is no check 'lint.txt': lint has lint.text, "),
        ("lint,rules.none", "there is no check 'rules.none': rules has rules.saved, "),
    ],
)
def test_a_name_that_is_none_is_refused_with_those_that_there_are(run: Run, only: str, says: str) -> None:
    code, _, err = run(f"accept --only {only}")

    assert (code, says in err) == (2, True), err

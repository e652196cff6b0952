"""The waiting of a login, by a clock of its own, against a server that says what the test wants."""

import json
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headgate.identity import logins
from headgate_cli.login.browser import browser_login, open_beside_the_terminal
from headgate_cli.login.paste import checked, checksum, no_browser_login
from headgate_cli.login.server import CodeMistyped, LoginFailed
from tests.support.listening import listening

SESSION = {
    "access_token": "ss_value",
    "expires_at": "2026-11-21T00:00:00.000Z",
    "email": "ada@example.com",
    "organization_id": "org_1",
    "organization_name": "Acme",
}
DEVICE = {
    "device_code": "d",
    "user_code": "BCDF-GHJK",
    "verification_uri": "http://here/device",
    "verification_uri_complete": "http://here/device?user_code=BCDF-GHJK",
    "expires_in": 300,
    "interval": 2,
}


@dataclass
class Authority:
    """A server: `answers` to the requests for a session in order, the last one again and again."""

    url: str = ""
    answers: list[tuple[int, object]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def authority() -> Iterator[Authority]:
    described = Authority()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            described.asked.append(self.path)
            status, answer = 200, DEVICE
            if self.path.endswith("/token"):
                place = min(described.asked.count(self.path), len(described.answers)) - 1
                status, answer = described.answers[place]
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    described.url = f"http://127.0.0.1:{server.server_port}"
    with listening(server):
        yield described


class Clock:
    """Time passes by sleeping alone."""

    def __init__(self) -> None:
        self.at = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


def login(authority: Authority, clock: Clock, said: list[str] | None = None) -> object:
    return browser_login(
        authority.url,
        say=(said if said is not None else []).append,
        open_page=lambda _: True,
        sleep=clock.sleep,
        now=clock.now,
    )


@pytest.mark.parametrize(
    ("program", "opened"),
    [
        ("lynx", False),
        ("/usr/bin/w3m", False),
        ("www-browser", False),
        ("x-www-browser", True),
        ("/opt/open-there", True),
    ],
)
def test_a_browser_that_takes_the_terminal_over_is_not_opened(
    monkeypatch: pytest.MonkeyPatch, program: str, opened: bool
) -> None:
    class Browser(webbrowser.GenericBrowser):
        def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
            asked.append(url)
            return True

    asked: list[str] = []
    monkeypatch.setattr(webbrowser, "get", lambda: Browser(program))

    assert open_beside_the_terminal("http://here/device") is opened
    assert asked == ["http://here/device"] * opened


def test_it_waits_five_minutes_and_no_longer(authority: Authority) -> None:
    authority.answers = [(400, {"error": "authorization_pending"})]
    clock = Clock()

    with pytest.raises(LoginFailed, match="five minutes"):
        login(authority, clock)
    assert clock.at == 300


def test_it_asks_more_slowly_when_told_to(authority: Authority) -> None:
    authority.answers = [(400, {"error": "slow_down"}), (400, {"error": "authorization_pending"}), (200, SESSION)]
    clock = Clock()
    login(authority, clock)

    assert clock.slept == [2, 7, 7]


def test_a_server_that_fails_in_between_is_asked_again(authority: Authority) -> None:
    authority.answers = [(503, {"detail": "down"}), (200, b"not JSON"), (200, SESSION)]
    clock = Clock()
    login(authority, clock)

    assert clock.slept == [2, 2, 4]


@pytest.mark.parametrize(("error", "said"), [("access_denied", "denied"), ("expired_token", "nobody approved")])
def test_it_says_why_there_is_no_session(authority: Authority, error: str, said: str) -> None:
    authority.answers = [(400, {"error": error, "error_description": "it was denied"})]

    with pytest.raises(LoginFailed, match=said):
        login(authority, Clock())


@pytest.mark.parametrize("page", ["file:///etc/passwd", "--help", "javascript:alert(1)", "x-terminal:rm"])
def test_only_a_web_page_is_opened(authority: Authority, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setitem(DEVICE, "verification_uri_complete", page)
    opened: list[str] = []

    with pytest.raises(LoginFailed, match="no web address"):
        browser_login(authority.url, say=lambda _: None, open_page=lambda url: bool(opened.append(url)))
    assert not opened


def test_the_address_is_printed_whether_a_browser_opens_or_not(authority: Authority) -> None:
    authority.answers = [(200, SESSION)]
    said: list[str] = []
    login(authority, Clock(), said)

    assert DEVICE["verification_uri_complete"] in said[0]
    assert DEVICE["user_code"] in said[1]


def test_a_mistyped_code_is_sent_nowhere(authority: Authority) -> None:
    with pytest.raises(CodeMistyped):
        no_browser_login(authority.url, say=lambda _: None, ask=lambda _: "ABCDE")

    assert authority.asked == []


def test_the_checksum_is_the_servers() -> None:
    code = "0123456789ABCDEFGHJKMNPQRS"

    assert checksum(code) == logins.checksum(code)
    assert checked(f"{code[:13].lower()}-{code[13:]} {checksum(code)}\n") == code
    assert checked(("O" + code[1:] + checksum(code)).replace("1", "l")) == code


def test_every_single_mistyped_letter_is_found() -> None:
    code = "0123456789ABCDEFGHJKMNPQRS"
    whole = code + checksum(code)
    for place, letter in enumerate(whole):
        other = "Z" if letter != "Z" else "Y"
        with pytest.raises(CodeMistyped):
            checked(whole[:place] + other + whole[place + 1 :])

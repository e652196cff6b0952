"""`headgate webhook` against a server that answers what a test wants."""

import json
from io import StringIO
from typing import Any

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

WEBHOOK = "whk_0123456789abcdefghjkmnpq0r"
DELIVERY = "dlv_0123456789abcdefghjkmnpq0r"
FLEET = "flt_0123456789abcdefghjkmnpq0r"
SECRET = "whsec_cGxhbnRlZA=="
SHOWN: dict[str, Any] = {
    "id": WEBHOOK,
    "name": "on-call",
    "host": "https://hooks.example.com",
    "format": "cloudevents",
    "types": [],
    "fleet_ids": [],
    "enabled": True,
}
SENT: dict[str, Any] = {
    "id": DELIVERY,
    "event_id": "evt_1",
    "type": "webhook.test",
    "status": "waiting",
    "attempts": [{"status": None, "error": "connection_failed"}],
    "created_at": "2026-11-22T17:00:00.000Z",
}


class Webhooks:
    """A server with webhooks. `secret` is what its answers have of one."""

    def __init__(self) -> None:
        self.listed = [SHOWN]
        self.secret: str | None = SECRET

    def __call__(self, asked: str) -> Answer:
        method, _, path = asked.partition(" ")
        path = path.partition("?")[0].removeprefix("/api/v1/public")
        if method == "DELETE":
            return 204, {}, None
        if path == "/fleets":
            return 200, {}, {"items": [{"id": FLEET, "label": "edge"}], "next_cursor": None}
        if method == "GET":
            listed = [SENT] if path.endswith("/deliveries") else self.listed
            return 200, {}, {"items": listed, "next_cursor": None}
        if path.endswith(("/test", "/resend")):
            return 202, {}, SENT
        return 201 if path == "/webhooks" else 200, {}, SHOWN | {"secret": self.secret}


@pytest.fixture
def webhooks(server: Server) -> Webhooks:
    answering = Webhooks()
    server.answering = answering
    return answering


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    given = StringIO("https://hooks.example.com/services/planted\nplanted-key\n")
    monkeypatch.setattr("sys.stdin", given)
    return given


def last(server: Server) -> tuple[str, Any]:
    line, _, body = server.requests[-1]
    return line, json.loads(body) if body else None


def test_a_webhook_is_created_with_the_address_of_standard_input(
    server: Server, webhooks: Webhooks, run: Run, stdin: StringIO
) -> None:
    code, out, err = run("webhook create on-call --type test.failed --fleet edge")

    assert code == 0
    assert last(server) == (
        "POST /api/v1/public/webhooks",
        {
            "name": "on-call",
            "url": "https://hooks.example.com/services/planted",
            "format": "cloudevents",
            "types": ["test.failed"],
            "fleet_ids": [FLEET],
        },
    )
    assert SECRET in out
    assert "planted" not in out + err


def test_pagerduty_takes_its_key_from_the_second_line(
    server: Server, webhooks: Webhooks, run: Run, stdin: StringIO
) -> None:
    run("webhook create on-call --format pagerduty --routing-key -")

    assert last(server)[1]["routing_key"] == "planted-key"


def test_a_create_without_an_address_says_how_it_is_given(
    webhooks: Webhooks, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(""))

    code, _, err = run("webhook create on-call")
    assert code == 2
    assert "is missing on standard input: pass a file that has it in its first line, `< FILE`" in err


def test_a_secret_that_was_lost_with_the_connection_is_told(webhooks: Webhooks, run: Run, stdin: StringIO) -> None:
    webhooks.secret = None
    code, out, err = run("webhook create on-call")

    assert code == 0
    assert SECRET not in out
    assert f"headgate webhook secret {WEBHOOK}" in err


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ("--off", {"enabled": False}),
        ("--name night --type instance.stale", {"name": "night", "types": ["instance.stale"]}),
        ("--everything", {"types": [], "fleet_ids": []}),
        ("--address -", {"url": "https://hooks.example.com/services/planted"}),
    ],
)
def test_what_is_changed_is_what_was_named(
    server: Server, webhooks: Webhooks, run: Run, stdin: StringIO, options: str, body: object
) -> None:
    assert run(f"webhook change on-call {options}")[0] == 0
    assert last(server) == (f"PATCH /api/v1/public/webhooks/{WEBHOOK}", body)


def test_a_change_of_nothing_is_refused(webhooks: Webhooks, run: Run) -> None:
    code, _, err = run("webhook change on-call")

    assert code == 2
    assert "--everything" in err


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("webhook test on-call", f"POST /api/v1/public/webhooks/{WEBHOOK}/test"),
        ("webhook secret on-call", f"POST /api/v1/public/webhooks/{WEBHOOK}/secret"),
        (
            f"webhook resend {WEBHOOK} {DELIVERY}",
            f"POST /api/v1/public/webhooks/{WEBHOOK}/deliveries/{DELIVERY}/resend",
        ),
        ("webhook delete on-call", f"DELETE /api/v1/public/webhooks/{WEBHOOK}"),
    ],
)
def test_a_webhook_is_found_by_its_name(server: Server, webhooks: Webhooks, run: Run, line: str, asked: str) -> None:
    assert run(line)[0] == 0
    assert last(server)[0] == asked


def test_the_lists_show_hosts_and_outcomes(webhooks: Webhooks, run: Run) -> None:
    _, listed, _ = run("webhook list")
    _, sent, _ = run("webhook deliveries on-call")

    assert "on-call  https://hooks.example.com  cloudevents  on     all" in listed
    assert "connection failed" in sent
    assert DELIVERY in sent


def test_two_of_a_name_are_told_apart_by_their_ids(webhooks: Webhooks, run: Run) -> None:
    webhooks.listed = [SHOWN, SHOWN | {"id": WEBHOOK.replace("0r", "0s")}]
    code, _, err = run("webhook test on-call")

    assert code == 1
    assert WEBHOOK in err


@pytest.mark.parametrize("line", ["webhook test nobody", "webhook resend on-call ../../x"])
def test_what_is_not_there_is_told_with_the_way_out(webhooks: Webhooks, run: Run, line: str) -> None:
    code, _, err = run(line)

    assert code in (1, 2)
    assert "`headgate webhook" in err

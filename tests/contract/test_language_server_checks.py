"""When the language server checks, and what it shows if a check fails: against a server that answers as told."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from headgate_cli.lsp.schedule import BURST, EVERY, CheckPace
from tests.support.answering import Answer, Server, serving
from tests.support.language_client import Editor, applied
from tests.support.service import ROOT

pytestmark = [pytest.mark.contract, pytest.mark.collector]

TEXT = "receivers:\n  otlp:\nexporters:\n  debug:\n"
VALID: Answer = (200, {}, {"valid": True, "errors": [], "warnings": [], "findings": []})
LIMITED: Answer = (429, {"Retry-After": "1"}, {"detail": "over the limit", "code": "rate_limited"})
DOWN: Answer = (503, {}, {"detail": "The collector is not available", "code": "unavailable"})
# What the server answers about the reference, which these tests do not need.
NONE: Answer = (404, {}, {"detail": "none", "code": "not_found"})


def found(message: str) -> Answer:
    error = {"message": message, "component_path": "receivers", "code": "other", "line": 1, "column": 1}
    return 200, {}, {"valid": False, "errors": [error], "warnings": [], "findings": [{**error, "severity": "error"}]}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def running(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One process for all tests of the module."""
    server.answering = lambda asked: VALID if asked.startswith("POST") else NONE
    home = str(tmp_path_factory.mktemp("home"))
    with Editor("--url", server.url, SERVICE_API_TOKEN="sv_x", HOME=home) as editor:
        yield editor


@pytest.fixture
def editor(running: Editor, server: Server) -> Editor:
    """An editor that has seen no outage, and whose server gives checks the answer VALID."""
    server.answering = lambda asked: VALID if asked.startswith("POST") else NONE
    running.findings(running.open(TEXT, "before.yaml"))
    running.messages.clear()
    running.published.clear()
    server.requests.clear()
    return running


def checks_give(server: Server, *answers: Answer) -> None:
    """Have checks get these answers, the last one again and again."""
    waiting = list(answers)

    def answer(asked: str) -> Answer:
        if not asked.startswith("POST"):
            return NONE
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    server.answering = answer


def shown_at(editor: Editor, uri: str) -> list[list[str]]:
    """The messages of each list of diagnostics that was sent for a text."""
    return [[one.message for one in shown.diagnostics] for shown in editor.published if shown.uri == uri]


def checks(server: Server) -> list[str]:
    return [asked for asked, _, _ in server.requests if asked.startswith("POST")]


def test_a_minute_never_holds_as_many_checks_as_the_limit() -> None:
    pace, now, begun = CheckPace(is_limited=True), 1_000.0, []
    while now < 1_600.0:
        now += pace.delay(now)
        pace.took(now)
        begun.append(now)
        now += 0.01

    assert begun[BURST - 1] - begun[0] < EVERY
    assert max(sum(at <= one < at + 60 for one in begun) for at in begun) < 50


def test_a_collector_on_this_machine_has_no_limit() -> None:
    pace = CheckPace(is_limited=False)
    for _ in range(1_000):
        pace.took(1.0)

    assert pace.delay(1.0) == 0


def test_a_check_is_one_request_with_lint_and_policies(editor: Editor, server: Server) -> None:
    assert editor.findings(editor.open(TEXT, "one.yaml")) == []
    assert checks(server) == ["POST /api/v1/public/validate?lint=true&policies=true&remember=false"]


def test_an_outage_is_one_message_and_never_looks_valid(editor: Editor, server: Server) -> None:
    checks_give(server, DOWN, DOWN, found("new"))
    uri = editor.open(TEXT, "outage.yaml")
    first = editor.findings(uri)
    second = editor.findings(uri, editor.replace(uri, TEXT + "# 2\n"))
    third = editor.findings(uri, editor.replace(uri, TEXT + "# 3\n"))

    assert [one.code for one in (*first, *second, *third)] == ["not_checked", "not_checked", "other"]
    assert len(editor.messages) == 1
    assert "not available" in editor.messages[0]


def test_the_request_limit_shows_when_checks_go_on_and_then_they_do(editor: Editor, server: Server) -> None:
    checks_give(server, LIMITED, found("after the pause"))
    uri = editor.open(TEXT, "limit.yaml")
    editor.until(lambda: len(shown_at(editor, uri)) == 2)

    assert shown_at(editor, uri) == [["Not checked: over the limit"], ["after the pause"]]
    assert editor.messages == ["Headgate cannot check: over the limit. Checks go on in 1 s."]


def test_an_answer_about_an_older_text_is_dropped(editor: Editor, server: Server) -> None:
    newer = threading.Event()

    def answer(asked: str) -> Answer:
        if not asked.startswith("POST"):
            return NONE
        if b"# 2" in server.requests[-1][2]:
            newer.set()
            return found("new")
        newer.wait(60)
        return found("old")

    server.answering = answer
    uri = editor.open(TEXT, "older.yaml")
    editor.until(lambda: bool(checks(server)))
    editor.findings(uri, editor.replace(uri, TEXT + "# 2\n"))
    editor.run_for(0.2)

    assert shown_at(editor, uri) == [["new"]]


def test_a_text_that_the_service_refuses_is_shown_as_not_checked(editor: Editor, server: Server) -> None:
    checks_give(server, (422, {}, {"detail": "Too costly: 400 levels", "code": "yaml_too_costly"}))
    shown = editor.findings(editor.open(TEXT, "refused.yaml"))

    assert [(one.code, one.message) for one in shown] == [("yaml_too_costly", "Not checked: Too costly: 400 levels")]
    assert editor.messages == []


def test_a_text_above_the_limit_of_a_request_is_not_sent(editor: Editor, server: Server) -> None:
    uri = editor.open(f"{TEXT}# {'a long comment ' * 80_000}\n", "large.yaml")

    assert "larger than 1 MB" in editor.findings(uri)[0].message
    assert editor.hover(uri, types.Position(0, 2)) == ""
    assert checks(server) == []


def test_a_request_can_be_cancelled(editor: Editor) -> None:
    uri = editor.open("receivers:\n" + "  otlp:\n    a: [1, 2]\n" * 10_000 + "exporters:\n", "cancelled.yaml")
    asked = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    with pytest.raises(JsonRpcRequestCancelled):
        editor.wait(editor.cancelled(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, asked))
    assert [one.name for one in editor.symbols(uri)] == ["receivers", "exporters"]


def test_an_editor_that_ends_sees_the_server_end_well_with_nothing_on_its_error_output(tmp_path: Path) -> None:
    frames = b"".join(
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        for message in (
            {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
            {"method": "initialized", "params": {}},
            {"id": 2, "method": "shutdown"},
            {"method": "exit"},
        )
        for body in (json.dumps({"jsonrpc": "2.0", **message}).encode(),)
    )
    command = [sys.executable, "-m", "headgate_cli.main", "lsp"]
    environment = {"PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}", "HOME": str(tmp_path)}
    done = subprocess.run(command, input=frames, env=environment, capture_output=True, timeout=90, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


def test_nothing_of_a_text_or_a_token_is_logged(server: Server, tmp_path: Path) -> None:
    secret = "hunter2-in-the-text"
    opened = {"uri": 7, "languageId": [secret], "version": "x", "text": f"receivers: {{otlp: {secret}}}"}
    frames = b"".join(
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        for message in (
            {"id": 1, "method": "initialize", "params": {"capabilities": {}, "initializationOptions": {"a": secret}}},
            {"method": "initialized", "params": {}},
            {"method": "textDocument/didOpen", "params": {"textDocument": opened}},
            {"id": 2, "method": "textDocument/hover", "params": {"textDocument": {"uri": secret}, "position": secret}},
            {"id": 3, "method": f"textDocument/{secret}", "params": {}},
            {"id": 4, "method": "shutdown"},
            {"method": "exit"},
        )
        for body in (json.dumps({"jsonrpc": "2.0", **message}).encode(),)
    )
    command = [sys.executable, "-m", "headgate_cli.main", "lsp", "--url", server.url]
    environment = {
        "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
        "SERVICE_API_TOKEN": "sv_secret",
        "HOME": str(tmp_path),
    }
    done = subprocess.run(command, input=frames, env=environment, capture_output=True, timeout=90, check=False)

    assert secret.encode() not in done.stderr
    assert b"sv_secret" not in done.stderr + done.stdout
    assert b'"id":4' in done.stdout.replace(b" ", b"")


def test_who_is_not_signed_in_reads_how_to_sign_in(tmp_path: Path) -> None:
    with Editor(HOME=str(tmp_path)) as editor:
        shown = editor.findings(editor.open(TEXT))

        assert "headgate login" in shown[0].message
        assert "headgate login" in editor.messages[0]


CONDITIONS = "processors:\n  filter:\n    traces:\n      span:\n        - name = 1&&true\nservice:\n"


def test_the_servers_list_is_shown_as_it_is(editor: Editor, server: Server) -> None:
    place = {"component_path": "processors::filter", "code": "invalid_value", "line": 2, "column": 3}
    first = {"message": "the error mode is wrong", "severity": "error", "way_out": "write `ignore`", **place}
    second = {
        **first,
        "code": "ottl_skipped",
        "severity": "note",
        "line": 5,
        "column": 11,
        "end_line": 5,
        "end_column": 15,
    }
    checks_give(server, (200, {}, {"valid": False, "errors": [], "warnings": [], "findings": [first, second]}))

    shown = editor.findings(editor.open(CONDITIONS, "otelcol.yaml"))
    assert [(one.range.start.line, one.code, one.severity) for one in shown] == [
        (1, "invalid_value", types.DiagnosticSeverity.Error),
        (4, "ottl_skipped", types.DiagnosticSeverity.Hint),
    ]
    assert shown[0].message == "the error mode is wrong\nwrite `ignore`"
    assert (shown[1].range.start.character, shown[1].range.end.character) == (10, 14)


@pytest.mark.parametrize(
    ("mark", "meant", "changed"), [("=", "==", "name == 1&&true"), ("&&", "and", "name = 1 and true")]
)
def test_an_operator_of_another_language_has_a_fix(
    mark: str, meant: str, changed: str, editor: Editor, server: Server
) -> None:
    column = CONDITIONS.splitlines()[4].index(mark) + 1
    place = {"component_path": "processors::filter::traces::span[0]", "line": 5, "column": column}
    place |= {"end_line": 5, "end_column": column + len(mark)}
    said = {"severity": "error", "code": "ottl", "message": "unexpected", "way_out": f"did you mean `{meant}`?"}
    checks_give(server, (200, {}, {"valid": True, "errors": [], "warnings": [], "findings": [{**said, **place}]}))
    uri = editor.open(CONDITIONS, "otelcol.yaml")
    (found,) = editor.findings(uri)

    edits = editor.fixes(uri, found.range)[f"Change to {meant}"]
    assert applied(CONDITIONS, edits).splitlines()[4].strip() == f"- {changed}"

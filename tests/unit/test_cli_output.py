"""What others wrote comes to a terminal as text, and to CI's log as no command."""

import json
import sys
from collections.abc import Callable, Iterator

import click
import pytest

from headgate_cli import output, untrusted
from headgate_cli.checks.findings import Finding, as_text
from headgate_cli.errors import Failed, NotAuthenticated
from headgate_cli.runs.follow import show

# A window's title, the clipboard by either form of the escape, a clear screen, and hidden text.
HOSTILE = ("\x1b]0;owned\x07", "\x1b]52;c;cm0gLXJm\x07", "\x9d52;c;cm0gLXJm\x9c", "\x1b[2J", "\x1b[8m", "\x9b2J", "\r")
FORGED = "edge\n::add-mask::a"


@pytest.fixture(autouse=True)
def in_colour() -> Iterator[None]:
    """As on a terminal: elsewhere click takes some escapes out by itself."""
    with click.Context(click.Command("test"), color=True).scope():
        yield


def run_of(hostile: str) -> dict[str, object]:
    result = {"name": hostile, "expect": "all", "matched": 0, "total": 1, "context": "log", "passed": False}
    return {
        "id": "run_1",
        "status": "Error",
        "target_pipeline": f"logs/{hostile}",
        "duration_seconds": 1,
        "collector_version": "0.139.0",
        "validation_results": [{**result, "condition": hostile, "message": hostile}],
        "stderr": hostile,
        "records": None,
    }


def ends(command: Callable[[], object]) -> None:
    with pytest.raises((click.exceptions.Exit, click.ClickException)):
        command()


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_others_wrote_drives_the_terminal(hostile: str, capsys: pytest.CaptureFixture[str]) -> None:
    ends(lambda: show(run_of(hostile)))
    output.print_result(as_text([Finding(hostile, "error", hostile, hostile, hostile)], {}))
    Failed(hostile).show()
    NotAuthenticated(hostile, hostile).show()
    output.print_result(hostile)
    output.print_json({hostile: hostile})

    shown = "".join(capsys.readouterr())
    assert shown.count("�") >= 10
    assert hostile not in shown.replace("\x1b[0m", "")


def test_our_own_colours_stay(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_result(click.style("FAIL", fg="red", bold=True))

    assert capsys.readouterr().out == "\x1b[31m\x1b[1mFAIL\x1b[0m\n"


def test_json_says_the_same_with_its_own_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": "a\x9b2J\x7f\u202eb\x1b 😀 é"}
    output.print_json(value)

    shown = capsys.readouterr().out
    assert json.loads(shown) == value
    assert "😀 é" in shown
    assert r"a\u009b2J\u007f\u202eb\u001b" in shown


def test_a_name_is_not_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    ends(lambda: show({**run_of(""), "target_pipeline": FORGED, "validation_results": []}))

    assert "\n::add-mask" not in capsys.readouterr().out
    assert untrusted.one_line(FORGED) == "edge�::add-mask::a"


def test_a_table_that_has_to_be_whole_becomes_paragraphs_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    rows = [
        ("protocols.grpc.endpoint", "string", '"localhost:4317"', "Where the server listens for others"),
        ("protocols.grpc.tls", "object", None, ""),
    ]
    output.table(("FIELD", "TYPE", "DEFAULT", "DESCRIPTION"), rows, nothing="", whole=True)

    assert click.unstyle(capsys.readouterr().out).splitlines() == [
        'protocols.grpc.endpoint  type string, default "localhost:4317"',
        "        Where the server listens for",
        "        others",
        "protocols.grpc.tls  type object",
    ]


def test_a_table_that_fits_stays_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    output.table(("ENUM", "VALUE"), [("SPAN_KIND_SERVER", 2)], nothing="", whole=True)

    assert click.unstyle(capsys.readouterr().out).splitlines() == ["ENUM              VALUE", "SPAN_KIND_SERVER  2"]


def test_on_a_narrow_terminal_ids_give_way_to_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    key, name = "cfg_01m8b5x4dwfr3v07s145f6ttkr", "gateway-of-the-north"

    output.table(
        ("ID", "NAME", "LATEST", "PUBLISHED", "UPDATED (UTC)"), [(key, name, 12, 11, "2026-11-20 19:32")], nothing=""
    )
    output.table(("ID", "STATUS", "CONFIGURATION"), [(key, "Success", f"{name} and a tail that is long")], nothing="")

    *_, named, _, only_id = click.unstyle(capsys.readouterr().out).splitlines()
    assert name in named
    assert len(named) <= 60
    assert key in only_id

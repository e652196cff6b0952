"""`headgate validate` and `headgate lint`: what is wrong, where, and for whom it is printed."""

import json
import re

import jsonschema
import pytest

from tests.support.cli_support import BROKEN, EDGE, Cli, until_end

pytestmark = pytest.mark.end_to_end

MISTYPED = EDGE.replace("set(log", "sett(log")

# The part of SARIF 2.1.0 that we print, exactly: names and types as its section 3 has them, nothing else allowed.
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
_PLACE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": "^[^ <>]+$"}},
                },
                "region": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["startLine"],
                    "properties": {
                        "startLine": {"type": "integer", "minimum": 1},
                        "startColumn": {"type": "integer", "minimum": 1},
                    },
                },
            },
        },
        "logicalLocations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"fullyQualifiedName": {"type": "string"}},
            },
        },
    },
}
_RESULT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": _TEXT,
        "locations": {"type": "array", "items": _PLACE},
    },
}
_RULE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id"],
    "properties": {"id": {"type": "string"}, "shortDescription": _TEXT},
}
_RUN = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tool"],
    "properties": {
        "tool": {
            "type": "object",
            "required": ["driver"],
            "properties": {
                "driver": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["name"],
                    "properties": {
                        "name": {"type": "string"},
                        "version": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": _RULE},
                    },
                }
            },
        },
        "invocations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["executionSuccessful"],
                "properties": {"executionSuccessful": {"type": "boolean"}},
            },
        },
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "results": {"type": "array", "items": _RESULT},
    },
}
SARIF = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": _RUN},
    },
}


def test_an_error_is_shown_as_compilers_do(cli: Cli) -> None:
    cli.write("edge.yaml", BROKEN)
    done = cli.run("validate", "edge.yaml")
    first, line, caret = done.out.splitlines()

    assert done.code == 1
    assert re.fullmatch(r"edge\.yaml:6:14: error: .+ \[invalid_value\]", first)
    assert line == "    6 |     timeout: 5 parsecs"
    assert caret.index("^") == line.index("5 parsecs")


def test_every_file_is_checked_and_the_valid_ones_named(cli: Cli) -> None:
    cli.write("a.yaml", EDGE)
    cli.write("b/broken.yaml", BROKEN)
    cli.write("c.yaml", EDGE)
    done = cli.run("validate", "a.yaml", "b/broken.yaml", "c.yaml")

    assert done.code == 1
    assert done.out.startswith("b/broken.yaml:6:14: error: ")
    assert re.findall(r"^(\S+): valid on otelcol-contrib \d", done.err, re.MULTILINE) == ["a.yaml", "c.yaml"]


def test_standard_input_is_a_file_too(cli: Cli) -> None:
    done = cli.run("validate", "-", given=BROKEN.encode())
    assert (done.code, done.out[:14]) == (1, "<stdin>:6:14: ")

    assert cli.run("validate", "-", given=EDGE.encode()).code == 0


def cells(text: str) -> int:
    """As a terminal shows the letters of these tests."""
    return sum(2 if one in "配置" else 0 if one == "\u0301" else 1 for one in text)


@pytest.mark.parametrize("name", ["plain", "配置", "e\u0301dge"])
def test_the_caret_stands_below_what_it_means(cli: Cli, name: str) -> None:
    """Wide letters take two cells, marks none, and a tab goes to the next stop."""
    cli.write("edge.yaml", EDGE.replace("  batch:\n    timeout: 5s\n", f"  batch/{name}: {{\ttimeout: 5 parsecs}}\n"))
    done = cli.run("validate", "edge.yaml")
    found = re.search(r"^edge\.yaml:5:\d+: error: .*\n(.*)\n(.*)$", done.out, re.MULTILINE)

    assert found is not None, done.out
    assert "\t" not in found[1]
    assert found[2].index("^") == cells(found[1][: found[1].index("5 parsecs")])


def test_of_a_long_line_the_part_with_the_error_is_shown(cli: Cli) -> None:
    padding = "send_batch_size: 1" + " " * 3000
    cli.write("edge.yaml", EDGE.replace("  batch:\n    timeout: 5s\n", f"  batch: {{{padding}, timeout: 5 parsecs}}\n"))
    child = cli.terminal("validate", "edge.yaml", columns=80, NO_COLOR="1")
    _, line, caret = until_end(child)[1].splitlines()[:3]

    assert len(line) <= 80
    assert caret.index("^") == line.index("5 parsecs")


def test_a_line_end_of_windows_moves_nothing(cli: Cli) -> None:
    cli.write("edge.yaml", BROKEN.replace("\n", "\r\n"))
    first, line, caret = cli.run("validate", "edge.yaml").out.splitlines()

    assert first.startswith("edge.yaml:6:14: error: ")
    assert line.endswith("timeout: 5 parsecs")
    assert caret.index("^") == line.index("5 parsecs")


def test_what_the_file_needs_can_be_given(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE.replace("5s", "${env:TIMEOUT}"))

    assert cli.run("validate", "edge.yaml", "--env", "TIMEOUT=6s").code == 0
    assert cli.run("validate", "edge.yaml", "--env", "TIMEOUT=6 parsecs").code == 1
    assert cli.run("validate", "edge.yaml", "--env", "TIMEOUT").code == 2


def test_a_collector_that_is_not_there_is_no_verdict(cli: Cli) -> None:
    cli.write("a.yaml", EDGE)
    done = cli.run("validate", "a.yaml", "--version", "0.1.0")

    assert (done.code, done.out) == (1, "")
    assert "could not validate a.yaml" in done.err


@pytest.mark.parametrize("content", [b"\xff\xfe", b"receivers: [\n", b"\x00"])
def test_what_is_not_yaml_is_said_with_its_file(cli: Cli, content: bytes) -> None:
    (cli.folder / "edge.yaml").write_bytes(content)
    done = cli.run("validate", "edge.yaml")

    assert done.code == 1
    assert "edge.yaml" in done.out + done.err
    assert "Traceback" not in done.err


def test_a_text_cannot_drive_the_terminal(cli: Cli) -> None:
    cli.write("edge.yaml", "# \x1b]0;owned\x07\x1b[2J\n" + EDGE)
    shown = until_end(cli.terminal("validate", "edge.yaml"))[1]

    assert "owned" in shown
    assert not re.search(r"\x1b\]|\x1b\[2J|\x07", shown)


def test_colour_is_for_terminals_that_want_it(cli: Cli) -> None:
    cli.write("edge.yaml", BROKEN)

    assert "\x1b[31m" in until_end(cli.terminal("validate", "edge.yaml"))[1]
    assert "\x1b" not in until_end(cli.terminal("validate", "edge.yaml", NO_COLOR="1"))[1]
    assert "\x1b" not in cli.run("validate", "edge.yaml").out


# OTTL.


def test_an_expression_is_judged_where_it_stands(cli: Cli) -> None:
    cli.write("edge.yaml", MISTYPED)
    done = cli.run("lint", "edge.yaml")
    first, line, caret, meant = done.out.splitlines()

    assert done.code == 1
    assert re.match(r"edge\.yaml:9:\d+: error: .*sett", first)
    assert meant == "      = did you mean `set`?"
    assert line.index("sett") <= caret.index("^") < len(line)
    assert "edge.yaml: 1 expression checked" in done.err


def test_right_expressions_are_counted(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    done = cli.run("lint", "edge.yaml")

    assert (done.code, done.out, done.err) == (0, "", "edge.yaml: 1 expression checked\n")
    assert ": note: " in cli.ok("lint", "--notes", "edge.yaml")


# For programs.


def test_json_is_what_the_server_says_of_each_file(cli: Cli) -> None:
    cli.write("a.yaml", EDGE)
    cli.write("b.yaml", BROKEN)
    for chosen in (["--json"], ["--format", "json"]):
        a, b = cli.run("validate", "a.yaml", "b.yaml", *chosen).json

        assert (a["file"], a["valid"], a["errors"]) == ("a.yaml", True, [])
        assert (b["file"], b["valid"]) == ("b.yaml", False)
    assert [one["checked"] for one in cli.run("lint", "--json", "a.yaml").json] == [1]


@pytest.mark.parametrize("command", ["validate", "lint"])
def test_sarif_is_sarif(cli: Cli, command: str) -> None:
    cli.write("with space.yaml", BROKEN if command == "validate" else MISTYPED)
    cli.write("a.yaml", EDGE)
    done = cli.run(command, "--format", "sarif", "a.yaml", "with space.yaml")
    log = json.loads(done.out)
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    (result,) = [one for one in run["results"] if one["level"] == "error"]

    assert done.code == 1
    assert run["invocations"] == [{"executionSuccessful": True}]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "with%20space.yaml"
    assert place["region"]["startLine"] == (6 if command == "validate" else 9)


def test_sarif_says_that_a_file_was_not_checked(cli: Cli) -> None:
    cli.write("a.yaml", EDGE)
    done = cli.run("validate", "--format", "sarif", "--version", "0.1.0", "a.yaml")
    log = json.loads(done.out)
    jsonschema.validate(log, SARIF)

    assert done.code == 1
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": False}]


def test_github_shows_it_beside_the_line(cli: Cli) -> None:
    cli.write("a,b.yaml", BROKEN)
    done = cli.run("validate", "--format", "github", "a,b.yaml")

    assert done.code == 1
    assert re.fullmatch(r"::error file=a%2Cb\.yaml,title=invalid_value,line=6,col=14::.+\n", done.out)

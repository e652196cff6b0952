"""Every command that prints a result prints it as JSON too, in a shape that is documented."""

import json

import jsonschema_rs
import pytest

from scripts.cli_json import PAGE, described, page, schema_of
from tests.support.answering import Server
from tests.support.cli_in_process import Run
from tests.support.cli_json import commands

# They run until they are ended, or print what they do as they do it.
WITHOUT = {"lsp", "dev", "demo"}


def test_every_command_takes_json_and_its_output_is_described() -> None:
    found = {name: {option for one in command.params for option in one.opts} for name, command in commands()}

    assert {name for name, options in found.items() if "--json" not in options} == WITHOUT
    assert set(described()["commands"]) == set(found) - WITHOUT


@pytest.mark.parametrize("command", sorted(described()["commands"]))
def test_every_description_is_a_schema_whose_shapes_exist(command: str) -> None:
    schema = schema_of(command)

    assert jsonschema_rs.validator_for(schema)
    assert not jsonschema_rs.is_valid(schema, 5)


def test_the_page_is_what_the_descriptions_say() -> None:
    assert PAGE.read_text() == page(), "run `python -m scripts.cli_json`"


def test_an_error_is_one_line_of_json_where_the_result_would_be_json(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADGATE_URL", server.url)
    monkeypatch.setenv("SERVICE_API_TOKEN", "sv_x")
    wrong = {"loc": ["body", "label"], "message": "This may have at most 200 characters"}
    server.answers = [
        (422, {}, {"detail": "label: no", "code": "invalid", "errors": [wrong], "request_id": "r-1"}),
        (401, {}, {"detail": "expired", "code": "unauthenticated", "request_id": "r-2"}),
    ]

    def error(line: str) -> tuple[int, object]:
        code, out, err = run(line)
        assert out == ""
        return code, json.loads(err)["error"]

    code, described = error("fleet create edges --json")
    assert (code, described) == (
        1,
        {
            "code": "invalid",
            "message": "label: no\n  label: This may have at most 200 characters",
            "exit_code": 1,
            "errors": [{"place": "label", "message": "This may have at most 200 characters"}],
            "request_id": "r-1",
        },
    )
    code, described = error("whoami --json")
    assert isinstance(described, dict)
    assert (code, described["code"], described["request_id"]) == (3, "unauthenticated", "r-2")
    code, described = error("validate --format json")
    assert isinstance(described, dict)
    assert (code, described["code"]) == (2, "usage")

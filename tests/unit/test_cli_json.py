"""Every command that prints a result prints it as JSON too, in a shape that is documented."""

import jsonschema_rs
import pytest

from scripts.cli_json import PAGE, described, page, schema_of
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

"""What commands print with --json, held to docs/cli-json.yaml."""

import json
from collections.abc import Iterator, Sequence
from functools import cache

import click
import jsonschema_rs

from scripts.cli_json import schema_of
from tests.support import cli_commands


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command that is not a group, by its words."""
    return ((" ".join(words), one) for words, one in cli_commands.walk() if not isinstance(one, click.Group))


def require_described(arguments: Sequence[str], printed: str) -> None:
    """Fails if a command with --json printed something else than its description says."""
    if "--json" not in arguments or "--help" in arguments:
        return
    command = next((words for words in (" ".join(arguments[:2]), arguments[0]) if words in _names()), "")
    if command:
        _validator(command).validate(json.loads(printed))


@cache
def _names() -> frozenset[str]:
    return frozenset(name for name, _ in commands())


@cache
def _validator(command: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema_of(command))

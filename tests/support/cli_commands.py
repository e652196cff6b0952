"""The commands of the command line."""

from collections.abc import Iterator

import click

from headgate_cli.main import headgate


def walk(
    command: click.Command = headgate, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """The command and all below it, each by its words."""
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None, name
            yield from walk(inner, (*words, name))

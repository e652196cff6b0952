"""The click group of each noun's commands."""

from __future__ import annotations

from typing import Final

import click

# Click cuts summaries at 45 characters, in the middle of a sentence; help wraps long lines anyway.
_LONGEST_SUMMARY: Final = 200


class CommandGroup(click.Group):
    """A group whose help lists each command with the whole first sentence of its help."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [
            (name, self.commands[name].get_short_help_str(_LONGEST_SUMMARY)) for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(commands)

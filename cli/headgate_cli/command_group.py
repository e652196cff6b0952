"""Commands of one noun."""

from __future__ import annotations

from typing import Final

import click

# Click cuts at 45, in the middle of a sentence; a help text wraps anyway.
_LONGEST_SUMMARY: Final = 200


class Group(click.Group):
    """A group whose help says of each command all of its first sentence."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [
            (name, self.commands[name].get_short_help_str(_LONGEST_SUMMARY)) for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(commands)

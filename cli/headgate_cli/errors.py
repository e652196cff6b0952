"""The errors that end a command, and their exit statuses."""

import sys
from typing import IO, Any, Final

import click

from headgate_cli.untrusted import harmless

FAILED: Final = 1
USAGE: Final = 2
NOT_AUTHENTICATED: Final = 3
INTERRUPTED: Final = 130


class Failed(click.ClickException):
    """Exit status 1, with the message on standard error."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(harmless(f"headgate: {self.message}"), file=file or sys.stderr)


class NotAuthenticated(Failed):
    """There is no credential, or the server does not take it: exit status 3."""

    exit_code = NOT_AUTHENTICATED

    def __init__(self, message: str, hint: str = "") -> None:
        """`hint` is printed as a second line: it names the credential that was sent."""
        super().__init__(message)
        self.hint = hint

    def show(self, file: IO[Any] | None = None) -> None:
        super().show(file)
        if self.hint:
            click.echo(harmless(f"  {self.hint}"), file=file or sys.stderr)


class Unreachable(Failed):
    """Nothing answers at the address, or not like a Headgate server: further requests are useless."""


class Ended(click.exceptions.Exit):
    """The command ends without another message; `Ended(1)` for findings, a failing test, an outage."""

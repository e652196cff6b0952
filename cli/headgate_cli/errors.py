"""The errors that end a command, and their exit statuses."""

import json
import sys
from collections.abc import Mapping
from typing import IO, Any, Final

import click

from headgate_cli.untrusted import harmless, harmless_json

FAILED: Final = 1
USAGE: Final = 2
NOT_AUTHENTICATED: Final = 3
INTERRUPTED: Final = 130


class Failed(click.ClickException):
    """Exit status 1, with the message on standard error."""

    exit_code = FAILED
    # For programs: a stable word for the kind of error, and the request that it is about.
    code = "failed"
    request_id = ""

    @property
    def places(self) -> list[Mapping[str, object]]:
        """The errors at each place of the request, with `place` and `message`."""
        return []

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(harmless(f"headgate: {self.message}"), file=file or sys.stderr)


class NotAuthenticated(Failed):
    """The credential is missing, or the server does not take it: exit status 3."""

    exit_code = NOT_AUTHENTICATED

    def __init__(self, message: str, hint: str = "", *, code: str = "unauthenticated", request_id: str = "") -> None:
        """`hint` is printed as a second line: it names the credential that was sent."""
        super().__init__(message)
        self.hint = hint
        self.code = code
        self.request_id = request_id

    def show(self, file: IO[Any] | None = None) -> None:
        super().show(file)
        if self.hint:
            click.echo(harmless(f"  {self.hint}"), file=file or sys.stderr)


class Unreachable(Failed):
    """The address does not answer, or not like a Headgate server: further requests are useless."""

    code = "unreachable"


class Ended(click.exceptions.Exit):
    """The command ends without another message; `Ended(1)` for findings, a failing test, an outage.

    `why` is a message that was printed for people, which programs get as an error.
    """

    def __init__(self, code: int, why: str = "") -> None:
        super().__init__(code)
        self.why = why


def show_as_json(error: click.ClickException, message: str) -> None:
    """Print an error as one line of JSON on standard error."""
    described: dict[str, object] = {"code": "usage", "message": message, "exit_code": error.exit_code, "errors": []}
    if isinstance(error, Failed):
        described |= {"code": error.code, "errors": error.places}
        if error.request_id:
            described["request_id"] = error.request_id
    click.echo(harmless_json(json.dumps({"error": described}, ensure_ascii=False)), err=True)

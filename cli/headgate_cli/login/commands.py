"""`login`, `logout` and `whoami`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headgate_cli.api import Api, HttpApi
from headgate_cli.connection import as_json, connected, not_empty
from headgate_cli.errors import USAGE, Failed, NotAuthenticated
from headgate_cli.login import credentials
from headgate_cli.login.credentials import Credential
from headgate_cli.login.server import CodeMistyped, LoginFailed
from headgate_cli.output import print_outcome, say
from headgate_cli.untrusted import one_line, quoted

if TYPE_CHECKING:
    from typing import TypedDict
else:
    from headgate_cli.shaped import TypedDict


class _Identity(TypedDict):
    """The fields of GET /identity that are printed; all shapes of the API would take 2 ms of `whoami`."""

    name: str
    organization_name: str
    role: str
    access: str


class _Mistyped(Failed):
    exit_code = USAGE


@click.command()
@click.option("--url", envvar="HEADGATE_URL", default="", help="The server, for example https://headgate.example.com.")
@click.option(
    "--no-browser", is_flag=True, help="Print a URL to open in any browser, and ask for the code shown there."
)
@click.option(
    "--token",
    default=None,
    callback=not_empty,
    help="Store this API token of a service account; no browser is needed.",
)
@as_json
def login(url: str, no_browser: bool, token: str | None, as_json: bool) -> None:
    """Sign in to a server and store the credential.

    Opens the approval page in a browser and waits five minutes for the answer.

    \b
    Examples:
      headgate login --url https://headgate.example.com
      headgate login --url https://headgate.example.com --no-browser
      headgate login --url https://headgate.example.com --token "$SERVICE_API_TOKEN"
    """
    # Imported here: they take as long as the rest of `logout` and `whoami`.
    from headgate_cli.login.browser import browser_login
    from headgate_cli.login.paste import no_browser_login

    server = credentials.server(url)
    try:
        if token:
            credential = credentials.usable(Credential(server, token))
            identity = HttpApi(credential).get(_Identity, "/identity")
            _save(credential)
            _print_login(server, identity["name"], identity["organization_name"], _in_words(identity), as_json)
            return
        session = no_browser_login(server, say=say, ask=_ask) if no_browser else browser_login(server, say=say)
    except CodeMistyped as error:
        raise _Mistyped(str(error)) from error
    except (LoginFailed, Failed) as error:
        # Exit status 3 for a failed login, whatever the reason.
        raise NotAuthenticated(quoted(str(error))) from error
    _save(Credential(server, session.access_token, session.organization_id, session.expires_at))
    signed_in = f"Signed in as {one_line(session.email)} in {one_line(session.organization_name)}"
    _print_login(server, session.email, session.organization_name, signed_in, as_json)


@click.command()
@as_json
def logout(as_json: bool) -> None:
    """Delete the stored credential from this machine.

    Nothing is revoked: a session works until it expires, a token until it expires or is deleted.

    \b
    Examples:
      headgate logout
    """
    try:
        deleted = credentials.delete()
    except OSError as error:
        raise Failed(f"cannot delete {credentials.path()}: {error.strerror}") from error
    message = "Signed out on this machine" if deleted else "Nobody was signed in on this machine"
    print_outcome({"deleted": deleted}, as_json, message)


@click.command()
@connected
def whoami(api: Api, as_json: bool) -> None:
    """Show who the credential acts as.

    \b
    Examples:
      headgate whoami
      headgate whoami --json
    """
    identity = api.get(_Identity, "/identity")
    print_outcome(identity, as_json, _in_words(identity))


def _print_login(server: str, name: str, organization: str, message: str, as_json: bool) -> None:
    print_outcome({"url": server, "name": name, "organization_name": organization}, as_json, message)


def _in_words(identity: _Identity) -> str:
    """`NAME in ORGANIZATION: ROLE, ACCESS`."""
    access = "read and write" if identity["access"] == "read_write" else "read"
    who = one_line(f"{identity['name']} in {identity['organization_name']}")
    return f"{who}: {one_line(identity['role'])}, {access}"


def _ask(question: str) -> str:
    """The pasted answer. Raises LoginFailed if standard input ends."""
    try:
        answer: str = click.prompt(question, err=True)
    except click.Abort as error:
        # Click's prompt reports the end of its input as a Ctrl-C.
        if isinstance(error.__context__, EOFError):
            raise LoginFailed(
                "the input ended before a code was pasted: run it in a terminal, or use --token"
            ) from error
        raise
    return answer


def _save(credential: Credential) -> None:
    try:
        credentials.save(credential)
    except OSError as error:
        raise Failed(f"cannot write {credentials.path()}: {error.strerror}") from error

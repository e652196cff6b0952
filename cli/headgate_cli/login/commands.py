"""`login`, `logout` and `whoami`."""

from __future__ import annotations

import click

from headgate_cli.api import Api, text
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import USAGE, Failed, NotAuthenticated
from headgate_cli.login import credentials
from headgate_cli.login.credentials import Credential
from headgate_cli.login.errors import CodeMistyped, LoginFailed
from headgate_cli.output import dump, say, tell
from headgate_cli.untrusted import one_line, quoted


class _Mistyped(Failed):
    exit_code = USAGE


@click.command()
@click.option("--url", envvar="HEADGATE_URL", default="", help="The server, as in https://headgate.example.com.")
@click.option("--no-browser", is_flag=True, help="Print a URL to open anywhere, and ask for the code it shows.")
@click.option("--token", default=None, help="Use this service account's API token; no browser is needed.")
def login(url: str, no_browser: bool, token: str | None) -> None:
    """Sign in to a server, and remember it.

    Opens the approval page in a browser, and waits five minutes for the answer.

    \b
    Examples:
      headgate login --url https://headgate.example.com
      headgate login --url https://headgate.example.com --no-browser
      headgate login --url https://headgate.example.com --token "$SERVICE_API_TOKEN"
    """
    # Only now: they bring an HTTP client, which `logout` does without.
    from headgate_cli.login.browser import browser_login
    from headgate_cli.login.paste import no_browser_login

    server = credentials.server(url)
    if token == "":
        raise click.UsageError("--token is empty")
    try:
        if token:
            credential = credentials.usable(Credential(server, token))
            said = _sentence_on(Api(credential))
            _keep(credential)
            tell(said)
            return
        got = no_browser_login(server, say=say, ask=_asked) if no_browser else browser_login(server, say=say)
    except CodeMistyped as error:
        raise _Mistyped(str(error)) from error
    except (LoginFailed, Failed) as error:
        # Whatever the reason, a login that failed is an authentication error.
        raise NotAuthenticated(quoted(str(error))) from error
    _keep(Credential(server, got.access_token, got.organization_id, got.expires_at))
    tell(f"Signed in as {one_line(got.email)} in {one_line(got.organization_name)}")


@click.command()
def logout() -> None:
    """Forget the stored credential. It is not revoked: a session ends by itself, a token when it is deleted.

    \b
    Examples:
      headgate logout
    """
    try:
        there = credentials.forget()
    except OSError as error:
        raise Failed(f"cannot delete {credentials.path()}: {error.strerror}") from error
    click.echo("Signed out on this machine" if there else "Nobody was signed in on this machine")


@click.command()
@as_json
@connected
def whoami(api: Api, as_json: bool) -> None:
    """Say whom the credential acts as.

    \b
    Examples:
      headgate whoami
      headgate whoami --json
    """
    if as_json:
        dump(api.get("/identity"))
    else:
        tell(_sentence_on(api))


def _sentence_on(api: Api) -> str:
    identity = api.get("/identity")
    access = "read and write" if text(identity, "access") == "read_write" else "read"
    who = one_line(f"{text(identity, 'name')} in {text(identity, 'organization_name')}")
    return f"{who}: {one_line(text(identity, 'role'))}, {access}"


def _asked(question: str) -> str:
    """What was pasted. Raises LoginFailed where nobody is there to paste anything."""
    try:
        answer: str = click.prompt(question, err=True)
    except click.Abort as error:
        # The prompt takes the end of its input for a Ctrl-C.
        if isinstance(error.__context__, EOFError):
            raise LoginFailed("the input ended before a code was pasted; keep it open, or use --token") from error
        raise
    return answer


def _keep(credential: Credential) -> None:
    try:
        credentials.keep(credential)
    except OSError as error:
        raise Failed(f"cannot write {credentials.path()}: {error.strerror}") from error

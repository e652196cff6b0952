"""`login`, `logout` and `whoami`."""

import sys
from typing import NoReturn

import click
import httpx

from headgate_cli.login import credentials
from headgate_cli.login.browser import browser_login
from headgate_cli.login.credentials import Credential
from headgate_cli.login.errors import CodeMistyped, LoginFailed
from headgate_cli.login.paste import no_browser_login

SERVER_ERROR, USAGE, AUTHENTICATION = 1, 2, 3
_SECONDS = 15.0

_url = click.option("--url", envvar="HEADGATE_URL", default="", help="The server, as in https://headgate.example.com")


@click.command()
@_url
@click.option("--no-browser", is_flag=True, help="Print a URL to open anywhere, and ask for the code it shows")
@click.option("--token", default="", help="Use this service account's API token; no browser is needed")
def login(url: str, no_browser: bool, token: str) -> None:
    """Sign in to a server, and remember it."""
    server = _server(url)
    try:
        if token:
            said = _identity(Credential(server, token))
            _keep(Credential(server, token))
            click.echo(said)
            return
        got = (
            no_browser_login(server, say=click.echo, ask=click.prompt)
            if no_browser
            else browser_login(server, say=click.echo)
        )
    except CodeMistyped as error:
        _end(USAGE, str(error))
    except LoginFailed as error:
        _end(AUTHENTICATION, str(error))
    _keep(Credential(server, got.access_token, got.organization_id, got.expires_at))
    click.echo(f"Signed in as {got.email} in {got.organization_name}")


@click.command()
def logout() -> None:
    """Forget the stored credential. It is not revoked: a session ends by itself, a token when it is deleted."""
    try:
        there = credentials.forget()
    except OSError as error:
        _end(SERVER_ERROR, f"cannot delete {credentials.path()}: {error.strerror}")
    click.echo("Signed out on this machine" if there else "Nobody was signed in on this machine")


@click.command()
@_url
@click.option("--token", default="", help="An API token, instead of the stored credential")
def whoami(url: str, token: str) -> None:
    """Say whom the credential acts as."""
    credential = credentials.presented(_trimmed(url), token)
    if credential is None:
        _end(AUTHENTICATION, "not signed in: run `headgate login`, or set SERVICE_API_TOKEN")
    try:
        click.echo(_identity(Credential(_server(credential.url), credential.value, credential.organization_id)))
    except LoginFailed as error:
        _end(AUTHENTICATION, str(error))


def _identity(credential: Credential) -> str:
    """Raises LoginFailed when the server does not take the credential. Ends the command where there is no server."""
    try:
        response = httpx.get(f"{credential.url}/api/v1/public/identity", headers=credential.headers, timeout=_SECONDS)
        answer = response.json()
    except (httpx.HTTPError, ValueError) as error:
        _end(SERVER_ERROR, f"cannot reach {credential.url}: {error}")
    if response.status_code in (400, 401, 403):
        raise LoginFailed(str(answer.get("detail", "the server does not take this credential")))
    if response.status_code != 200:
        _end(SERVER_ERROR, str(answer.get("detail", f"the server answered with status {response.status_code}")))
    access = "read and write" if answer["access"] == "read_write" else "read"
    return f"{answer['name']} in {answer['organization_name']}: {answer['role']}, {access}"


def _keep(credential: Credential) -> None:
    try:
        credentials.keep(credential)
    except OSError as error:
        _end(SERVER_ERROR, f"cannot write {credentials.path()}: {error.strerror}")


def _server(url: str) -> str:
    known = _trimmed(url)
    if not known.startswith(("http://", "https://")):
        _end(USAGE, "name the server with --url or HEADGATE_URL, as in https://headgate.example.com")
    return known


def _trimmed(url: str) -> str:
    return url.rstrip("/").removesuffix("/api/v1/public")


def _end(code: int, message: str) -> NoReturn:
    click.echo(f"headgate: {message}", err=True)
    sys.exit(code)

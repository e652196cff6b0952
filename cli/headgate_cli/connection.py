"""The options of every command that calls the server."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec

import click

from headgate_cli.api import Api, HttpApi
from headgate_cli.errors import NotAuthenticated
from headgate_cli.login import credentials

P = ParamSpec("P")

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")
annotated = click.option(
    "--format",
    "output",
    type=click.Choice(["text", "github"]),
    default="text",
    help="text for people, github for annotations in a workflow.",
)


def not_empty(_context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Refuse an option's empty value, a script's empty variable: without the option, a command does something else."""
    if value == "":
        noun = (option.metavar or option.name or "value").lower()
        raise click.UsageError(f"{option.opts[0]} is empty: pass a {noun}, or leave the option out")
    return value


def server_options(command: Callable[P, None]) -> Callable[P, None]:
    """Add the options `--url` and `--token`, which choose the server and the credential."""
    command = click.option(
        "--token", default=None, callback=not_empty, help="An API token, instead of the stored credential."
    )(command)
    return click.option(
        "--url", envvar="HEADGATE_URL", default="", help="The server, for example https://headgate.example.com."
    )(command)


def with_api(command: Callable[Concatenate[Api, P], None]) -> Callable[P, None]:
    """Pass a command the API that its options `url` and `token` choose."""

    @functools.wraps(command)
    def with_options(*args: P.args, **options: P.kwargs) -> None:
        command(api(str(options.pop("url")), str(options.pop("token") or "")), *args, **options)

    return with_options


def connected(command: Callable[Concatenate[Api, P], None]) -> Callable[P, None]:
    """Pass a command the API and `as_json`, as the options `--json`, `--url` and `--token` that this adds say."""
    return as_json(server_options(with_api(command)))


def api(url: str, token: str, *, waits: bool = True) -> Api:
    """The API of that server, or of the stored one; `waits` is that of `HttpApi`.

    Raises NotAuthenticated if there is no credential, UsageError if no server is named.
    """
    credential = credentials.choose(credentials.server(url) if url else "", token)
    if credential is None:
        at = f" to {url}" if url else ""
        raise NotAuthenticated(f"you are not signed in{at}: run `headgate login`, or set SERVICE_API_TOKEN")
    return HttpApi(credentials.usable(credential), waits=waits)

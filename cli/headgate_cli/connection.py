"""The options that every command with a server has."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec

import click

from headgate_cli.api import Api
from headgate_cli.errors import NotAuthenticated
from headgate_cli.login import credentials

P = ParamSpec("P")

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")


def connected(command: Callable[Concatenate[Api, P], None]) -> Callable[P, None]:
    """Give a command the API, and the options `--url` and `--token` that say whose.

    The token is the option's, else `SERVICE_API_TOKEN`, else the one that `headgate login` stored.
    """

    @click.option("--url", envvar="HEADGATE_URL", default="", help="The server, as in https://headgate.example.com.")
    @click.option("--token", default=None, help="An API token, instead of the stored credential.")
    @functools.wraps(command)
    def with_options(*args: P.args, **options: P.kwargs) -> None:
        url, token = str(options.pop("url")), options.pop("token")
        if token == "":
            # Not the stored credential instead: a script whose variable is empty means neither.
            raise click.UsageError("--token is empty")
        command(api(url, str(token or "")), *args, **options)

    return with_options


def api(url: str, token: str) -> Api:
    """Raises NotAuthenticated where there is no credential, UsageError where no server is named."""
    credential = credentials.presented(credentials.server(url) if url else "", token)
    if credential is None:
        at = f" to {url}" if url else ""
        raise NotAuthenticated(f"not signed in{at}: run `headgate login`, or set SERVICE_API_TOKEN")
    return Api(credentials.usable(credential))

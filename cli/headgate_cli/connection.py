"""The options that every command with a server has."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Concatenate, Final, ParamSpec

import click

from headgate_cli.api import Api
from headgate_cli.errors import NotAuthenticated
from headgate_cli.login import credentials

P = ParamSpec("P")

_VISIBLE: Final = re.compile(r"[!-~]+")

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")


def connected(command: Callable[Concatenate[Api, P], None]) -> Callable[P, None]:
    """Give a command the API, and the options `--url` and `--token` that say whose.

    The token is the option's, else `SERVICE_API_TOKEN`, else the one that `headgate login` stored.
    """

    @click.option("--url", envvar="HEADGATE_URL", default="", help="The server, as in https://headgate.example.com.")
    @click.option("--token", default="", help="An API token, instead of the stored credential.")
    @functools.wraps(command)
    def with_options(*args: P.args, **options: P.kwargs) -> None:
        url, token = str(options.pop("url")), str(options.pop("token"))
        command(api(url, token), *args, **options)

    return with_options


def api(url: str, token: str) -> Api:
    """Raises NotAuthenticated where there is no credential, UsageError where no server is named."""
    credential = credentials.presented(url.rstrip("/").removesuffix("/api/v1/public"), token)
    if credential is None:
        raise NotAuthenticated("not signed in: run `headgate login`, or set SERVICE_API_TOKEN")
    if not credential.url.startswith(("http://", "https://")):
        raise click.UsageError("name the server with --url or HEADGATE_URL, as in https://headgate.example.com")
    # A secret out of a file often ends with a line break, which no header can carry.
    value = credential.value.strip()
    if not _VISIBLE.fullmatch(value):
        raise NotAuthenticated("the token has a space, a line break or a letter that no token has")
    return Api(replace(credential, value=value))

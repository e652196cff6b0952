"""The options of a command that asks a server, or with `--local` a collector of this machine."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import closing
from typing import Concatenate, Final, ParamSpec

import click
from click.core import ParameterSource

from headgate_cli import connection
from headgate_cli.api import Api
from headgate_cli.local.api import LocalApi

P = ParamSpec("P")
_OPTIONS: Final = ("local", "collector", "url", "token")


def source_options(
    does: str, *, waits: bool = True
) -> Callable[[Callable[Concatenate[Callable[[], Api], P], None]], Callable[P, None]]:
    """Pass a command what opens the API of a server, or with `--local` that of this machine. Adds the options that
    choose.

    `does` begins the help of `--local`; `waits` is that of `HttpApi`.
    """

    def decorate(command: Callable[Concatenate[Callable[[], Api], P], None]) -> Callable[P, None]:
        @click.option("--local", is_flag=True, help=f"{does} with a collector on this machine, without a server.")
        @click.option(
            "--collector",
            type=click.Path(exists=True, dir_okay=False, executable=True),
            default=None,
            help="The collector for --local; by default that of headgate-collector, else of `make collector`.",
        )
        @functools.wraps(command)
        def with_options(*args: P.args, **options: P.kwargs) -> None:
            is_local, collector, url, token = (str(options.pop(name) or "") for name in _OPTIONS)
            if collector and not is_local:
                raise click.UsageError("--collector is the collector of --local: add --local")
            context = click.get_current_context()
            for name in ("url", "token") if is_local else ():
                if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                    raise click.UsageError(f"--{name} names a server, and --local asks none: leave one of them out")
            server = functools.partial(connection.api, url, token, waits=waits)
            command(functools.partial(LocalApi, collector) if is_local else server, *args, **options)

        return connection.server_options(with_options)

    return decorate


def connected_or_local(does: str) -> Callable[[Callable[Concatenate[Api, P], None]], Callable[P, None]]:
    """Pass a command the API itself."""

    def decorate(command: Callable[Concatenate[Api, P], None]) -> Callable[P, None]:
        @source_options(does)
        @functools.wraps(command)
        def with_api(opened: Callable[[], Api], /, *args: P.args, **options: P.kwargs) -> None:
            with closing(opened()) as api:
                command(api, *args, **options)

        return with_api

    return decorate

"""The options of a command that asks a server, or with `--local` a collector of this machine."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Concatenate, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from headgate_cli import connection
from headgate_cli.api import Api

P = ParamSpec("P")
Asked = TypeVar("Asked")


def choosing(
    does: str, local: Callable[[str], AbstractContextManager[Asked]], served: Callable[[Api], Asked]
) -> Callable[[Callable[Concatenate[Asked, P], None]], Callable[P, None]]:
    """Decorates a command, which is passed what it asks: `served` of the API, or `local` of `--collector`'s path.

    `does` begins the help of `--local`.
    """

    def decorate(command: Callable[Concatenate[Asked, P], None]) -> Callable[P, None]:
        @click.option("--local", is_flag=True, help=f"{does} with a collector on this machine, without a server.")
        @click.option(
            "--collector",
            type=click.Path(exists=True, dir_okay=False, executable=True),
            default=None,
            help="The collector for --local; by default that of headgate-collector, else of `make collector`.",
        )
        @functools.wraps(command)
        def with_options(*args: P.args, **options: P.kwargs) -> None:
            is_local, collector = options.pop("local"), options.pop("collector")
            if not is_local:
                if collector:
                    raise click.UsageError("--collector is the collector of --local: add --local")
                connection.with_api(lambda api, *given, **named: command(served(api), *given, **named))(
                    *args, **options
                )
                return
            context = click.get_current_context()
            for name in ("url", "token"):
                if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                    raise click.UsageError(f"--{name} names a server, and --local asks none: leave one of them out")
                options.pop(name)
            with local(str(collector or "")) as asked:
                command(asked, *args, **options)

        return connection.server_options(with_options)

    return decorate

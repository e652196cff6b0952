"""The command `lsp`."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Sequence

import click
from click.core import ParameterSource

from headgate_cli.api import Api
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.errors import Failed

_NOT_INSTALLED = (
    "the language server needs the package pygls: install the command line with "
    '`pip install "headgate[lsp] @ git+https://github.com/YOUR-ORGANIZATION/headgate"`, '
    'or in a checkout `pip install ".[lsp]"`'
)


@click.command()
@click.option("--url", envvar="HEADGATE_URL", default="", help="The server, for example https://headgate.example.com.")
@click.option("--token", default=None, help="An API token, instead of the stored credential.")
@click.option("--local", is_flag=True, help="Work with a collector on this machine, without a server.")
@click.option(
    "--collector",
    type=click.Path(exists=True, dir_okay=False, executable=True),
    default=None,
    help="The collector for --local; by default the one that `make collector` built.",
)
@click.option("--version", type=CollectorVersion(), help="The collector version; by default the server's.")
@click.option(
    "--feature-gate",
    "feature_gates",
    multiple=True,
    metavar="[+-]NAME",
    help="Enable or disable a feature gate of the collector, as hosts run with it; may be repeated.",
)
@click.option(
    "--stdio", is_flag=True, expose_value=False, help="The way it always speaks; some editors add the option."
)
@click.pass_context
def lsp(
    context: click.Context,
    url: str,
    token: str | None,
    local: bool,
    collector: str | None,
    version: str | None,
    feature_gates: Sequence[str],
) -> None:
    """Run a language server for collector configurations, on standard input and output.

    An editor starts it; docs/editors.md has the lines for VS Code, Neovim, Helix, Emacs and JetBrains.

    \b
    Examples:
      headgate lsp
      headgate lsp --local
      headgate lsp --local --collector ./otelcol-contrib
      headgate lsp --feature-gate service.profilesSupport
    """
    if importlib.util.find_spec("pygls") is None:
        raise Failed(_NOT_INSTALLED)
    if collector and not local:
        raise click.UsageError("--collector is the collector of --local: add --local")
    if token == "":
        raise click.UsageError("--token is empty: pass a token, or leave the option out")
    if local:
        for name in ("url", "token"):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name} names a server, and --local asks none: leave one of them out")
    # The protocol's library logs messages with their texts, which may hold secrets.
    for name in ("pygls", "asyncio"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    _run(url, token or "", local=local, collector=collector or "", version=version or "", gates=feature_gates)


def _run(url: str, token: str, *, local: bool, collector: str, version: str, gates: Sequence[str]) -> None:
    from headgate_cli import connection
    from headgate_cli.local.api import LocalApi
    from headgate_cli.lsp import features, sources

    source: Api | Failed
    try:
        source = LocalApi(collector) if local else connection.api(url, token, waits=False)
    except Failed as reason:
        # The editor shows a message of a running server, and mostly hides why a process ended.
        source = reason
    server = features.server(sources.Backend(source, version, gates))
    try:
        server.start_io()
    finally:
        server.end()

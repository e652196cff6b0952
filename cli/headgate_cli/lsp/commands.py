"""The command `lsp`."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Sequence

import click

from headgate_cli.api import Api
from headgate_cli.collector_version import CollectorVersion, feature_gates
from headgate_cli.errors import Failed
from headgate_cli.local.options import source_options

_NOT_INSTALLED = (
    "the language server needs the package pygls: install the command line with "
    '`pip install "headgate[lsp] @ git+https://github.com/YOUR-ORGANIZATION/headgate"`, '
    'or in a checkout `pip install ".[lsp]"`'
)


@click.command()
@click.option("--version", type=CollectorVersion(), help="The collector version; by default the server's.")
@feature_gates
@click.option(
    "--stdio", is_flag=True, expose_value=False, help="The way it always speaks; some editors add the option."
)
@source_options("Work", waits=False)
def lsp(opened: Callable[[], Api], version: str | None, feature_gates: Sequence[str]) -> None:
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
    # The protocol's library logs messages with their texts, which may hold secrets.
    for name in ("pygls", "asyncio"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    from headgate_cli.lsp import features, sources

    source: Api | Failed
    try:
        source = opened()
    except Failed as reason:
        # The editor shows a message of a running server, and mostly hides why a process ended.
        source = reason
    server = features.server(sources.Backend(source, version or "", feature_gates))
    try:
        server.start_io()
    finally:
        server.end()

"""The command `completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from headgate_cli.connection import as_json
from headgate_cli.output import print_outcome


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@as_json
@click.pass_context
def completion(context: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that makes a shell complete headgate's commands, options, files and names.

    Names of configurations, fleets, groups, instances, webhooks and flows are the server's: it is asked at most two
    seconds, with the credential that commands use.

    \b
    Examples:
      headgate completion bash > ~/.local/share/bash-completion/completions/headgate
      headgate completion zsh > ~/.zfunc/_headgate
      headgate completion fish > ~/.config/fish/completions/headgate.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    script = completion_class(context.find_root().command, {}, "headgate", "_HEADGATE_COMPLETE").source()
    print_outcome({"shell": shell, "script": script}, as_json, lambda: click.echo(script))

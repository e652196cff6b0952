"""The command `completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that makes a shell complete headgate's commands and options.

    \b
    Examples:
      headgate completion bash > ~/.local/share/bash-completion/completions/headgate
      headgate completion zsh > ~/.zfunc/_headgate
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    click.echo(completion_class(context.find_root().command, {}, "headgate", "_HEADGATE_COMPLETE").source())

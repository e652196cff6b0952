"""`completion`: the script that makes a shell complete this command."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      headgate completion bash > ~/.local/share/bash-completion/completions/headgate
      headgate completion zsh > ~/.zfunc/_headgate
    """
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(context.find_root().command, {}, "headgate", "_HEADGATE_COMPLETE").source())

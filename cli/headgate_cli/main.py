"""The command `headgate`: its subcommands, and how errors become exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Final

import click

from headgate_cli import VERSION
from headgate_cli.errors import INTERRUPTED

# What each command is for, and where it is: only the one that is run is imported.
_COMMANDS: Final = {
    "login": ("headgate_cli.login.commands:login", "Sign in to a server, and remember it."),
    "logout": ("headgate_cli.login.commands:logout", "Forget the stored credential."),
    "whoami": ("headgate_cli.login.commands:whoami", "Say whom the credential acts as."),
    "config": ("headgate_cli.configurations.commands:config", "Work with configurations and their versions."),
    "validate": ("headgate_cli.checks.commands:validate", "Validate files on the real collector."),
    "lint": ("headgate_cli.checks.commands:lint", "Check every OTTL expression of files."),
    "test": ("headgate_cli.runs.commands:test", "Run pipeline tests and look at them."),
    "rules": ("headgate_cli.rules.commands:rules", "Read and save the rules of a version's pipelines."),
    "fleet": ("headgate_cli.fleets.commands:fleet", "Work with fleets of collectors."),
    "deployment": ("headgate_cli.fleets.deployments:deployment", "Say what each group of a fleet runs."),
    "flow": ("headgate_cli.flows.commands:flow", "Browse the gallery of flows, and start from one."),
    "completion": ("headgate_cli.completion:completion", "Print the completion script of a shell."),
}


class _Lazy(click.Group):
    """A group that imports a command when it is run, and not to list it."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _colon, attribute = _COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.command(cls=_Lazy, name="headgate", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="headgate")
def headgate() -> None:
    """Work with a Headgate server.

    The server is the one of `headgate login`, of --url, or of HEADGATE_URL; a token in SERVICE_API_TOKEN comes before
    a stored session.

    \b
    Examples:
      headgate login --url https://headgate.example.com
      headgate validate collector.yaml
      headgate config push collector.yaml --publish
    """


def main() -> None:
    """Run the command line of this process, and exit with its code."""
    # https://no-color.org: any value but an empty one.
    colour = False if os.environ.get("NO_COLOR") else None
    code = 0
    try:
        code = headgate.main(prog_name="headgate", standalone_mode=False, color=colour) or 0
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except BrokenPipeError:
        # Whoever read our output has enough; Python would complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted", err=True)
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()

"""The command `headgate`: its subcommands, and how errors become exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Final

import click

from headgate_cli import VERSION
from headgate_cli.errors import FAILED, INTERRUPTED, USAGE, Ended, Failed
from headgate_cli.untrusted import harmless, quoted

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
    "deployment": ("headgate_cli.fleets.deployments:deployment", "Say what each group of a fleet is assigned."),
    "flow": ("headgate_cli.flows.commands:flow", "Browse the gallery of flows, and start from one."),
    "completion": ("headgate_cli.completion:completion", "Print the completion script of a shell."),
}

_UNREADABLE: Final = "an argument holds {letters}, which this locale cannot read: set LC_ALL=C.UTF-8"


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

    def invoke(self, ctx: click.Context) -> object:
        try:
            result: object = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            # Whoever read our output has enough; Python would complain again when it closes the stream.
            _no_more_output()
            raise Ended(0) from error
        return result

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
    Exit codes:
      0    done, and nothing is wrong
      1    a finding, a failing test, a conflict, an outage, any other error
      2    usage
      3    the credential is missing, not accepted, or without the access needed
      130  interrupted

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
    _open_what_is_closed()
    try:
        code = headgate.main(prog_name="headgate", standalone_mode=False, color=colour) or 0
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except click.ClickException as error:
        _show(error)
        code = error.exit_code
    except UnicodeEncodeError as error:
        click.echo(f"headgate: {_UNREADABLE.format(letters=ascii(error.object[error.start : error.end]))}", err=True)
        code = USAGE
    except OSError as error:
        # Of the files it is about, a command has said so itself: this is mostly what it prints to.
        _no_more_output()
        click.echo(f"headgate: cannot write the output, or work with a file: {error}", err=True)
        code = FAILED
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted", err=True)
        code = INTERRUPTED
    sys.exit(code)


def _show(error: click.ClickException) -> None:
    """Click's own errors print what they quote as it is: an argument, a file's name."""
    if isinstance(error, Failed):
        error.show()
        return
    message = harmless(quoted(error.format_message()))
    shown = (
        click.UsageError(message, error.ctx) if isinstance(error, click.UsageError) else click.ClickException(message)
    )
    shown.show()


def _open_what_is_closed() -> None:
    """A caller may have closed a stream (`<&-`, a service without a terminal): it is empty then, or goes nowhere."""
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _no_more_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()

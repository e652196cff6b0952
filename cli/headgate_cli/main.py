"""The command `headgate`: its subcommands, and the exit status of each error."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import click

from headgate_cli import VERSION
from headgate_cli.errors import FAILED, INTERRUPTED, USAGE, Ended, Failed, show_as_json
from headgate_cli.untrusted import harmless, quoted

# Each command's module and summary. Only the command that runs is imported.
_COMMANDS: Final = {
    "login": ("headgate_cli.login.commands:login", "Sign in to a server and store the credential."),
    "logout": ("headgate_cli.login.commands:logout", "Delete the stored credential from this machine."),
    "whoami": ("headgate_cli.login.commands:whoami", "Show who the credential acts as."),
    "config": ("headgate_cli.configurations.commands:config", "Work with configurations and their versions."),
    "validate": ("headgate_cli.checks.commands:validate", "Validate files on the real collector."),
    "lint": ("headgate_cli.checks.commands:lint", "Check every OTTL expression in files."),
    "policy": ("headgate_cli.policies.commands:policy", "See and set which policies count."),
    "collector": ("headgate_cli.collectors.commands:collector", "See which collector versions the server can ask."),
    "component": ("headgate_cli.reference.commands:component", "See what components can be configured with."),
    "schema": ("headgate_cli.reference.commands:schema", "Print the JSON Schema of a configuration, for editors."),
    "ottl": ("headgate_cli.reference.ottl:ottl", "See what OTTL statements can be made of."),
    "apply": ("headgate_cli.apply.commands:apply", "Make the organization equal to a folder."),
    "upgrade": ("headgate_cli.upgrade.commands:upgrade", "See what another collector version changes."),
    "test": ("headgate_cli.runs.commands:test", "Run pipeline tests and show their results."),
    "rules": ("headgate_cli.rules.commands:rules", "Read and save the rules of a version's pipelines."),
    "fleet": ("headgate_cli.fleets.commands:fleet", "Work with fleets of collectors."),
    "price": ("headgate_cli.prices.commands:price", "See and set what destinations cost."),
    "deployment": (
        "headgate_cli.fleets.deployments:deployment",
        "Assign configurations to a fleet's deployment groups.",
    ),
    "instance": ("headgate_cli.instances.commands:instance", "See and steer one host of a fleet."),
    "rollout": (
        "headgate_cli.rollouts.commands:rollout",
        "Roll a version out in steps, each judged before the next begins.",
    ),
    "rollback": ("headgate_cli.rollouts.rollback:rollback", "Let a group go back to the last version that was good."),
    "capture": ("headgate_cli.captures.commands:capture", "Take a sample from a host's collector, for a test."),
    "webhook": ("headgate_cli.webhooks.commands:webhook", "Tell other systems what happens."),
    "flow": ("headgate_cli.flows.commands:flow", "List the gallery's flows and create configurations from them."),
    "demo": ("headgate_cli.demo.commands:demo", "Fill the organization with examples, and take them away again."),
    "accept": ("headgate_cli.accept.commands:accept", "Check that a server does what the specification promises."),
    "lsp": ("headgate_cli.lsp.commands:lsp", "Run a language server for editors, on standard input and output."),
    "dev": ("headgate_cli.dev:dev", "Run the whole service on this machine."),
    "completion": ("headgate_cli.completing:completion", "Print the completion script of a shell."),
}

# Set by the script of `headgate completion` when a shell asks what may come next.
COMPLETE: Final = "_HEADGATE_COMPLETE"
_UNREADABLE: Final = "an argument contains {letters}, which this locale cannot encode: set LC_ALL=C.UTF-8"


class _Lazy(click.Group):
    """A group that imports a command only when it runs; listing the commands imports none."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _colon, attribute = _COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        if COMPLETE in os.environ:
            from headgate_cli import completing

            completing.prepare(command)
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            result: object = super().invoke(ctx)
            # The language server has closed it when the editor ends it.
            if not sys.stdout.closed:
                sys.stdout.flush()
        except BrokenPipeError as error:
            # The reader has closed the pipe, as `head` does. Python would raise again when it closes the stream.
            _discard_output()
            raise Ended(0) from error
        except Ended as ended:
            if ended.why and _wants_json(sys.argv[1:]):
                show_as_json(Failed(ended.why), ended.why)
            raise
        return result

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            similar = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            if not similar:
                raise
            raise click.UsageError(f"{error.message} Did you mean {similar[0]!r}?", ctx) from error

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.command(cls=_Lazy, name="headgate", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="headgate")
def headgate() -> None:
    """Work with a Headgate server.

    The server is --url, else HEADGATE_URL, else the one of `headgate login`. The credential is --token, else
    SERVICE_API_TOKEN, else the one that `headgate login` stored.

    \b
    Exit status:
      0    success
      1    invalid YAML, a failing test, a conflict, an outage, or any other error
      2    wrong usage, such as an unknown option
      3    the credential is missing, is not accepted, or lacks the access needed
      4    headgate apply --dry-run --exit-code: something would change
      130  interrupted

    \b
    Examples:
      headgate login --url https://headgate.example.com
      headgate validate collector.yaml
      headgate config push collector.yaml --publish
    """


def main() -> None:
    """Run the command line of this process and exit with its code."""
    # https://no-color.org: any value but an empty string counts.
    colour = False if os.environ.get("NO_COLOR") else None
    code = 0
    _open_closed_streams()
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
        # A command reports errors of its own files itself: this is mostly standard output.
        _discard_output()
        click.echo(f"headgate: cannot write the output or use a file: {error}", err=True)
        code = FAILED
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted", err=True)
        code = INTERRUPTED
    sys.exit(code)


def _show(error: click.ClickException) -> None:
    """Print the error. Click's own errors quote arguments and file names unescaped, so they are made harmless first."""
    if _wants_json(sys.argv[1:]) and not isinstance(error, click.exceptions.NoArgsIsHelpError):
        show_as_json(error, error.format_message())
        return
    if isinstance(error, Failed | click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    message = harmless(quoted(error.format_message()))
    escaped = (
        click.UsageError(message, error.ctx) if isinstance(error, click.UsageError) else click.ClickException(message)
    )
    escaped.show()


def _wants_json(arguments: Sequence[str]) -> bool:
    """True if the result was asked for as JSON, even if the arguments could not be parsed."""
    return "--json" in arguments or "--format=json" in arguments or ("--format", "json") in pairwise(arguments)


def _open_closed_streams() -> None:
    """Replace a standard stream that the caller closed (`<&-`): it reads as empty, or discards what is written."""
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()

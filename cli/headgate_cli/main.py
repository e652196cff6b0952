"""The command `headgate`: its subcommands, and how errors become exit codes."""

import sys

import click

from headgate_cli.login.commands import login, logout, whoami

INTERRUPTED = 130


@click.group(name="headgate")
def headgate() -> None:
    """Work with a Headgate server."""


for _command in (login, logout, whoami):
    headgate.add_command(_command)


def main() -> None:
    """Run the command line of this process, and exit with its code."""
    try:
        headgate.main(prog_name="headgate", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted", err=True)
        sys.exit(INTERRUPTED)
    sys.exit(0)


if __name__ == "__main__":
    main()

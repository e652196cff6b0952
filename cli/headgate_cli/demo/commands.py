"""The command `demo`."""

from __future__ import annotations

import importlib.util

import click

from headgate_cli.api import Api
from headgate_cli.connection import server_options, with_api
from headgate_cli.errors import Failed
from headgate_cli.output import print_result, say
from headgate_cli.untrusted import one_line

_NOT_INSTALLED = (
    "simulated hosts need the package protobuf: install the command line with "
    '`pip install "headgate[demo] @ git+https://github.com/YOUR-ORGANIZATION/headgate"`, '
    'or in a checkout `pip install ".[demo]"`'
)


@click.command()
@click.option("--detach", is_flag=True, help="Let the hosts report from a process of their own, and return.")
@click.option("--remove", "removing", is_flag=True, help="Take everything away that a demo made.")
@server_options
@with_api
def demo(api: Api, detach: bool, removing: bool) -> None:
    """Fill the organization with examples: configurations, tests, runs, and a fleet with a rollout under way.

    The hosts are simulated: they speak the real protocol, run no collector, and have the label headgate.demo=true. They
    report until Ctrl-C. Repeating the command adds what is missing.

    --remove deletes the fleet with its hosts, and the draft; it archives published configurations. Runs are deleted
    after 30 days.

    \b
    Examples:
      headgate demo
      headgate demo --detach
      headgate demo --remove
    """
    if detach and removing:
        raise click.UsageError("--detach and --remove exclude each other")
    if importlib.util.find_spec("google.protobuf") is None:
        raise Failed(_NOT_INSTALLED)
    if removing:
        _remove(api)
    else:
        _fill(api, detach=detach)


def _fill(api: Api, *, detach: bool) -> None:
    from headgate_cli.demo import fill, hosts

    ids = fill.configurations(api, _made)
    fill.runs(api, ids, _made)
    filled = fill.fleet(api, ids, _made)
    number = hosts.running(filled.fleet_id)
    if number is None:
        simulated = fill.hosts(api, filled)
        # Where nobody reports, a rollout has nothing to judge and ends at once.
        agents = hosts.begin(simulated)
        fill.rollout(api, filled, _made)
        number = hosts.detach(simulated) if detach else None
    if number is not None:
        print_result(f"The simulated hosts report from the process {number}; `headgate demo --remove` ends it.")
        return
    hosts.report(agents, address=f"{one_line(api.url)}/")
    say("The hosts have stopped. `headgate demo` starts them again.")
    say("`headgate demo --remove` takes everything away and archives what was published.")


def _remove(api: Api) -> None:
    from headgate_cli.demo import remove

    lines: list[str] = []

    def tell(message: str) -> None:
        lines.append(message)
        print_result(message)

    remove.fleet(api, tell)
    remove.configurations(api, tell)
    if not lines:
        print_result("There is nothing of a demo")


def _made(what: str) -> None:
    print_result(f"+ {what}")

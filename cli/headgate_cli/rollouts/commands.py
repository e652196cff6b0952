"""`rollout start | watch | show | list | pause | resume | promote | approve | abort | retry`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.checks import gate as checks
from headgate_cli.command_group import CommandGroup
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.fleets import assignable, check
from headgate_cli.output import minute, show_list
from headgate_cli.rollouts import follow, lookup
from headgate_cli.rollouts.options import GateOption, Step, StepOfRollout, WindowOption, strategy
from headgate_cli.shapes import DeploymentOut, RolloutOut, RolloutStarted
from headgate_cli.untrusted import quoted

_PRESETS: Final = ("canary", "careful", "fast", "all-at-once")
_ON_FAILURE: Final = ("roll-back-step", "roll-back", "halt")

_fleet = click.argument("fleet", metavar="FLEET")
_group = click.argument("group", metavar="GROUP")
_rollout = click.argument("rollout_id", metavar="[ROLLOUT]", default="")


@click.group(cls=CommandGroup)
def rollout() -> None:
    """Roll a version out to a deployment group in steps, each judged before the next begins.

    FLEET is an id or a label, GROUP an id or a name; without ROLLOUT, a command is about the group's newest one.

    \b
    Examples:
      headgate rollout start servers Default shop --watch
      headgate rollout abort servers Default
    """


@rollout.command()
@_fleet
@_group
@click.argument("configuration", metavar="[CONFIGURATION[@N]]", default="")
@click.option("--version", "n", type=VersionNumber(), help="The version; the newest published one by default.")
@click.option(
    "--strategy", "preset", type=click.Choice(_PRESETS), help="Steps that somebody has thought of; canary by default."
)
@click.option(
    "--step",
    "steps",
    type=StepOfRollout(),
    multiple=True,
    metavar="SHARE[:SOAK][:approval]",
    help="A step: 1 (hosts), 10% or canaries; its soak, such as 10m; `approval` if another person has to agree first. "
    "Repeatable, in order; the last one is 100%.",
)
@click.option(
    "--canary", "canaries", metavar="KEY=VALUE", multiple=True, help="A label of the hosts that come first. Repeatable."
)
@click.option("--max-unavailable", type=click.IntRange(min=1), help="At most so many hosts change at once.")
@click.option("--window", type=WindowOption(), help="Steps begin only in these hours: 22:00-05:00@Europe/Berlin.")
@click.option(
    "--on-failure", type=click.Choice(_ON_FAILURE), help="What a failed gate does; roll-back-step by default."
)
@click.option(
    "--gate",
    "gates",
    type=GateOption(),
    multiple=True,
    help="A limit other than the default, such as send-failed=10, or a gate to switch off, silent=off. Repeatable.",
)
@click.option(
    "--upgrade-collector",
    is_flag=True,
    help="Also move the hosts to the collector that the version is for, and back with it.",
)
@click.option(
    "--variables",
    "revision",
    type=click.IntRange(min=1),
    metavar="REVISION",
    help="Also move the hosts to that revision of the group's stored variables, and back with it.",
)
@click.option("--message", "-m", help="Why; it is shown with the rollout.")
@checks.force
@click.option("--watch", is_flag=True, help="Wait for the end, as `headgate rollout watch` does.")
@connected
def start(
    api: Api,
    fleet: str,
    group: str,
    configuration: str,
    n: int | None,
    preset: str | None,
    steps: Sequence[Step],
    canaries: Sequence[str],
    max_unavailable: int | None,
    window: Mapping[str, str] | None,
    on_failure: str | None,
    gates: Sequence[tuple[str, object]],
    upgrade_collector: bool,
    revision: int | None,
    message: str | None,
    force: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """Start a rollout of a published version. One that is under way in the group is superseded.

    Without CONFIGURATION, it is the one that the group runs. The version is validated first. If it is invalid, or
    cannot be validated, nothing is started.

    \b
    Examples:
      headgate rollout start servers Default shop
      headgate rollout start servers Default shop --version 3 --strategy fast --watch
      headgate rollout start servers Default shop@3 --canary zone=a --step canaries:30m --step 100%
      headgate rollout start servers Default shop@4 --upgrade-collector
      headgate rollout start servers Default shop@4 --variables 5
    """
    labels = dict(assignable.label(pair, "'--canary'") for pair in canaries)
    planned = strategy(preset, steps, labels, max_unavailable, window, on_failure)
    path = lookup.path_of(api, fleet, group)
    label = configuration or _assigned(api, path)
    group_path = path.removesuffix("/rollouts")
    request = assignable.validated(api, label, n, undone="Nothing was started", forced=force, group=group_path)
    fields: dict[str, object] = {
        "strategy": planned,
        "gates": dict(gates),
        "upgrade_collector": upgrade_collector,
        "variables_revision": revision,
        "message": message,
        "accept_differences": force,
    }
    request |= {field: value for field, value in fields.items() if value}
    started = api.create(RolloutStarted, path, request)
    check.say_of_hosts(started["warnings"])
    if watch:
        follow.finish(follow.follow(api, path, started), as_json=as_json)
    else:
        follow.show(started, as_json=as_json)


@rollout.command()
@_fleet
@_group
@_rollout
@connected
def watch(api: Api, fleet: str, group: str, rollout_id: str, as_json: bool) -> None:
    """Print a rollout's progress until it ends. Ends with 0 if it completed, with 1 if it halted or was taken back.

    A rollout that waits for a person is waited for, however long that takes; Ctrl-C leaves it as it is.

    \b
    Examples:
      headgate rollout watch servers Default
    """
    path = lookup.path_of(api, fleet, group)
    follow.finish(follow.follow(api, path, lookup.rollout(api, path, rollout_id)), as_json=as_json)


@rollout.command()
@_fleet
@_group
@_rollout
@connected
def show(api: Api, fleet: str, group: str, rollout_id: str, as_json: bool) -> None:
    """Show a rollout: how far it is, what was measured, and why it stopped.

    \b
    Examples:
      headgate rollout show servers Default
    """
    path = lookup.path_of(api, fleet, group)
    follow.show(lookup.rollout(api, path, rollout_id), as_json=as_json)


@rollout.command("list")
@_fleet
@_group
@connected
def list_(api: Api, fleet: str, group: str, as_json: bool) -> None:
    """List the rollouts of a deployment group, newest first; a version that was assigned at once is one, too.

    \b
    Examples:
      headgate rollout list servers Default
    """
    rollouts = list(api.items(RolloutOut, lookup.path_of(api, fleet, group)))
    show_list(
        rollouts,
        as_json,
        "No rollouts yet: start one with `headgate rollout start`",
        {
            "ID": lambda rollout: rollout["id"],
            "STATUS": lambda rollout: lookup.status(rollout),
            "VERSION": lambda rollout: lookup.version(rollout),
            "BEFORE": lambda rollout: lookup.version(rollout["from"]),
            "STARTED (UTC)": lambda rollout: minute(rollout["created_at"]),
            "MESSAGE": lambda rollout: quoted(rollout["message"] or ""),
        },
    )


def _act(name: str, summary: str) -> None:
    """Add a command that does something to a rollout."""

    @rollout.command(name, help=f"{summary}\n\n\b\nExamples:\n  headgate rollout {name} servers Default\n")
    @_fleet
    @_group
    @_rollout
    @connected
    def act(api: Api, fleet: str, group: str, rollout_id: str, as_json: bool) -> None:
        path = lookup.path_of(api, fleet, group)
        about = lookup.rollout(api, path, rollout_id)["id"]
        follow.show(api.create(RolloutOut, f"{path}/{about}/{name}"), as_json=as_json)


_act("pause", "Begin no further step until the rollout is resumed; its gates go on judging.")
_act("resume", "Go on with a rollout that was paused; one that halted is tried again.")
_act("promote", "Skip the rest of this step's soak. Gates that fail still stop the rollout.")
_act("approve", "Let the step begin that waits for approval; it takes another person's sign-in than who started it.")
_act("abort", "Take the rollout back: every host returns to the version before.")
_act("retry", "Offer the version again where it failed, and judge the step from now on.")


def _assigned(api: Api, path: str) -> str:
    """The id of the configuration that the group runs."""
    configuration_id = api.get(DeploymentOut, path.removesuffix("/rollouts"))["configuration_id"]
    if not configuration_id:
        raise Failed("nothing is assigned to this group: name a configuration")
    return configuration_id

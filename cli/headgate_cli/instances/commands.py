"""`instance list | show | history | restart | retry | upgrade-supervisor | override | change`, and who a host is:
`allow-move | cut-off | let-in | replace`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import click

from headgate_cli import shapes
from headgate_cli.api import Api
from headgate_cli.command_group import CommandGroup
from headgate_cli.configurations import lookup as configurations
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.configurations.names import named_version as version
from headgate_cli.connection import connected, not_empty
from headgate_cli.fleets import assignable, lookup
from headgate_cli.instances import listing
from headgate_cli.instances.listing import host
from headgate_cli.output import counted, minute, print_json, print_outcome, print_result, say, show_list
from headgate_cli.rollouts.options import Duration
from headgate_cli.shaped import PlainAnswer, shaped
from headgate_cli.untrusted import one_line, quoted

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_fleet = click.argument("fleet", metavar="FLEET")
_instance = click.argument("instance", metavar="INSTANCE")


@click.group(cls=CommandGroup)
def instance() -> None:
    """See and steer one host. FLEET is an id or a label, INSTANCE an id or the name of its host.

    \b
    Examples:
      headgate instance list servers
      headgate instance show servers web-1
    """


instance.add_command(listing.as_instance)


@instance.command()
@_fleet
@_instance
@connected
def show(api: Api, fleet: str, instance: str, as_json: bool) -> None:
    """Show what a host is to run, was offered, tried and runs, each with its time, and what was ordered of it.

    \b
    Examples:
      headgate instance show servers web-1
    """
    detail = api.get(shapes.InstanceDetail, lookup.instance_path(api, fleet, instance))
    if as_json:
        print_json(detail)
        return
    state = one_line(detail["state"]).replace("_", " ")
    print_result(f"{one_line(host(detail))}  {click.style(state, bold=True)}  {one_line(detail['id'])}")
    words = listing.message(detail)
    if words:
        print_result(f"  {quoted(words)}")
    # These two states are of collectors that Headgate does not configure.
    own = "a configuration of its own" if detail["state"] in ("running", "unhealthy") else ""
    print_result(f"  desired    {_moment(detail['desired'])}")
    print_result(f"  offered    {_moment(detail['offered'])}")
    attempted = detail["attempted"]
    print_result(f"  attempted  {_moment(attempted, attempted['outcome']) if attempted else '-'}{_reason(attempted)}")
    print_result(f"  running    {own or _moment(detail['running'])}")
    if override := detail["override"]:
        print_result(f"  override   {one_line(version(override))} until {minute(override['until'])}{_why(override)}")
    for order in detail["orders"]:
        print_result(f"  ordered    {one_line(order['do'])} at {minute(order['created_at'])}, not done yet")
    if detail["moved_to"]:
        print_result(f"  moved to   {one_line(detail['moved_to'])}")
    if detail["move_allowed_until"]:
        print_result(f"  move       another host may take its place until {minute(detail['move_allowed_until'])}")
    if detail["cut_off_at"]:
        print_result(f"  cut off    its messages are refused since {minute(detail['cut_off_at'])} (UTC)")
    print_result(f"  host key   {one_line(detail['host_key'] or '') or 'none: its messages are not signed'}")
    print_result(f"  last seen  {minute(detail['last_seen_at'])} (UTC)")
    _print_health(detail["health"])


@instance.command()
@_fleet
@_instance
@click.option("--at", metavar="TIME", callback=not_empty, help="Only what ran then, such as 2026-11-20T19:32:02Z.")
@connected
def history(api: Api, fleet: str, instance: str, at: str | None, as_json: bool) -> None:
    """List what happened on a host, newest first, for 90 days.

    \b
    Examples:
      headgate instance history servers web-1
    """
    path = f"{lookup.instance_path(api, fleet, instance)}/history"
    if at is not None:
        then = api.get(shapes.ThenOut, path, at=at)
        if as_json:
            print_json(then)
            return
        runs = one_line(version(then["running"])) or "nothing"
        print_result(f"{one_line(then['state']).replace('_', ' ')}, ran {runs}")
        if not then["covered"]:
            print_result("  It changed too often then for all to be recorded: this may be wrong")
        return
    events = list(api.items(shapes.HappenedOut, path))
    show_list(
        events,
        as_json,
        "Nothing happened in the last 90 days",
        {
            "TIME (UTC)": lambda event: minute(event["at"]),
            "EVENT": lambda event: event["event"].replace("_", " "),
            "VERSION": lambda event: version(event["version"]),
            "RUNNING": lambda event: version(event["running"]),
            "DETAILS": lambda event: _details(event),
        },
    )


def _ordering(name: str, summary: str) -> None:
    """Add a command that orders something of a host, which does it with its next message."""

    @instance.command(name, help=f"{summary}\n\n\b\nExamples:\n  headgate instance {name} servers web-1\n")
    @_fleet
    @_instance
    @connected
    def order(api: Api, fleet: str, instance: str, as_json: bool) -> None:
        ordered = api.create(shapes.OrderOut, f"{lookup.instance_path(api, fleet, instance)}/{name}")
        print_outcome(ordered, as_json, one_line(ordered["id"]))
        if not as_json:
            say(
                f"The host is told with its next message, until {minute(ordered['expires_at'])} UTC: "
                f"`headgate instance history {one_line(fleet)} {one_line(instance)}` shows when it is done"
            )


_ordering(
    "restart", "Order a host to restart its collector. It does so with its next message, and its history says when."
)
_ordering("retry", "Offer the version that failed on a host to it again, and to no other host.")
_ordering(
    "upgrade-supervisor",
    "Order a host to replace its supervisor by the published one. The former runs again if the new one does not.",
)


@instance.command()
@_fleet
@_instance
@click.argument("configuration", metavar="[CONFIGURATION[@N]]", default="")
@click.option("--version", "n", type=VersionNumber(), help="The published version.")
@click.option("--for", "seconds", type=Duration(), help="How long, such as 2h or 3d; at most 90 days.")
@click.option("--until", metavar="TIME", default="", help="Until when, such as 2026-11-20T19:32:02Z.")
@click.option("--message", "-m", default="", help="Why; it is shown with the host and in its history.")
@click.option("--end", is_flag=True, help="End the override: the host runs what its group does.")
@connected
def override(
    api: Api,
    /,
    fleet: str,
    instance: str,
    configuration: str,
    n: int | None,
    seconds: int | None,
    until: str,
    message: str,
    end: bool,
    as_json: bool,
) -> None:
    """Make one host run another version until a time, whatever its group runs.

    Without CONFIGURATION, it is another version of the one that the host's group runs.

    \b
    Examples:
      headgate instance override servers web-1 --version 3 --for 2h
      headgate instance override servers web-1 shop@3 --until 2026-12-01T08:00:00Z -m "try it here"
      headgate instance override servers web-1 --end
    """
    path = lookup.instance_path(api, fleet, instance)
    if end:
        if configuration or n or seconds or until or message:
            raise click.UsageError("--end takes no version, time or message")
        api.delete(f"{path}/override")
        if as_json:
            print_json(api.get(PlainAnswer, path))
            return
        print_result(f"{one_line(instance)} runs what its group does")
        return
    request = _version_of(api, configuration, n) | {"until": _until(seconds, until)}
    request |= {"message": message} if message else {}
    override = api.put(shapes.OverrideOut, f"{path}/override", request)
    print_outcome(
        override,
        as_json,
        f"{one_line(instance)} is to run {one_line(version(override))} until {minute(override['until'])} (UTC)",
    )


@instance.command()
@_fleet
@click.argument("instances", metavar="INSTANCE...", nargs=-1, required=True)
@click.option("--label", "labels", metavar="KEY=VALUE", multiple=True, help="A label to set; KEY= removes it.")
@click.option("--group", metavar="GROUP", help="Move them to this group of the fleet.")
@click.option("--back", is_flag=True, help="Let them go back to the group of their install or labels.")
@connected
def change(
    api: Api, fleet: str, instances: Sequence[str], labels: Sequence[str], group: str | None, back: bool, as_json: bool
) -> None:
    """Label hosts, or move them to another group with their next message. Their own labels stay as they are.

    \b
    Examples:
      headgate instance change servers web-1 web-2 --label team=shop
      headgate instance change servers web-1 --group canary
      headgate instance change servers web-1 --back
    """
    if (group is not None and back) or not (labels or group or back):
        raise click.UsageError("give --label, or one of --group and --back")
    fleet_id = lookup.fleet(api, fleet)
    pairs = dict(map(assignable.label, labels))
    body: dict[str, object] = {"labels": {key: value or None for key, value in pairs.items()}} if pairs else {}
    if group or back:
        body["deployment_id"] = lookup.group(api, fleet_id, group) if group else None
    ids = [lookup.instance(api, fleet_id, name) for name in instances]
    changed = [api.patch(shapes.InstanceDetail, f"/fleets/{fleet_id}/instances/{id}", body) for id in ids]
    if as_json:
        print_json(changed)
        return
    for detail in changed:
        shown = ", ".join(f"{key}={value}" for key, value in sorted(detail["labels"].items())) or "no labels"
        moves = f", moves to {group or detail['moved_to']}" if detail["moved_to"] else ""
        print_result(one_line(f"{host(detail)}: {shown}{moves}"))


def _admitting(name: str, help_text: str, done: str) -> None:
    """Add a command that decides whether messages of a host are taken; `done` says so of the host, with its times."""

    @instance.command(name, help=f"{help_text}\n\n\b\nExamples:\n  headgate instance {name} servers web-1\n")
    @_fleet
    @_instance
    @connected
    def admit(api: Api, fleet: str, instance: str, as_json: bool) -> None:
        seen = api.post(PlainAnswer, f"{lookup.instance_path(api, fleet, instance)}/{name}")
        until = shaped(shapes.MoveOut, seen)["move_allowed_until"] if "{until}" in done else ""
        print_outcome(seen, as_json, done.format(host=one_line(instance), until=one_line(minute(until))))


_admitting(
    "allow-move",
    "Let another host take a host's place within the hour, once: one that lost its key, or came by another token.\n\n"
    "It takes a person's session (`headgate login`). Whoever has a token of the fleet can use it first.",
    "another host may take the place of {host} until {until} (UTC)",
)
_admitting(
    "cut-off",
    "Refuse every message of a host, and send it nothing, also no renewed token. Its collector runs on as it is.\n\n"
    "It takes a person's session (`headgate login`). Renew the token too: whoever has it can report as another host.",
    "messages of {host} are refused; `headgate instance let-in` ends that",
)
_admitting(
    "let-in",
    "Take the messages of a host again that was cut off. It takes a person's session.",
    "messages of {host} are taken again",
)


@instance.command("replace")
@_fleet
@_instance
@click.option("--by", metavar="ID", help="The id of the instance that the host is now, if several have its name.")
@connected
def replace(api: Api, fleet: str, instance: str, by: str | None, as_json: bool) -> None:
    """Delete the entry of a host that was installed again and is another instance since, which gets its override.

    If several hosts have this name, the entry is that of the only one that does not report.

    \b
    Examples:
      headgate instance replace servers web-1
    """
    fleet_id = lookup.fleet(api, fleet)
    gone = lookup.instance(api, fleet_id, instance, gone=True)
    seen = api.post(shapes.InstanceOut, f"/fleets/{fleet_id}/instances/{gone}/replace", {"by": by})
    print_outcome(seen, as_json, f"{one_line(instance)} is {one_line(seen['id'])} now")


def _version_of(api: Api, configuration: str, n: int | None) -> dict[str, object]:
    label, n = configurations.one_version(configuration, n)
    if not n:
        raise click.UsageError("name the version: --version N, or CONFIGURATION@N")
    request: dict[str, object] = {"version_number": n}
    return request | ({"configuration_id": configurations.find(api, label)} if label else {})


def _until(seconds: int | None, until: str) -> str:
    if bool(until) == bool(seconds):
        raise click.UsageError("say how long: --for DURATION, or --until TIME")
    if until and not _TIME.fullmatch(until):
        raise click.BadParameter(f"{quoted(until)} is not a time such as 2026-11-20T19:32:02Z", param_hint="'--until'")
    return until or f"{datetime.now(UTC) + timedelta(seconds=seconds or 0):%Y-%m-%dT%H:%M:%SZ}"


def _print_health(health: shapes.HealthOut | None) -> None:
    """Print how the collector and its parts fare, as a tree."""
    if health is None:
        return
    started = f", started {minute(health['started_at'])}" if health["started_at"] else ""
    print_result(f"  health     {_part(health)}{started}")
    for part in health["parts"]:
        print_result(f"{'  ' * (len(part['path']) + 6)} {one_line(part['path'][-1])}  {_part(part)}")
    if not health["complete"]:
        print_result("             and more parts than are stored")


def _part(part: shapes.HealthOut | shapes.PartHealthOut) -> str:
    words = [part["status"] or ("healthy" if part["healthy"] else "not healthy")]
    if part["status"] and not part["healthy"] and not part["error"]:
        words.append("(not healthy)")
    if part["at"]:
        words.append(f"since {minute(part['at'])}")
    return one_line(" ".join(words)) + (f": {quoted(part['error'])}" if part["error"] else "")


def _moment(moment: shapes.VersionAt | shapes.AttemptOut | None, outcome: str = "") -> str:
    if moment is None:
        return "-"
    words = [one_line(version(moment)) or "nothing"]
    if outcome:
        words.append(one_line(outcome))
    if moment["collector_version"]:
        words.append(f"collector {one_line(moment['collector_version'])}")
    if moment["at"]:
        words.append(f"since {minute(moment['at'])}")
    return ", ".join(words)


def _reason(attempt: shapes.AttemptOut | None) -> str:
    return f": {quoted(attempt['reason'])}" if attempt and attempt["reason"] else ""


def _why(override: shapes.OverrideOut) -> str:
    message = override["message"]
    return f", by {one_line(override['created_by']['name'])}" + (f": {quoted(message)}" if message else "")


def _details(event: shapes.HappenedOut) -> str:
    words = [event["reason"], event["message"]]
    if event["drifted"] is not None:
        words.append(f"changed on the host: {', '.join(event['drifted']) or 'nothing any more'}")
    words.append(event["program_version"])
    if event.get("variables_revision") is not None:
        words.append(f"revision {event['variables_revision']}")
    if event["exits"]:
        words.append(f"the collector ended {counted(event['exits'], 'time')}")
    if event["until"]:
        words.append(f"until {minute(event['until'])}")
    if event["left_out"]:
        words.append(f"{counted(event['left_out'], 'event')} left out")
    if event["by"]:
        words.append(f"by {event['by']['name']}")
    return "; ".join(word for word in words if word)

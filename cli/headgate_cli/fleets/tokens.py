"""`fleet token status | renew`, and `fleet mode`: what a fleet's hosts sign in with, and who configures them."""

from __future__ import annotations

import click

from headgate_cli.api import Api
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.errors import FAILED
from headgate_cli.fleets import lookup
from headgate_cli.output import confirm, counted, minute, print_json, print_outcome, print_result, say, table
from headgate_cli.shaped import PlainAnswer
from headgate_cli.shapes import FleetOut, ModeCheckOut, TokenStatusOut
from headgate_cli.untrusted import one_line, quoted

_fleet = click.argument("fleet", metavar="FLEET")
_group = click.option("--deployment", "group", metavar="GROUP", default="", help="The own token of a deployment group.")


@click.group(cls=CommandGroup)
def token() -> None:
    """See and renew the token that a fleet's hosts sign in with.

    \b
    Examples:
      headgate fleet token status servers
      headgate fleet token renew servers --grace unused
    """


@token.command()
@_fleet
@_group
@connected
def status(api: Api, fleet: str, group: str, as_json: bool) -> None:
    """Say how many hosts use the present token, and list those that still use a former one.

    \b
    Examples:
      headgate fleet token status servers
      headgate fleet token status servers --deployment bank
    """
    seen = api.get(TokenStatusOut, f"{lookup.group_path(api, fleet, group)}/token")
    if as_json:
        print_json(seen)
        return
    expires = f"expires {minute(seen['expires_at'])} (UTC)" if seen["expires_at"] else "does not expire"
    print_result(f"token {one_line(seen['token_id'])} {expires}")
    unknown = f", {seen['unknown']} did not say" if seen["unknown"] else ""
    current, former = seen["current"], seen["former"]
    print_result(f"{counted(current, 'host')} {_use(current)} it, {former} {_use(former)} a former one{unknown}")
    if seen["previous_ends_at"]:
        sooner = ", or before once no host uses it" if seen["previous_while_used"] else ""
        print_result(f"the one before ends {minute(seen['previous_ends_at'])} (UTC){sooner}")
    states = (one_line(host["state"]).replace("_", " ") for host in seen["hosts"])
    rows = [
        (host["host_name"] or host["id"], state, minute(host["last_seen_at"]))
        for host, state in zip(seen["hosts"], states, strict=True)
    ]
    if rows:
        table(("HOST", "STATE", "LAST SEEN (UTC)"), rows, nothing="")
    if seen["former"] > len(rows):
        say(f"and {seen['former'] - len(rows)} more: `headgate fleet instances {one_line(fleet)} --old-token`")


def _use(hosts: int) -> str:
    return "uses" if hosts == 1 else "use"


@token.command()
@_fleet
@_group
@click.option(
    "--grace",
    type=click.Choice(["none", "1d", "7d", "unused"]),
    default="1d",
    show_default=True,
    help="How long the former token stays valid; `unused` is until no host uses it, at most 30 days.",
)
@connected
def renew(api: Api, fleet: str, group: str, grace: str, as_json: bool) -> None:
    """Issue the next token. Hosts with a key take it by themselves; install the others again before the grace ends.

    It takes an Admin's session (`headgate login`).

    \b
    Examples:
      headgate fleet token renew servers --grace unused
      headgate fleet token renew servers --deployment bank --grace 7d
    """
    renewed = api.create(PlainAnswer, f"{lookup.group_path(api, fleet, group)}/token", {"grace": grace})
    command = f"headgate fleet token status {one_line(fleet)}" + (f" --deployment {one_line(group)}" if group else "")
    print_outcome(renewed, as_json, f"renewed; `{command}` lists hosts that still use the former token")


@click.command()
@_fleet
@click.argument("mode", type=click.Choice(["managed", "observed"]))
@click.option("--dry-run", is_flag=True, help="Only say what would become of the collectors.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@connected
def mode(api: Api, fleet: str, mode: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Let Headgate configure the collectors of an observed fleet, or observe them again.

    It says first what is kept, and which collectors stay observed. Nothing is sent until a rollout.

    \b
    Examples:
      headgate fleet mode existing managed --dry-run
      headgate fleet mode existing managed --yes
    """
    path = f"/fleets/{lookup.fleet(api, fleet)}"
    check = api.post(ModeCheckOut, f"{path}/mode-check", {"mode": mode})
    if not as_json:
        print_result(
            f"{counted(check['total'], 'collector')}, of which {check['taking']} can take remote configuration"
        )
        for host in check["hosts"]:
            if not host["accepts_remote_config"]:
                print_result(f"  {one_line(host['host_name'] or host['id'])} stays observed")
        for note in check["notes"]:
            say(f"note: {quoted(note)}")
    if check["reason"]:
        say(f"refused: {quoted(check['reason'])}")
    if dry_run or check["reason"]:
        if as_json:
            print_json(check)
        if check["reason"]:
            raise SystemExit(FAILED)
        return
    if not yes:
        confirm(f"Change {one_line(fleet)} to {mode}?", "without a terminal to ask on, confirm with --yes")
    changed = api.put(FleetOut, f"{path}/mode", {"mode": mode})
    print_outcome(changed, as_json, f"{one_line(fleet)} is {mode}")

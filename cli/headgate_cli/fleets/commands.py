"""`fleet list | create | instances | traffic | states | costs | install | delete | forget`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Final

import click

from headgate_cli import variables, watching
from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.fleets import assignable, costs, last_day, lookup, observed, tokens, traffic
from headgate_cli.fleets.states import states
from headgate_cli.instances import listing
from headgate_cli.output import minute, print_json, print_result, print_text, say, show_list
from headgate_cli.shapes import FleetOut, InstallOut, ObserveOut
from headgate_cli.untrusted import one_line, quoted

_KUBERNETES: Final = "kubernetes-supervisor"
_SERVER: Final = "server-supervisor"
_TYPES: Final = {"server": _SERVER, "kubernetes": _KUBERNETES, _SERVER: _SERVER, _KUBERNETES: _KUBERNETES}


@click.group(cls=CommandGroup)
def fleet() -> None:
    """Work with fleets of collectors. FLEET is an id (flt_...) or a label.

    \b
    Examples:
      headgate fleet create edge --expires-in 1y
      headgate fleet install edge
    """


@fleet.command("list")
@watching.option
@connected
def list_(api: Api, watch: bool, as_json: bool) -> None:
    """List the fleets, newest first, with the states of their collectors.

    \b
    Examples:
      headgate fleet list
      headgate fleet list --watch
    """
    watching.refuse_json(watch=watch, as_json=as_json)
    fleets = _fleets(api)
    show_list(
        fleets,
        as_json,
        "No fleets yet: create one with `headgate fleet create LABEL`",
        {
            "ID": lambda fleet: fleet["id"],
            "LABEL": lambda fleet: fleet["label"],
            "TYPE": lambda fleet: fleet["type"],
            "COLLECTORS": lambda fleet: states(fleet["instances"], fleet["hosts_without_key"]),
            "TOKEN EXPIRES (UTC)": lambda fleet: minute(fleet["token_expires_at"] or "never"),
        },
    )
    if watch:
        watching.watch(_lines(fleets), lambda: _lines(_fleets(api)))


@fleet.command()
@click.argument("label")
@click.option(
    "--type",
    "kind",
    type=click.Choice(list(_TYPES)),
    metavar="[server|kubernetes]",
    default="server",
    show_default=True,
    help="Where its collectors run: `server` is the type server-supervisor of lists and the API, `kubernetes` is "
    "kubernetes-supervisor.",
)
@click.option(
    "--expires-in",
    type=click.Choice(["180d", "1y", "2y", "never"]),
    default="never",
    show_default=True,
    help="How long the fleet's token is valid; that of a Kubernetes fleet does not expire.",
)
@click.option(
    "--mode",
    type=click.Choice(["managed", "observed"]),
    default="managed",
    show_default=True,
    help="`observed`: list collectors that others install and configure, and send them nothing.",
)
@connected
def create(api: Api, label: str, kind: str, expires_in: str, mode: str, as_json: bool) -> None:
    """Create a fleet; a server or an observed fleet starts with a deployment group named Default.

    \b
    Examples:
      headgate fleet create edge --expires-in 1y
      headgate fleet create clusters --type kubernetes
      headgate fleet create existing --mode observed
    """
    request = {"label": label, "type": _TYPES[kind], "expires_in": expires_in}
    observed = mode == "observed"
    created = api.create(FleetOut, "/fleets", {**request, "mode": mode} if observed else request)
    if as_json:
        print_json(created)
        return
    fleet_id, kubernetes = created["id"], created["type"] == _KUBERNETES
    print_result(one_line(fleet_id))
    # A Kubernetes fleet has no Default group, so there is nothing to install yet.
    following = _create_group(fleet_id) if kubernetes else f"headgate fleet install {fleet_id}"
    if observed:
        following = f"headgate fleet observe {fleet_id}"
    say(f"{one_line(created['label'])} is created. Next: `{one_line(following)}`")
    if kubernetes and expires_in != "never":
        say("--expires-in was ignored: the token of a Kubernetes fleet does not expire")


@fleet.command()
@click.argument("fleet", metavar="FLEET")
@click.option(
    "--platform",
    type=click.Choice(["docker", "linux", "kubernetes", "windows", "macos"]),
    help="Default: linux for a server fleet, kubernetes for a Kubernetes fleet.",
)
@click.option(
    "--deployment",
    "group",
    default="",
    help="The deployment group, by id or name. Default: the one named Default of a server fleet, the only one of a "
    "Kubernetes fleet.",
)
@click.option("--server-name", help="docker: the container's name.")
@click.option("--arch", type=click.Choice(["amd64", "arm64"]), help="linux: the processor; amd64 by default.")
@click.option("--root-deploy-path", help="linux, macos: the folder to install into, an absolute path.")
@click.option("--systemd/--no-systemd", default=None, help="linux: run as a systemd unit (the default), or not.")
@click.option(
    "--from-official",
    is_flag=True,
    default=None,
    help="linux: take the place of the official supervisor's service opampsupervisor. The host stays the same "
    "instance, and the official supervisor goes on if Headgate's does not run. It says on the host what stays.",
)
@click.option(
    "--deliveries",
    type=click.IntRange(1, 100),
    help="docker, kubernetes: how many hosts the command brings the group's stored secrets to; 1 by default.",
)
@click.option("--name", help="What to call the host; by default its host name.")
@click.option("--label", "labels", metavar="KEY=VALUE", multiple=True, help="A label of the host, such as zone=a.")
@variables.env
@connected
def install(
    api: Api,
    /,
    fleet: str,
    platform: str | None,
    group: str,
    env: Sequence[tuple[str, str]],
    labels: Sequence[str],
    as_json: bool,
    **options: str | bool | int | None,
) -> None:
    """Print the command that installs a collector on a host or a cluster. It contains the fleet's token.

    A Kubernetes fleet needs a deployment group first: create one with `headgate deployment create`.

    \b
    Examples:
      headgate fleet install edge
      headgate fleet install edge --platform docker --server-name edge-1 --env ENDPOINT=otel:4317
      headgate fleet install edge --name web-1 --label zone=a --label role=gateway
      headgate fleet install edge --platform windows
      headgate fleet install edge --from-official
    """
    fleet_id = lookup.fleet(api, fleet)
    if platform is None:
        kind = api.get(FleetOut, f"/fleets/{fleet_id}")["type"]
        platform = "kubernetes" if kind == _KUBERNETES else "linux"
    request: dict[str, object] = {"platform": platform}
    request |= {option: value for option, value in options.items() if value is not None}
    if group:
        request["deployment_id"] = lookup.group(api, fleet_id, group)
    if env:
        request["env"] = dict(env)
    if labels:
        request["labels"] = dict(map(assignable.label, labels))
    try:
        answer = api.post(InstallOut, f"/fleets/{fleet_id}/install", request)
    except ServerError as error:
        if error.code == "not_installable" and any(_is_about(entry, "platform") for entry in error.errors):
            suited = "linux, docker, windows or macos" if platform == "kubernetes" else "kubernetes"
            raise Failed(f"{error.message}: use --platform {suited}") from error
        if error.code == "not_installable" and platform == "kubernetes" and not group:
            raise Failed(_choose_group(error, fleet_id)) from error
        raise
    if as_json:
        print_json(answer)
        return
    print_text(answer["command"] + "\n")
    for note in answer["notes"]:
        say(f"note: {quoted(note)}")
    expires = one_line(minute(answer["expires_at"]))
    url = answer["install_url"]
    if url and platform == "docker":
        # The commands of the other platforms contain their link.
        say(f"To build the image on the host, until {expires} UTC: curl -fsSL {one_line(shlex.quote(url))} | sh")
    else:
        say(f"The link in the command expires at {expires} UTC")


@fleet.command()
@click.argument("fleet", metavar="FLEET")
@click.option(
    "--client",
    type=click.Choice(["extension", "supervisor", "bridge", "chart", "operator"]),
    default="extension",
    show_default=True,
    help="What reports: the collector's `opamp` extension, the official supervisor, the operator's OpAMP bridge, or "
    "the extension by the values of the official collector chart or the operator.",
)
@click.option(
    "--websocket", is_flag=True, help="Stay connected, instead of asking again and again: local service only."
)
@click.option("--show-token", is_flag=True, help="Print the fleet's token as well, on standard error.")
@connected
def observe(api: Api, fleet: str, client: str, websocket: bool, show_token: bool, as_json: bool) -> None:
    """Print what makes a collector that others installed report to an observed fleet.

    The text names the variable that holds the fleet's token, and does not contain it.

    \b
    Examples:
      headgate fleet observe existing
      headgate fleet observe existing --client supervisor --show-token
      headgate fleet observe existing --websocket
    """
    request = {"client": client, **({"transport": "websocket"} if websocket else {})}
    answer = api.post(ObserveOut, f"/fleets/{lookup.fleet(api, fleet)}/observe", request)
    if as_json:
        print_json(answer)
        return
    print_text(answer["text"])
    for note in answer["notes"]:
        say(f"note: {quoted(note)}")
    if show_token:
        say(f"The token: {one_line(answer['token'])}")


for _command in (
    *(listing.of_fleet, traffic.traffic, last_day.last_day, costs.costs, tokens.token, tokens.mode),
    *(observed.inventory, observed.configurations, observed.configuration, observed.findings, observed.adopt),
):
    fleet.add_command(_command)


@fleet.command()
@click.argument("fleet", metavar="FLEET")
@connected
def delete(api: Api, fleet: str, as_json: bool) -> None:
    """Delete a fleet with its tokens. It may have no deployment group but Default, and no collector that reports.

    \b
    Examples:
      headgate fleet delete edge
    """
    lookup.delete(api, f"/fleets/{lookup.fleet(api, fleet)}", fleet, as_json=as_json)


@fleet.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("instance", metavar="INSTANCE")
@connected
def forget(api: Api, fleet: str, instance: str, as_json: bool) -> None:
    """Delete a collector that is stopped or stale from the list. INSTANCE is its id or the name of its host.

    \b
    Examples:
      headgate fleet forget edge web-1
    """
    lookup.delete(api, lookup.instance_path(api, fleet, instance), instance, as_json=as_json)


def _fleets(api: Api) -> list[FleetOut]:
    return list(api.items(FleetOut, "/fleets"))


def _lines(fleets: Iterable[FleetOut]) -> dict[str, str]:
    """The line of each fleet that is watched."""
    return {
        fleet["id"]: f"{one_line(fleet['label'])}  {states(fleet['instances'], fleet['hosts_without_key'])}"
        for fleet in fleets
    }


def _is_about(error: Entity, field: str) -> bool:
    location = error.get("loc")
    return isinstance(location, list) and location[-1:] == [field]


def _create_group(fleet_id: str) -> str:
    return f"headgate deployment create {fleet_id} NAME CONFIGURATION --role ROLE"


def _choose_group(error: ServerError, fleet_id: str) -> str:
    """The server's refusal of a Kubernetes fleet without a group, or with several, and the commands for it."""
    return (
        f"{error.message}\n"
        f"  see its deployment groups:  headgate deployment list {fleet_id}\n"
        f"  create a deployment group:  {_create_group(fleet_id)}\n"
        f"  install a deployment group: headgate fleet install {fleet_id} --deployment GROUP"
    )

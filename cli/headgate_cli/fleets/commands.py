"""`fleet list | create | instances | install`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import Api, Entity, optional, text
from headgate_cli.command_group import Group
from headgate_cli.configurations import names
from headgate_cli.connection import as_json, connected
from headgate_cli.fleets import lookup
from headgate_cli.output import dump, print_text, say, since, table, tell
from headgate_cli.untrusted import one_line, quoted

_KUBERNETES: Final = "kubernetes-supervisor"
_SERVER: Final = "server-supervisor"
_TYPES: Final = {"server": _SERVER, "kubernetes": _KUBERNETES, _SERVER: _SERVER, _KUBERNETES: _KUBERNETES}
_STATES: Final = ("pending_pickup", "applying", "applied", "apply_failed", "stale", "unknown")


@click.group(cls=Group)
def fleet() -> None:
    """Work with fleets of collectors. FLEET is an id (flt_...) or a label.

    \b
    Examples:
      headgate fleet create edge --expires-in 1y
      headgate fleet install edge
    """


@fleet.command("list")
@as_json
@connected
def list_(api: Api, as_json: bool) -> None:
    """List the fleets, newest first, with what their collectors do.

    \b
    Examples:
      headgate fleet list
    """
    found = list(api.items("/fleets"))
    if as_json:
        dump(found)
        return
    rows = [
        (
            text(one, "id"),
            text(one, "label"),
            text(one, "type"),
            _counted(one),
            since(optional(one, "token_expires_at")),
        )
        for one in found
    ]
    table(
        ("ID", "LABEL", "TYPE", "COLLECTORS", "TOKEN EXPIRES"),
        rows,
        nothing="No fleet yet: `headgate fleet create LABEL`",
    )


@fleet.command()
@click.argument("label")
@click.option(
    "--type",
    "kind",
    type=click.Choice(list(_TYPES)),
    metavar="[server|kubernetes]",
    default="server",
    show_default=True,
)
@click.option(
    "--expires-in",
    type=click.Choice(["180d", "1y", "2y", "never"]),
    default="never",
    show_default=True,
    help="How long its token lives; a Kubernetes fleet's does not expire.",
)
@as_json
@connected
def create(api: Api, label: str, kind: str, expires_in: str, as_json: bool) -> None:
    """Create a fleet; a server fleet begins with a Default group.

    \b
    Examples:
      headgate fleet create edge --expires-in 1y
      headgate fleet create clusters --type kubernetes
    """
    made = api.create("/fleets", {"label": label, "type": _TYPES[kind], "expires_in": expires_in})
    if as_json:
        dump(made)
        return
    fleet_id, kubernetes = text(made, "id"), text(made, "type") == _KUBERNETES
    tell(one_line(fleet_id))
    # A Kubernetes fleet has no Default group, so there is nothing to install yet.
    following = f"deployment create {fleet_id} NAME CONFIGURATION" if kubernetes else f"fleet install {fleet_id}"
    say(f"{one_line(text(made, 'label'))} is created. Next: `headgate {one_line(following)}`")
    if kubernetes and expires_in != "never":
        say("Its token does not expire: no Kubernetes fleet's does")


@fleet.command()
@click.argument("fleet", metavar="FLEET")
@as_json
@connected
def instances(api: Api, fleet: str, as_json: bool) -> None:
    """List the fleet's collectors: which version each is assigned, which it reports to run, and how it is.

    \b
    Examples:
      headgate fleet instances edge
    """
    fleet_id = lookup.fleet(api, fleet)
    found = list(api.items(f"/fleets/{fleet_id}/instances"))
    called = names.of(api, (optional(version, "configuration_id") for one in found for version in _versions(one)))
    if as_json:
        dump([_named(one, called) for one in found])
        return
    groups = {text(one, "id"): text(one, "name") for one in lookup.groups(api, fleet_id)}
    rows = [
        (
            optional(one, "host_name") or text(one, "id"),
            groups.get(optional(one, "deployment_id"), optional(one, "deployment_id")),
            f"{optional(one, 'os')}/{optional(one, 'arch')}".strip("/"),
            text(one, "state"),
            names.version(one.get("assigned"), called),
            names.version(one.get("running"), called),
            since(text(one, "last_seen_at")),
            optional(one, "state_message"),
        )
        for one in found
    ]
    headings = ("HOST", "GROUP", "PLATFORM", "STATE", "ASSIGNED", "RUNNING", "LAST SEEN (UTC)", "MESSAGE")
    table(headings, rows, nothing="No collector has reported yet: `headgate fleet install FLEET`")


@fleet.command()
@click.argument("fleet", metavar="FLEET")
@click.option(
    "--platform", type=click.Choice(["docker", "linux", "kubernetes"]), help="linux, or kubernetes, by default."
)
@click.option("--deployment", "group", default="", help="The group, by id or name; the Default one by default.")
@click.option("--server-name", help="docker: the container's name.")
@click.option("--arch", type=click.Choice(["amd64", "arm64"]), help="linux: the processor.")
@click.option("--root-deploy-path", help="linux: where everything goes.")
@click.option("--systemd/--no-systemd", default=None, help="linux: with a systemd unit or without.")
@variables.env
@as_json
@connected
def install(
    api: Api,
    /,
    fleet: str,
    platform: str | None,
    group: str,
    env: Sequence[tuple[str, str]],
    as_json: bool,
    **options: str | bool | None,
) -> None:
    """Print the command that brings a host or a cluster into a group. It holds the fleet's token.

    \b
    Examples:
      headgate fleet install edge
      headgate fleet install edge --platform docker --server-name edge-1 --env ENDPOINT=otel:4317
    """
    fleet_id = lookup.fleet(api, fleet)
    if platform is None:
        kind = text(api.get(f"/fleets/{fleet_id}"), "type")
        platform = "kubernetes" if kind == _KUBERNETES else "linux"
    request: dict[str, object] = {"platform": platform}
    request |= {option: value for option, value in options.items() if value is not None}
    if group:
        request["deployment_id"] = lookup.group(api, fleet_id, group)
    if env:
        request["env"] = dict(env)
    answer = api.post(f"/fleets/{fleet_id}/install", request)
    if as_json:
        dump(answer)
        return
    print_text(text(answer, "command") + "\n")
    notes = answer.get("notes")
    for note in notes if isinstance(notes, list) else []:
        say(f"note: {quoted(str(note))}")
    say(f"Its link works until {one_line(since(text(answer, 'expires_at')))} UTC")


def _counted(fleet: Entity) -> str:
    instances = fleet.get("instances")
    if not isinstance(instances, dict) or not instances.get("total"):
        return "none"
    return ", ".join(f"{instances[state]} {state.replace('_', ' ')}" for state in _STATES if instances.get(state))


def _versions(instance: Entity) -> list[Entity]:
    return [one for one in (instance.get("assigned"), instance.get("running")) if isinstance(one, dict)]


def _named(instance: Entity, called: Mapping[str, str]) -> Entity:
    told = {field: instance[field] for field in ("assigned", "running") if isinstance(instance.get(field), dict)}
    return {**instance, **{field: names.named(one, called) for field, one in told.items() if isinstance(one, dict)}}

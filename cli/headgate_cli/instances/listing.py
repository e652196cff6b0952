"""The list of a fleet's collectors, and watching it: `fleet instances` and `instance list`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Concatenate, ParamSpec

import click

from headgate_cli import watching
from headgate_cli.api import Api, Entity
from headgate_cli.configurations import names
from headgate_cli.connection import connected
from headgate_cli.fleets import assignable, lookup
from headgate_cli.fleets.states import STATES
from headgate_cli.output import counted, minute, print_json, table
from headgate_cli.shapes import InstanceDetail, InstanceOut
from headgate_cli.untrusted import one_line, quoted
from headgate_engine import host_names

P = ParamSpec("P")
Filters = Mapping[str, str | int | None]
Names = Mapping[str, str]


def _listing(command: Callable[Concatenate[Api, P], None]) -> Callable[P, None]:
    """The options of a list of collectors."""
    options = [
        click.argument("fleet", metavar="FLEET"),
        click.option(
            "--state", type=click.Choice([state.replace("_", "-") for state in STATES]), help="Only in this state."
        ),
        click.option("--deployment", "group", default="", help="Only of this deployment group, by id or name."),
        click.option("--version", type=click.IntRange(1), help="Only those that run this version number."),
        click.option("--host", default="", help="Only those whose name or host name contains this text."),
        click.option("--label", metavar="KEY=VALUE", default="", help="Only those with this label."),
        click.option(
            "--component", metavar="NAME", default="", help="Only those that have it: filelog, or receiver/filelog."
        ),
        click.option("--drifted", is_flag=True, help="Only those on which something was changed by hand."),
        click.option("--old-token", is_flag=True, help="Only those that last reported with an older token."),
        click.option("--without-key", is_flag=True, help="Only those whose hosts do not sign their messages."),
        watching.option,
    ]
    wrapped = connected(command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


@click.command("instances")
@_listing
def of_fleet(api: Api, /, fleet: str, as_json: bool, watch: bool, **filters: str | int | None) -> None:
    """List the fleet's collectors: the version each is assigned, the one it runs, and its state.

    \b
    Examples:
      headgate fleet instances edge
      headgate fleet instances edge --state apply-failed
      headgate fleet instances edge --label zone=a --drifted
    """
    _show(api, fleet, filters, as_json=as_json, watch=watch)


@click.command("list")
@_listing
def as_instance(api: Api, /, fleet: str, as_json: bool, watch: bool, **filters: str | int | None) -> None:
    """List the fleet's collectors, as `headgate fleet instances` does.

    \b
    Examples:
      headgate instance list servers
      headgate instance list servers --component filelog --state applied
    """
    _show(api, fleet, filters, as_json=as_json, watch=watch)


def host(instance: InstanceOut | InstanceDetail) -> str:
    return instance["name"] or instance["host_name"] or instance["id"]


def names_of(listed: Sequence[InstanceOut]) -> Names:
    """The name of each host of a list by its id, which tells hosts of one name apart."""
    return host_names.distinct((instance["id"], host(instance)) for instance in listed)


def message(instance: InstanceOut | InstanceDetail) -> str:
    """Explain the state of the instance, and what is unusual about its host."""
    words = [instance["state_message"]]
    if instance["exits"]:
        words.append(f"the collector ended {counted(instance['exits'], 'time')} since the last apply")
    if instance["drifted"]:
        words.append(f"changed on the host: {', '.join(instance['drifted'])}")
    if instance["token_current"] is False:
        own = instance["state"] in ("running", "unhealthy")
        words.append(f"reports with a former token, or another than its group's{'' if own else ': install it again'}")
    return "; ".join(word for word in words if word)


def _show(api: Api, fleet: str, filters: Filters, *, as_json: bool, watch: bool) -> None:
    watching.refuse_json(watch=watch, as_json=as_json)
    fleet_id = lookup.fleet(api, fleet)
    query = _query(api, fleet_id, filters)
    listed, by_id = _instances(api, fleet_id, query)
    if as_json:
        print_json([_with_names(instance, by_id) for instance in listed])
        return
    nothing = f"No collector has reported yet: `headgate fleet install {one_line(fleet)}` prints how to install one"
    _table(api, fleet_id, listed, by_id, "No collector is like that" if query else nothing)
    if watch:
        watching.watch(_lines(listed, by_id), lambda: _lines(*_instances(api, fleet_id, query)))


def _query(api: Api, fleet_id: str, filters: Filters) -> dict[str, str]:
    """The filters as parameters of the request."""
    if filters["label"]:
        assignable.label(str(filters["label"]))
    chosen = {name: value for name, value in filters.items() if value and name != "group"}
    query = {name: "true" if value is True else str(value) for name, value in chosen.items()}
    if "state" in query:
        query["state"] = query["state"].replace("-", "_")
    if filters["group"]:
        query["deployment_id"] = lookup.group(api, fleet_id, str(filters["group"]))
    return query


def _instances(api: Api, fleet_id: str, query: Mapping[str, str]) -> tuple[list[InstanceOut], Names]:
    """The instances, and the names of the configurations that they are assigned or run."""
    listed = list(api.items(InstanceOut, f"/fleets/{fleet_id}/instances", **query))
    versions = (version for instance in listed for version in (instance["assigned"], instance["running"]))
    return listed, names.by_id(api, (version["configuration_id"] or "" for version in versions))


def _with_names(instance: InstanceOut, by_id: Names) -> Entity:
    return {
        **instance,
        "assigned": names.named(instance["assigned"], by_id),
        "running": names.named(instance["running"], by_id),
    }


def _table(api: Api, fleet_id: str, listed: Sequence[InstanceOut], by_id: Names, nothing: str) -> None:
    groups = {group["id"]: group["name"] for group in lookup.groups(api, fleet_id)}
    hosts = names_of(listed)
    rows = [
        (
            hosts[instance["id"]],
            groups.get(instance["deployment_id"], instance["deployment_id"]),
            f"{instance['os'] or ''}/{instance['arch'] or ''}".strip("/"),
            instance["state"].replace("_", " "),
            names.version(instance["assigned"], by_id),
            names.version(instance["running"], by_id),
            minute(instance["last_seen_at"]),
            message(instance),
        )
        for instance in listed
    ]
    headings = ("HOST", "GROUP", "PLATFORM", "STATE", "ASSIGNED", "RUNNING", "LAST SEEN (UTC)", "MESSAGE")
    table(headings, rows, nothing=nothing)


def _lines(listed: Sequence[InstanceOut], by_id: Names) -> dict[str, str]:
    """The line of each instance that is watched."""
    hosts = names_of(listed)
    return {instance["id"]: _line(instance, hosts[instance["id"]], by_id) for instance in listed}


def _line(instance: InstanceOut, host_name: str, by_id: Names) -> str:
    state = one_line(instance["state"]).replace("_", " ")
    runs = one_line(names.version(instance["running"], by_id)) or "nothing"
    words = message(instance)
    return f"{one_line(host_name)}  {state}, runs {runs}" + (f": {quoted(words)}" if words else "")

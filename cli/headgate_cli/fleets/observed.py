"""`fleet inventory | configurations | configuration | findings | adopt`: what observed collectors run."""

from __future__ import annotations

import click

from headgate_cli import shapes
from headgate_cli.api import Api
from headgate_cli.configurations.lookup import require_new
from headgate_cli.connection import connected
from headgate_cli.errors import FAILED
from headgate_cli.fleets import lookup
from headgate_cli.output import counted, minute, print_json, print_result, print_text, say, show_list
from headgate_cli.untrusted import one_line, quoted
from headgate_cli.upgrade import report as upgrades
from headgate_engine import host_names

_fleet = click.argument("fleet", metavar="FLEET")
_instance = click.argument("instance", metavar="INSTANCE")
_collector = click.option(
    "--collector", default="", metavar="NAMESPACE/NAME", help="One of the collectors that a Kubernetes bridge reports."
)
_SHORT = 12


@click.command()
@_fleet
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, for a program for tables.")
@connected
def inventory(api: Api, fleet: str, as_csv: bool, as_json: bool) -> None:
    """List what runs where: hosts, distributions, versions, states and configurations of a fleet.

    \b
    Examples:
      headgate fleet inventory existing
      headgate fleet inventory existing --csv > collectors.csv
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json are two forms of the same: choose one")
    path = f"/fleets/{lookup.fleet(api, fleet)}/inventory"
    if as_csv:
        print_text(api.text(f"{path}.csv"))
        return
    listed = list(api.items(shapes.InventoryOut, path))
    hosts = host_names.distinct((entry["id"], entry["host_name"] or entry["id"]) for entry in listed)
    show_list(
        listed,
        as_json,
        "No collector has reported yet: see `headgate fleet observe --help`",
        {
            "HOST": lambda entry: one_line(hosts[entry["id"]]),
            "SYSTEM": lambda entry: one_line(f"{entry['os'] or '?'}/{entry['arch'] or '?'}"),
            "DISTRIBUTION": lambda entry: one_line(entry["distribution"] or "-"),
            "VERSION": lambda entry: one_line(entry["collector_version"] or "-"),
            "STATE": lambda entry: one_line(entry["state"]).replace("_", " "),
            "CONFIGURATION": lambda entry: (entry["configuration"] or "-")[:_SHORT],
            "COMPONENTS": lambda entry: one_line(" ".join(entry["components"])),
        },
    )


@click.command()
@_fleet
@connected
def configurations(api: Api, fleet: str, as_json: bool) -> None:
    """List which collectors of an observed fleet run the same configuration.

    \b
    Examples:
      headgate fleet configurations existing
    """
    known = api.get(shapes.SharedConfigurationsOut, f"/fleets/{lookup.fleet(api, fleet)}/configurations")
    show_list(
        known["items"],
        as_json,
        "No collector reported a configuration",
        {
            "CONFIGURATION": lambda group: group["sha256"][:_SHORT],
            "COLLECTORS": lambda group: f"{group['count']:,}",
            "VERSIONS": lambda group: ", ".join(group["versions"]),
            "HOSTS": lambda group: ", ".join(group["hosts"]),
        },
        answer=known,
    )
    if known["left_out"] and not as_json:
        say(f"{known['left_out']:,} more configurations are left out")


@click.command()
@_fleet
@_instance
@click.option(
    "--sha256", default="", metavar="SHA256", help="An earlier text, as `headgate instance history` names it."
)
@click.option("--diff", is_flag=True, help="Print what changed in it last.")
@connected
def configuration(api: Api, fleet: str, instance: str, sha256: str, diff: bool, as_json: bool) -> None:
    """Print the configuration that an observed collector reports to run, without secrets.

    \b
    Examples:
      headgate fleet configuration existing web-1
      headgate fleet configuration existing web-1 --diff
    """
    path = f"{lookup.instance_path(api, fleet, instance)}/configuration"
    known = api.get(shapes.ReportedConfigurationOut, path, sha256=sha256)
    if as_json:
        print_json(known)
        return
    print_text((known["difference"] or "") if diff else known["yaml"])
    if diff and not known["difference"]:
        say(f"No earlier configuration is known; it reports this one since {minute(known['at'])} UTC")


@click.command()
@_fleet
@click.argument("instance", metavar="[INSTANCE]", default="")
@click.option("--to", default="", metavar="VERSION", help="Also say what moving to this collector version changes.")
@_collector
@connected
def findings(api: Api, fleet: str, instance: str, to: str, collector: str, as_json: bool) -> None:
    """Show what is wrong with what observed collectors run: on their version, by policies, on another version.

    Without INSTANCE it is about the whole fleet, each finding once. Ends with 1 if a collector would refuse its text.

    \b
    Examples:
      headgate fleet findings existing
      headgate fleet findings existing web-1 --to 0.158.0
    """
    if not instance:
        if collector:
            raise click.UsageError("--collector needs INSTANCE, the bridge that reports it")
        _print_findings_of_fleet(api, fleet, to, as_json=as_json)
        return
    path = f"{lookup.instance_path(api, fleet, instance)}/findings"
    known = api.get(shapes.FindingsOut, path, to=to, collector=collector)
    result = known["result"]
    if as_json:
        print_json(known)
    else:
        nearest = "" if known["exact"] else f", the nearest to {one_line(known['reported_version'] or 'none')}"
        verdict = "works" if result["valid"] else "is refused"
        print_result(f"The configuration {verdict} on collector {one_line(known['version'])}{nearest}")
        for finding in result["findings"]:
            print_result(f"  {_finding(finding)}")
        if report := known["upgrade"]:
            print_result(f"It {one_line(upgrades.headline(report))}")
            for change in upgrades.findings("", report):
                print_result(f"  {one_line(change.severity)}: {quoted(change.message)}")
    if not result["valid"]:
        raise click.exceptions.Exit(FAILED)


@click.command()
@_fleet
@_instance
@click.option("--name", default="", metavar="NAME", help="Name of the configuration; the host's if it is left out.")
@_collector
@click.option("--dry-run", is_flag=True, help="Print the text, and create nothing.")
@connected
def adopt(api: Api, fleet: str, instance: str, name: str, collector: str, dry_run: bool, as_json: bool) -> None:
    """Create a configuration, as a draft, from what an observed collector runs.

    Variables stand in the place of redacted values: set them for the group that is to run it.

    \b
    Examples:
      headgate fleet adopt existing web-1 --name edge
      headgate fleet adopt existing web-1 --dry-run > config.yaml
    """
    path = f"{lookup.instance_path(api, fleet, instance)}/adoption"
    adoption = api.get(shapes.AdoptionOut, path, collector=collector)
    # The server removes white space around a name.
    request = {"name": (name or adoption["name"]).strip(), "yaml": adoption["yaml"]}
    if not dry_run:
        require_new(
            api,
            request["name"],
            "To add a version to it, use --dry-run > FILE and `headgate config push FILE --to {}`",
        )
    created = None if dry_run else api.create(shapes.ConfigurationDetail, "/configurations", request)
    if as_json:
        print_json({"configuration": created, "adoption": adoption})
        return
    if created is None:
        print_text(adoption["yaml"])
    else:
        print_result(one_line(created["id"]))
        if adoption["difference"]:
            print_text(adoption["difference"])
    for variable in adoption["variables"]:
        say(f"set {one_line(variable['name'])}: the value of {one_line(variable['component_path'])} was redacted")
    for note in adoption["notes"]:
        say(f"note: {quoted(note)}")


def _print_findings_of_fleet(api: Api, fleet: str, to: str, *, as_json: bool) -> None:
    report = api.get(shapes.FleetFindingsOut, f"/fleets/{lookup.fleet(api, fleet)}/findings", to=to)
    if as_json:
        print_json(report)
    else:
        for entry in report["items"]:
            hosts = ", ".join(map(one_line, entry["hosts"])) + (", …" if entry["count"] > len(entry["hosts"]) else "")
            print_result(f"{entry['count']}  {_finding(entry)}  ({hosts})")
        not_checked = f"; not checked: {counted(report['not_checked'], 'host')}" if report["not_checked"] else ""
        clean = f"without a finding: {counted(report['without_findings'], 'host')}"
        say(f"{counted(report['checked'], 'configuration')} checked; {clean}{not_checked}")
    if any(entry["severity"] == "error" for entry in report["items"]):
        raise click.exceptions.Exit(FAILED)


def _finding(finding: shapes.ListedFinding | shapes.FleetFindingOut) -> str:
    place = one_line(str(finding.get("component_path") or ""))
    return f"{one_line(finding['severity'])}: {f'{place}: ' if place else ''}{quoted(finding['message'])}"

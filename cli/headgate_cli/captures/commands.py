"""`capture allow | forbid | start | list | show | end | sample | save | delete`."""

from __future__ import annotations

import time
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.captures import saving
from headgate_cli.command_group import CommandGroup
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import connected
from headgate_cli.errors import FAILED, Ended
from headgate_cli.fleets import lookup
from headgate_cli.ids import is_id
from headgate_cli.output import minute, print_json, print_outcome, print_result, print_text, say, show_list
from headgate_cli.rollouts.options import Duration
from headgate_cli.shapes import CaptureOut, DeploymentOut
from headgate_cli.untrusted import one_line, quoted
from headgate_cli.watching import waiting

_OPEN: Final = ("pending", "running")
# All requests of a credential share a limit of 60 a minute.
_SECONDS: Final = 3.0
_fleet = click.argument("fleet", metavar="FLEET")
_capture = click.argument("capture", metavar="CAPTURE")


@click.group(cls=CommandGroup)
def capture() -> None:
    """Take a sample of what passes a component of a host's collector, without secrets, for a test.

    FLEET is an id or a label, CAPTURE an id. The host's collector restarts twice for a capture.

    \b
    Examples:
      headgate capture allow servers Default
      headgate capture start servers --host web-1 --pipeline logs --component otlp
      headgate capture save servers CAPTURE checkout --new-version
    """


def _allowing(name: str, summary: str, *, allowed: bool) -> None:
    @capture.command(name, help=f"{summary}\n\n\b\nExamples:\n  headgate capture {name} servers Default\n")
    @_fleet
    @click.argument("group", metavar="GROUP")
    @connected
    def command(api: Api, fleet: str, group: str, as_json: bool) -> None:
        path = f"{lookup.group_path(api, fleet, group)}/captures"
        changed = api.put(DeploymentOut, path, {"allowed": allowed})
        print_outcome(
            changed, as_json, f"Captures are {'allowed' if allowed else 'off'} in {one_line(changed['name'])}"
        )


_allowing("allow", "Allow captures in a group; for Admins, signed in with `headgate login`.", allowed=True)
_allowing(
    "forbid",
    "Forbid captures in a group and end those under way; for Admins, signed in with `headgate login`.",
    allowed=False,
)


@capture.command()
@_fleet
@click.option("--host", default="", metavar="INSTANCE", help="The host, by its id or name.")
@click.option("--group", default="", metavar="GROUP", help="Any one host of this group.")
@click.option("--pipeline", required=True, help="A pipeline of the version that the host runs, such as logs/audit.")
@click.option("--component", required=True, help="The receiver or processor after which records are taken.")
@click.option("--condition", default="", metavar="OTTL", help="Only records for which this is true.")
@click.option("--context", type=click.Choice(["log", "span", "datapoint", "metric"]), help="The condition's context.")
@click.option(
    "--records",
    "max_records",
    type=click.IntRange(1, 100),
    default=100,
    show_default=True,
    metavar="N",
    help="At most.",
)
@click.option("--for", "duration_seconds", type=Duration(), default="2m", show_default=True, help="At most, up to 10m.")
@click.option("--no-wait", is_flag=True, help="Print the capture's id without waiting for its end.")
@connected
def start(
    api: Api, /, fleet: str, host: str, group: str, no_wait: bool, as_json: bool, **fields: str | int | None
) -> None:
    """Ask a host for a capture, and wait for its end.

    Its collector restarts twice: to begin, and to end. Each time it refuses telemetry for some 50 to 250 ms, which
    clients send again.

    \b
    Examples:
      headgate capture start servers --host web-1 --pipeline logs --component otlp
      headgate capture start servers --group Default --pipeline traces --component batch --condition 'kind == 2'
    """
    if bool(host) == bool(group):
        raise click.UsageError("say which host: --host INSTANCE, or --group GROUP for any one of a group")
    fleet_id = lookup.fleet(api, fleet)
    asked: dict[str, object] = {field: value for field, value in fields.items() if value}
    asked |= {"instance_id": lookup.instance(api, fleet_id, host)} if host else {}
    asked |= {"deployment_id": lookup.group(api, fleet_id, group)} if group else {}
    say("The host's collector restarts to begin, with its next message, and again to end. It takes no telemetry then.")
    started = api.create(CaptureOut, f"/fleets/{fleet_id}/captures", asked)
    if no_wait:
        print_outcome(started, as_json, one_line(started["id"]))
        return
    _finish(_followed(api, _path(api, fleet_id, started["id"]), started), as_json=as_json)


@capture.command("list")
@_fleet
@connected
def list_(api: Api, fleet: str, as_json: bool) -> None:
    """List the captures of a fleet, newest first, for 30 days.

    \b
    Examples:
      headgate capture list servers
    """
    captures = list(api.items(CaptureOut, f"/fleets/{lookup.fleet(api, fleet)}/captures"))
    show_list(
        captures,
        as_json,
        "There are no captures: see `headgate capture start --help`",
        {
            "ID": lambda listed: listed["id"],
            "STATUS": lambda listed: listed["status"],
            "HOST": lambda listed: listed["host_name"] or listed["instance_id"],
            "WHERE": lambda listed: f"{listed['pipeline']} after {listed['component']}",
            "RECORDS": lambda listed: listed["records"],
            "CREATED (UTC)": lambda listed: minute(listed["created_at"]),
        },
    )


@capture.command()
@_fleet
@_capture
@click.option("--wait", is_flag=True, help="Wait for its end.")
@connected
def show(api: Api, fleet: str, capture: str, wait: bool, as_json: bool) -> None:
    """Show a capture.

    \b
    Examples:
      headgate capture show servers CAPTURE --wait
    """
    path = _path(api, fleet, capture)
    detail = api.get(CaptureOut, path)
    _finish(_followed(api, path, detail) if wait else detail, as_json=as_json)


@capture.command()
@_fleet
@_capture
@connected
def end(api: Api, fleet: str, capture: str, as_json: bool) -> None:
    """End a capture before its time. What the host has taken until then is the sample.

    \b
    Examples:
      headgate capture end servers CAPTURE
    """
    ending = api.post(CaptureOut, f"{_path(api, fleet, capture)}/end")
    print_outcome(ending, as_json, f"{one_line(ending['id'])} ends with the host's next message")


@capture.command()
@_fleet
@_capture
@connected
def sample(api: Api, fleet: str, capture: str, as_json: bool) -> None:
    """Print what was captured, as OTLP/JSON, one document a line: `headgate test run --sample` takes it.

    With --json, a list of these documents.

    \b
    Examples:
      headgate capture sample servers CAPTURE > sample.jsonl
    """
    path = f"{_path(api, fleet, capture)}/sample"
    if as_json:
        print_json(api.documents(path))
    else:
        print_text(api.text(path))


@capture.command()
@_fleet
@_capture
@click.argument("name", metavar="NAME")
@click.argument("configuration", metavar="[CONFIGURATION[@N]]", default="")
@click.option("--version", "n", type=VersionNumber(), help="The version; the latest one by default.")
@click.option("--new-version", is_flag=True, help="Save it with a new draft of the same text.")
@connected
def save(
    api: Api, fleet: str, capture: str, name: str, configuration: str, n: int | None, new_version: bool, as_json: bool
) -> None:
    """Save what was captured as the test NAME of a version, which expects what the pipeline makes of it now.

    Without CONFIGURATION, it is the one that the host ran. Tests are saved with drafts.

    \b
    Examples:
      headgate capture save servers CAPTURE checkout --new-version
      headgate capture save servers CAPTURE checkout shop@4
    """
    path = _path(api, fleet, capture)
    detail = api.get(CaptureOut, path)
    target = saving.target(api, detail, configuration, n, new_version=new_version)
    saved = saving.save(api, detail, api.text(f"{path}/sample"), name, *target)
    if as_json:
        print_json(saved)
        return
    configuration_id, version = target
    print_result(f"The test {one_line(name)} is saved with {one_line(configuration_id)}@{version}")
    say(f"Run it with `headgate test suite {one_line(configuration_id)}@{version}`")


@capture.command()
@_fleet
@_capture
@connected
def delete(api: Api, fleet: str, capture: str, as_json: bool) -> None:
    """Delete a capture with its sample.

    \b
    Examples:
      headgate capture delete servers CAPTURE
    """
    api.delete(_path(api, fleet, capture))
    print_outcome({"id": capture}, as_json, f"{one_line(capture)} is deleted")


def _path(api: Api, fleet: str, capture: str) -> str:
    fleet_id = lookup.fleet(api, fleet)
    if not is_id("cap", capture):
        raise click.BadParameter(f"{quoted(capture)} is not the id of a capture: see `headgate capture list`")
    return f"/fleets/{fleet_id}/captures/{capture}"


def _followed(api: Api, path: str, detail: CaptureOut) -> CaptureOut:
    """The capture at its end. Raises KeyboardInterrupt."""
    goes_on = "The capture goes on, and ends by itself. See it with `headgate capture show`, or end it"
    with waiting(lambda: goes_on) as show_status:
        while detail["status"] in _OPEN:
            show_status(detail["status"])
            time.sleep(_SECONDS)
            detail = api.get(CaptureOut, path)
    return detail


def _finish(detail: CaptureOut, *, as_json: bool) -> None:
    """Print a capture. Raises Ended(1) if it has failed, or no host has begun it."""
    print_outcome(detail, as_json, lambda: _show(detail))
    if detail["status"] in ("failed", "expired"):
        raise Ended(FAILED)


def _show(detail: CaptureOut) -> None:
    state = one_line(detail["status"])
    why = (detail["reason"] or "").replace("_", " ")
    print_result(f"{one_line(detail['id'])}  {click.style(state, bold=True)}  {one_line(why)}".rstrip())
    host = detail["host_name"] or detail["instance_id"]
    print_result(
        f"  {one_line(host)}: {one_line(detail['pipeline'])} after {one_line(detail['component'])}, "
        f"where {quoted(detail['condition'])}"
    )
    counted = [f"{detail['records']} of {detail['max_records']} records"]
    if detail["left_out"]:
        counted.append(f"{detail['left_out']} were too large")
    if detail["redacted"]:
        counted.append(f"secrets taken out of {detail['redacted']} texts")
    print_result(f"  {', '.join(counted)}")
    if detail["error"] or "":
        print_result(f"  {quoted(detail['error'] or '')}")

"""Watching a rollout until it has ended, and showing it."""

from __future__ import annotations

import time
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.errors import FAILED, Ended
from headgate_cli.output import minute, print_json, print_result, say, status_line
from headgate_cli.rollouts import lookup
from headgate_cli.shapes import RolloutOut
from headgate_cli.untrusted import one_line, quoted
from headgate_cli.watching import waiting

ENDED: Final = ("completed", "rolled_back", "halted", "aborted", "superseded")
# All requests of a credential share a limit of 60 a minute.
_SECONDS: Final = 3.0
_COLOURS: Final = {
    "completed": "green",
    "applied": "green",
    "in_progress": "cyan",
    "assigned": "cyan",
    "paused": "yellow",
    "waiting_for_approval": "yellow",
}


def follow(api: Api, path: str, rollout: RolloutOut) -> RolloutOut:
    """Print each change until the rollout halts or ends, and return it. Raises KeyboardInterrupt."""
    printed = ""
    with waiting(lambda: "The rollout continues. Watch it again with `headgate rollout watch`") as show_status:
        while True:
            line = _line(rollout)
            if line != printed:
                status_line("")
                say(line)
                printed = line
            if rollout["status"] in ENDED:
                return rollout
            show_status(rollout["status"])
            time.sleep(_SECONDS)
            rollout = api.get(RolloutOut, f"{path}/{rollout['id']}")


def finish(rollout: RolloutOut, *, as_json: bool) -> None:
    """Print a rollout that was watched. Raises Ended(1) unless it is completed."""
    show(rollout, as_json=as_json)
    if rollout["status"] != "completed":
        raise Ended(FAILED)


def show(rollout: RolloutOut, *, as_json: bool) -> None:
    if as_json:
        print_json(rollout)
        return
    state = rollout["reach"]["state"] if rollout["reach"] else rollout["status"]
    styled = click.style(lookup.status(rollout), fg=_COLOURS.get(state, "red"), bold=True)
    versions = f"{lookup.version(rollout)}  before: {lookup.version(rollout['from'])}"
    print_result(f"{one_line(rollout['id'])}  {styled}  {versions}")
    ended = f", ended {minute(rollout['finished_at'])}" if rollout["finished_at"] else ""
    by = f" by {one_line(rollout['created_by']['name'])}"
    print_result(f"  started {minute(rollout['created_at'])}{by}{ended} (UTC)")
    if rollout["message"]:
        print_result(f"  message: {quoted(rollout['message'])}")
    if not rollout["reach"]:
        print_result(f"  {_progress(rollout)}")
    if collector := rollout["collector"]:
        before = collector["before"] or "what was installed on each host"
        print_result(f"  collector {one_line(collector['version'])}  before: {one_line(before)}")
    if variables := rollout.get("variables"):
        revision = variables["before"]
        before = "those of each install" if revision is None else f"revision {revision}"
        names = ", ".join(map(one_line, variables.get("names", [])))
        print_result(f"  variables revision {variables['revision']}{f' ({names})' if names else ''}  before: {before}")
    for host in rollout["not_moved"]:
        print_result(f"  not moved: {one_line(host['name'])}: {quoted(host['message'])}")
    for note in rollout["notes"]:
        print_result(f"  note: {quoted(note)}")
    if rollout["reason"]:
        print_result(f"  reason: {quoted(rollout['reason'])}")
    for failure in rollout["failures"]:
        gate = one_line(failure["gate"].replace("_", " "))
        print_result(f"    {one_line(failure['instance_id'])}  {gate}: {quoted(failure['message'])}")


def _line(rollout: RolloutOut) -> str:
    """The line for a person who watches the rollout."""
    reason = rollout["reason"]
    status = one_line(rollout["status"]).replace("_", " ")
    return f"{status}: {_progress(rollout)}" + (f": {quoted(reason)}" if reason else "")


def _progress(rollout: RolloutOut) -> str:
    strategy, hosts = rollout["strategy"], rollout["hosts"]
    step = f"step {rollout['step']} of {len(strategy['steps'])}, " if rollout["step"] and strategy else ""
    if hosts is None:
        return f"{step}no host was judged yet"
    words = f"{step}{hosts['due']} of {hosts['total']} hosts due, {hosts['applied']} applied, {hosts['failed']} failed"
    return words + (f", {hosts['not_moved']} not moved" if hosts["not_moved"] else "")

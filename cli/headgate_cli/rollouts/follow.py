"""Watching a rollout until it has ended, and showing it."""

from __future__ import annotations

import time
from typing import Final

import click

from headgate_cli.api import Api, Entity, entities, optional, text
from headgate_cli.errors import FAILED, Ended
from headgate_cli.output import minute, print_json, print_result, say, status_line
from headgate_cli.rollouts import lookup
from headgate_cli.untrusted import one_line, quoted

ENDED: Final = ("completed", "rolled_back", "halted", "aborted", "superseded")
# All requests of a credential share a limit of 60 a minute.
_SECONDS: Final = 3.0
_COLOURS: Final = {"completed": "green", "in_progress": "cyan", "paused": "yellow", "waiting_for_approval": "yellow"}


def follow(api: Api, path: str, rollout: Entity) -> Entity:
    """Print each change until the rollout halts or ends, and return it. Raises KeyboardInterrupt."""
    begun, told = time.monotonic(), ""
    where = f"{path}/{text(rollout, 'id')}"
    try:
        while True:
            line = _line(rollout)
            if line != told:
                status_line("")
                say(line)
                told = line
            if rollout["status"] in ENDED:
                return rollout
            status_line(f"{one_line(text(rollout, 'status'))}  {time.monotonic() - begun:.0f} s")
            time.sleep(_SECONDS)
            rollout = api.get(where)
    except KeyboardInterrupt:
        status_line("")
        say("The rollout continues. Watch it again with `headgate rollout watch`")
        raise
    finally:
        status_line("")


def finish(rollout: Entity, *, as_json: bool) -> None:
    """Print a rollout that was watched. Raises Ended(1) unless it is completed."""
    show(rollout, as_json=as_json)
    if rollout["status"] != "completed":
        raise Ended(FAILED)


def show(rollout: Entity, *, as_json: bool) -> None:
    if as_json:
        print_json(rollout)
        return
    status = one_line(text(rollout, "status"))
    styled = click.style(status.replace("_", " "), fg=_COLOURS.get(status, "red"), bold=True)
    versions = f"{lookup.version(rollout)}  before: {lookup.version(rollout.get('from'))}"
    print_result(f"{one_line(text(rollout, 'id'))}  {styled}  {versions}")
    ended = f", ended {minute(optional(rollout, 'finished_at'))}" if optional(rollout, "finished_at") else ""
    creator = rollout.get("created_by")
    by = f" by {one_line(optional(creator, 'name'))}" if isinstance(creator, dict) else ""
    print_result(f"  started {minute(text(rollout, 'created_at'))}{by}{ended} (UTC)")
    if optional(rollout, "message"):
        print_result(f"  message: {quoted(optional(rollout, 'message'))}")
    print_result(f"  {_progress(rollout)}")
    collector = rollout.get("collector")
    if isinstance(collector, dict):
        before = optional(collector, "before") or "what was installed on each host"
        print_result(f"  collector {one_line(optional(collector, 'version'))}  before: {one_line(before)}")
    for one in entities(rollout, "not_moved") if rollout.get("not_moved") else []:
        print_result(f"  not moved: {one_line(optional(one, 'name'))}: {quoted(optional(one, 'message'))}")
    for note in _texts(rollout, "notes"):
        print_result(f"  note: {quoted(note)}")
    if optional(rollout, "reason"):
        print_result(f"  reason: {quoted(optional(rollout, 'reason'))}")
    for failure in entities(rollout, "failures") if rollout.get("failures") else []:
        gate = one_line(optional(failure, "gate").replace("_", " "))
        print_result(
            f"    {one_line(optional(failure, 'instance_id'))}  {gate}: {quoted(optional(failure, 'message'))}"
        )


def _line(rollout: Entity) -> str:
    """What a person who watches has to know of it."""
    reason = optional(rollout, "reason")
    status = one_line(text(rollout, "status")).replace("_", " ")
    return f"{status}: {_progress(rollout)}" + (f": {quoted(reason)}" if reason else "")


def _progress(rollout: Entity) -> str:
    steps = rollout.get("strategy")
    listed = steps.get("steps") if isinstance(steps, dict) else None
    of = f" of {len(listed)}" if isinstance(listed, list) else ""
    step = f"step {rollout.get('step')}{of}, " if rollout.get("step") and of else ""
    hosts = rollout.get("hosts")
    if not isinstance(hosts, dict):
        return f"{step}no host was judged yet"
    count = {name: hosts.get(name, 0) for name in ("total", "due", "applied", "failed")}
    words = f"{step}{count['due']} of {count['total']} hosts due, {count['applied']} applied, {count['failed']} failed"
    return words + (f", {hosts['not_moved']} not moved" if hosts.get("not_moved") else "")


def _texts(rollout: Entity, field: str) -> list[str]:
    listed = rollout.get(field)
    return [str(one) for one in listed] if isinstance(listed, list) else []

"""Events from a message's news about an instance, bounded for an instance that changes without end."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from headgate.instances.desired.model import Desired
from headgate.instances.model import UNKNOWN_SENDER, Instance
from headgate.instances.orders.model import PendingOrder
from headgate.instances.state.model import InstanceState
from headgate.instances.timeline.model import InstanceEvent, Moment, Noted, TimelineEvent

MOST_AN_HOUR: Final = 30
"""Beyond so many events of an instance in an hour, the first of a kind and version is written, others counted."""
MOST_ONCE: Final = 20
"""Kinds and versions of an hour beyond those, without `MOST_RARE`."""
MOST_RARE: Final = 10
"""Events of who the host is and of what a person did to it, beyond those: a host that flaps must not hide them."""
_RARE: Final[frozenset[InstanceEvent]] = frozenset(
    {
        "moved",
        "restarted",
        "supervisor_changed",
        "supervisor_kept",
        "variables_sent",
        "variables_changed",
        "override",
        "override_ended",
        "key_registered",
        "key_replaced",
        "scope_changed",
        "token_renewed",
        "move_allowed",
        "cut_off",
        "let_in",
    }
)
_UNWELL: Final[frozenset[InstanceState]] = frozenset({"apply_failed", "stopped"})
_HOUR: Final = 3_600
_REASON: Final = 500


def entry(instance: Instance, event: InstanceEvent, at: datetime) -> TimelineEvent:
    """The event of an instance as it is after it."""
    running = instance.running()
    since = (
        Moment(running.assignment, running.at or at, instance.reported.description.collector_version)
        if running
        else None
    )
    return TimelineEvent(at, event, instance.standing.state, since)


def of_message(
    stored: Instance | None,
    before: Instance,
    after: Instance,
    desired: Desired,
    at: datetime,
    silent_at: datetime | None,
    done: Sequence[PendingOrder] = (),
) -> list[TimelineEvent]:
    """The events that a message brings. `stored` is the instance before it, `before` the same in the sender's group.

    `silent_at` is when the instance became silent, or would have without this message.
    """
    events = _of_presence(stored, after, at, silent_at)
    if stored is not None and stored.deployment_id != after.deployment_id:
        events.append(replace(entry(after, "moved", at), deployment_id=after.deployment_id))
    events += _of_identity(stored, after, at)
    if stored is not None and stored.orders.override and not after.orders.override:
        events.append(entry(after, "override_ended", at))
    events += _of_orders(after, done, at)
    sent = after.trials.last_offered()
    if sent and sent.offered_at == at and at not in [outcome.offered_at for outcome in before.trials.outcomes]:
        events.append(replace(entry(after, "offered", at), version=sent.assignment))
        if sent.variables and sent.variables.digest != after.reported.host.variables:
            events.append(replace(entry(after, "variables_sent", at), variables_revision=sent.variables.revision))
    events += _of_programs(stored, after, at)
    events += _of_configuration(stored, after, at)
    events += _of_host(before, after, at)
    running = after.running()
    ran = before.running() if running else None
    runs_anew = running is not None and (ran is None or running.config_hash != ran.config_hash)
    if running and runs_anew:
        events.append(replace(entry(after, "running", at), version=running.assignment))
    return events + _of_state(before, after, desired, at, runs_anew=runs_anew, alone=not events)


def bounded(
    noted: Noted, events: Sequence[TimelineEvent], after: Instance, at: datetime, *, is_pod: bool
) -> tuple[Noted, Sequence[TimelineEvent]]:
    """The events to write, and the new note of them."""
    hour = int(at.timestamp()) // _HOUR
    ended: list[TimelineEvent] = []
    if hour != noted.hour and (events or noted.left_out):
        if noted.left_out:
            ended = [replace(entry(after, "flapping_ended", at), left_out=noted.left_out)]
        noted = Noted(hour, unwell=noted.unwell)
    written: list[TimelineEvent] = []
    once, left_out = list(noted.once), noted.left_out
    for event in events:
        place, key = noted.written + len(written), _digest(event)
        rare = event.event in _RARE and place < MOST_AN_HOUR + MOST_ONCE + MOST_RARE
        first = place >= MOST_AN_HOUR and key not in once and len(once) < MOST_ONCE
        if place < MOST_AN_HOUR or first or rare:
            written.append(replace(event, left_out=left_out or None))
            once += [key] if first else []
        else:
            left_out += 1
    begins = [replace(entry(after, "flapping", at), left_out=left_out)] if left_out and not noted.left_out else []
    bad = ("crash_loop",) if is_pod else ("silent", "crash_loop")
    unwell = after.standing.state in _UNWELL or any(event.event in bad for event in events)
    recovers = after.standing.state == "applied" and bool(ended or written)
    noted = Noted(noted.hour, noted.written + len(written), left_out, tuple(once), unwell or noted.unwell)
    return (replace(noted, unwell=False) if recovers else noted), [*ended, *written, *begins]


def _digest(event: TimelineEvent) -> str:
    """Digest of what makes events repetitions: the kind, and the versions that it is about and that run."""
    running = event.running.assignment if event.running else None
    said = f"{event.event} {event.state} {event.version} {running} {event.program_version} {event.variables_revision}"
    if event.configuration:
        said += f" {event.configuration}"
    return hashlib.sha256(said.encode()).hexdigest()[:8]


def _of_presence(
    stored: Instance | None, after: Instance, at: datetime, silent_at: datetime | None
) -> list[TimelineEvent]:
    if stored is None:
        return [entry(after, "first_seen", at)]
    if stored.reported.stopped:
        return [] if after.reported.stopped else [entry(after, "back", at)]
    if silent_at is None or at < silent_at:
        return []
    return [replace(entry(stored, "silent", silent_at), state="silent"), entry(after, "back", at)]


def _of_identity(stored: Instance | None, after: Instance, at: datetime) -> list[TimelineEvent]:
    """The event of a changed reporter: a host with a key, or with another token than before."""
    was, now = stored.identity if stored else UNKNOWN_SENDER, after.identity
    if was == now:
        return []
    events = []
    if was.key and (now.key is None or now.key.public != was.key.public):
        events.append(entry(after, "key_replaced", at))
    elif now.key and was.key is None:
        events.append(entry(after, "key_registered", at))
    if was.scope not in (None, now.scope):
        events.append(entry(after, "scope_changed", at))
    elif None not in (was.scope, was.token_id) and was.token_id != now.token_id:
        events.append(entry(after, "token_renewed", at))
    return events


def _of_orders(after: Instance, done: Sequence[PendingOrder], at: datetime) -> list[TimelineEvent]:
    events = []
    for order in done:
        if order.do == "restart":
            events.append(entry(after, "restarted", at))
        if order.do == "upgrade_supervisor" and order.failed:
            version = order.program.version if order.program else None
            unchanged = entry(after, "supervisor_kept", at)
            events.append(replace(unchanged, reason=order.failed[:_REASON], program_version=version))
    return events


def _of_programs(stored: Instance | None, after: Instance, at: datetime) -> list[TimelineEvent]:
    """Programs, and variables of the collector, that are others than when it was heard last."""
    if stored is None:
        return []
    was, now = stored.reported, after.reported
    versions: Sequence[tuple[InstanceEvent, str | None, str | None]] = (
        ("collector_changed", was.description.collector_version, now.description.collector_version),
        ("supervisor_changed", was.host.supervisor_version, now.host.supervisor_version),
    )
    changed = [
        replace(entry(after, event, at), program_version=version)
        for event, before, version in versions
        if before and before != version
    ]
    if was.host.variables is not None and was.host.variables != now.host.variables:
        event = entry(after, "variables_changed", at)
        changed.append(replace(event, variables_revision=after.variables_revision))
    return changed


def _of_configuration(stored: Instance | None, after: Instance, at: datetime) -> list[TimelineEvent]:
    """The configuration that an observed collector reports, if it is another one than before."""
    was, now = stored.reported.effective if stored else None, after.reported.effective
    if stored is None or now is None or now.sha256 is None or (was and was.sha256 == now.sha256):
        return []
    return [replace(entry(after, "configuration_changed", at), configuration=now.sha256)]


def _of_host(before: Instance, after: Instance, at: datetime) -> list[TimelineEvent]:
    events = []
    was, now = before.reported.host, after.reported.host
    if now.crash_loop and now.crash_loop != was.crash_loop:
        looped = (outcome for outcome in after.trials.outcomes if outcome.text_hash == now.crash_loop.text_hash)
        version = next((outcome.assignment for outcome in looped), None)
        events.append(replace(entry(after, "crash_loop", at), version=version, exits=now.crash_loop.exits))
    elif now.exits and now.exits > (was.exits or 0):
        events.append(replace(entry(after, "exited", at), exits=now.exits))
    if now.drifted is not None and tuple(now.drifted) != tuple(was.drifted or ()):
        events.append(replace(entry(after, "drifted", at), drifted=now.drifted))
    return events


def _of_state(
    before: Instance, after: Instance, desired: Desired, at: datetime, *, runs_anew: bool, alone: bool
) -> list[TimelineEvent]:
    """The state, if it changed and the other events of the message do not tell it."""
    state, message = after.standing.state, after.standing.message
    if (state, message) == (before.standing.state, before.standing.message):
        return []
    if (state == "applied" and runs_anew) or (state == "pending_pickup" and (runs_anew or not alone)):
        return []
    reason = (message or "")[:_REASON] or None
    return [replace(entry(after, _EVENTS[state], at), version=desired.assignment, reason=reason)]


_EVENTS: Final[dict[InstanceState, InstanceEvent]] = {
    "pending_pickup": "pending_pickup",
    "applying": "applying",
    "applied": "applied",
    "apply_failed": "apply_failed",
    "idle": "idle",
    "running": "healthy",
    "unhealthy": "unhealthy",
    "stopped": "stopped",
}

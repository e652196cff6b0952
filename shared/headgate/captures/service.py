"""Operations of members on captures: ask a host for one, follow it, end it, read its sample, and delete it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from headgate.audit import service as audit
from headgate.captures import hosts, samples, store
from headgate.captures.model import (
    CONTEXTS,
    NEEDED,
    TOLD_WITHIN,
    Capture,
    CaptureEnded,
    CaptureNotFound,
    CaptureNotPossible,
    CaptureOpen,
    CapturesNotAllowed,
    CaptureTarget,
    Context,
    Redaction,
    SampleNotFound,
)
from headgate.checker import Asker
from headgate.configurations import pipelines, published
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.deployments.versions import Assignment
from headgate.fleets import service as fleets
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.page import Slice
from headgate.instances import service as instances
from headgate.instances.model import InstanceNotFound
from headgate.instances.orders.captured import OpenCapture
from headgate.instances.reported import components
from headgate.instances.service import SeenInstance
from headgate.instances.timeline import events as timeline
from headgate.storage import idempotent_create
from headgate.storage.retry import retried, retry
from headgate.storage.table import transact
from headgate_engine.collector import StableSignal
from headgate_engine.validation import service as validation

_ALWAYS: Final = "true"


class CaptureInvalid(errors.Invalid):
    """A field of what is to be captured does not fit what the host runs, or the grammar."""

    code = "capture_invalid"

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message, at=("body", name))


class Asked(Protocol):
    """A request for a capture: of one host, or of any host of a group."""

    instance_id: str | None
    deployment_id: str | None
    pipeline: str
    component: str
    condition: str | None
    context: Context | None
    max_records: int
    duration_seconds: int


@dataclass(frozen=True, slots=True)
class KnownCapture:
    """A capture, and the time at which it is looked at."""

    capture: Capture
    at: datetime


def start(caller: Caller, fleet_id: str, asked: Asked) -> KnownCapture:
    """Ask a host for a capture. Nothing happens on it before its next message; then its collector restarts.

    Raises FleetNotFound, InstanceNotFound, DeploymentNotFound, CapturesNotAllowed, CaptureNotPossible, CaptureOpen,
    CaptureInvalid, and what `validation.lint_expressions` does.
    """
    fleet = fleets.get(caller, fleet_id)
    at = clock.now()
    if asked.instance_id is not None:
        if not is_id("ins", asked.instance_id):
            raise InstanceNotFound
        seen = instances.seen(fleet, asked.instance_id, at)
        group = deployments.of_fleet(fleet_id, seen.instance.deployment_id)
        _require_allowed(group)
    else:
        group = deployments.of_fleet(fleet_id, asked.deployment_id or "")
        _require_allowed(group)
        seen = _host_of(caller, group, at)
    version = _require_possible(seen, group, at)
    target = _wanted(asked, version)
    _require_condition(target, asker=Asker.of(caller))
    rules = store.redaction(caller.organization_id)[0]

    def once() -> KnownCapture:
        now = clock.now()
        current = instances.seen(fleet, seen.instance.id, now)
        # Read again: what is under way meanwhile takes the permission away, moves the host or assigns another version.
        group = deployments.of_fleet(fleet_id, current.instance.deployment_id)
        _require_allowed(group)
        if _require_possible(current, group, now) != version:
            raise CaptureNotPossible("The host runs another version meanwhile; ask again")
        created = Capture(
            id=new_id("cap", now),
            fleet_id=fleet_id,
            deployment_id=current.instance.deployment_id,
            instance_id=current.instance.id,
            host_name=current.instance.reported.name,
            version=version,
            target=target,
            created_at=now,
            created_by=caller.principal,
            redaction=rules,
        )
        asking = OpenCapture(created.id, created.begins_by, created.ends_by + TOLD_WITHIN)
        after = replace(current.instance, orders=replace(current.instance.orders, capture=asking))
        event = replace(
            timeline.entry(after, "capture", now),
            version=version,
            until=created.begins_by + timedelta(seconds=target.duration_seconds),
            actor=caller.principal,
            message=hosts.summary(created),
        )
        noted = idempotent_create.writes(f"/fleets/{fleet_id}/captures/{created.id}")
        instances.save(current.instance, after, [event], store.creating(created), deployments.unchanged(group), *noted)
        return KnownCapture(created, now)

    return retry(once)


def captures(caller: Caller, fleet_id: str, limit: int, after: str | None) -> Slice[KnownCapture]:
    """Newest first; two reads. Raises FleetNotFound."""
    fleets.get(caller, fleet_id)
    at = clock.now()
    page = store.captures(fleet_id, limit, after)
    return Slice([KnownCapture(each, at) for each in page.entries if at < each.expires_at], page.position)


def get(caller: Caller, fleet_id: str, capture_id: str) -> KnownCapture:
    """Two reads. Raises FleetNotFound, CaptureNotFound."""
    fleets.get(caller, fleet_id)
    return _one(fleet_id, capture_id)


def sample(caller: Caller, fleet_id: str, capture_id: str) -> str:
    """The records without secrets, as documents of OTLP's JSON, one a line. Raises CaptureNotFound, SampleNotFound."""
    known = get(caller, fleet_id, capture_id)
    key = known.capture.sample_key
    packed = store.read_sample(key) if key else None
    if packed is None:
        raise SampleNotFound(known.capture.status(known.at))
    return samples.unpacked(packed)


@retried
def end(caller: Caller, fleet_id: str, capture_id: str) -> KnownCapture:
    """End a capture before its time, with the host's next message; what it has until then is its sample.

    Ending it again changes nothing. Raises FleetNotFound, CaptureNotFound, CaptureEnded.
    """
    fleet = fleets.get(caller, fleet_id)
    known = _one(fleet_id, capture_id)
    capture, at = known.capture, known.at
    if not capture.is_open(at):
        raise CaptureEnded
    if capture.ending_by is not None:
        return known
    seen = instances.seen(fleet, capture.instance_id, at)
    asked = seen.instance.orders.capture
    if asked is None or asked.id != capture.id:
        raise CaptureEnded
    after = replace(capture, ending_by=caller.principal)
    orders = replace(seen.instance.orders, capture=replace(asked, stop=True))
    stopped = replace(seen.instance, orders=orders)
    instances.save(seen.instance, stopped, (), store.changing(capture, after))
    return KnownCapture(after, at)


@retried
def delete(caller: Caller, fleet_id: str, capture_id: str) -> Capture:
    """Delete a capture with its sample, for good. Raises FleetNotFound, CaptureNotFound, CaptureOpen."""
    fleets.get(caller, fleet_id)
    known = _one(fleet_id, capture_id)
    if known.capture.is_open(known.at):
        raise CaptureOpen("This capture is under way: end it first")
    store.delete_samples(capture_id)
    store.delete(known.capture)
    return known.capture


@retried
def allow(caller: Caller, fleet_id: str, deployment_id: str, *, allowed: bool) -> Deployment:
    """Allow captures in a group, or forbid them: those under way end with their hosts' next messages.

    Raises AdminRequired, FleetNotFound, DeploymentNotFound.
    """
    caller.require_admin()
    before = deployments.get(caller, fleet_id, deployment_id)
    after = replace(before, captures_allowed=allowed, updated_at=clock.now(), revision=before.revision + 1)
    target = f"fleets/{fleet_id}/deployments/{deployment_id}"
    record = audit.entry(caller, "deployment.captures_changed", target, allowed="yes" if allowed else "no")
    transact([deployments.changed(before, after), record])
    return after


def redaction(caller: Caller) -> Redaction:
    """Returns the organization's redaction of samples; one read."""
    return store.redaction(caller.organization_id)[0]


def change_redaction(caller: Caller, rules: Redaction) -> Redaction:
    """Replace it, for captures that are asked for from now on. Raises AdminRequired, CaptureInvalid."""
    caller.require_admin()
    _require_patterns(rules.patterns, asker=Asker.of(caller))

    def once() -> None:
        details = {"kinds": ", ".join(rules.kinds) or "none", "patterns": str(len(rules.patterns))}
        record = audit.entry(caller, "captures.redaction_changed", "fleets/capture-redaction", **details)
        before = store.redaction(caller.organization_id)[1]
        store.put_redaction(caller.organization_id, rules, before, record)

    retry(once)
    return rules


def _one(fleet_id: str, capture_id: str) -> KnownCapture:
    at = clock.now()
    capture_ = store.capture(fleet_id, capture_id) if is_id("cap", capture_id) else None
    if capture_ is None or at >= capture_.expires_at:
        raise CaptureNotFound
    return KnownCapture(capture_, at)


def _require_allowed(group: Deployment) -> None:
    if not group.captures_allowed:
        raise CapturesNotAllowed(group.name)


def _host_of(caller: Caller, group: Deployment, at: datetime) -> SeenInstance:
    """The host of a group that was heard last among those that can be captured from; up to 1,000 are looked at."""
    applied = instances.InstanceFilter(state="applied", deployment_id=group.id)
    hosts_ = instances.instances(caller, group.fleet_id, instances.MOST_READ, None, applied).entries
    able = [
        seen
        for seen in hosts_
        if "capture" in seen.instance.reported.host.can
        and seen.instance.orders.cut_off_at is None
        and not _is_open(seen, at)
    ]
    if able:
        return max(able, key=lambda seen: seen.instance.contact.last_seen_at)
    if not hosts_:
        raise CaptureNotPossible(f"No host of the group {group.name} is Applied: a capture needs one that is")
    # For the reason.
    return hosts_[0]


def _is_open(seen: SeenInstance, at: datetime) -> bool:
    asked = seen.instance.orders.capture
    return asked is not None and not asked.is_over(at)


def _require_possible(seen: SeenInstance, group: Deployment, at: datetime) -> Assignment:
    """The version that the host runs. Raises CaptureOpen, CaptureNotPossible, each with the way out."""
    host = seen.instance.reported.host
    if _is_open(seen, at) and seen.instance.orders.capture:
        raise CaptureOpen(f"The capture {seen.instance.orders.capture.id} is under way on this host: wait, or end it")
    if seen.instance.orders.cut_off_at is not None:
        raise CaptureNotPossible("A person has cut this host off, and nothing is sent to it: let it in first")
    if "capture" not in host.can:
        raise CaptureNotPossible(_inability(seen))
    if seen.state != "applied" or seen.running is None:
        raise CaptureNotPossible(f"The host is {seen.state}: a capture needs one that is Applied")
    if group.rollout is not None:
        raise CaptureNotPossible(
            "A rollout of the group is open, and would measure the capture's restarts: wait until it has ended"
        )
    return seen.running


def _inability(seen: SeenInstance) -> str:
    lists = components.known(seen.instance.fleet_id)
    having = lists.get(seen.instance.reported.host.components or "")
    lacking = [names[0] for names in NEEDED if having is not None and not having.intersection(names)]
    if lacking:
        return (
            f"This host's collector was built without {', '.join(lacking)}, which a capture needs: use a build with it"
        )
    return "The supervisor of this host does not capture: install the host again to upgrade it"


def _wanted(asked: Asked, version: Assignment) -> CaptureTarget:
    """The order for the host, if the version that it runs has that component. Raises CaptureInvalid."""
    signal = _signal(asked.pipeline)
    text = published.text(version.configuration_id, version.version_number)
    if text is None:
        raise errors.Unavailable("The version that the host runs could not be read; try again shortly")
    members = pipelines.members(text, asked.pipeline)
    if members is None:
        named = ", ".join(pipelines.pipelines(text)[:20])
        raise CaptureInvalid(
            "pipeline", f"Version {version.version_number}, which the host runs, has no such pipeline. It has: {named}"
        )
    receivers, processors = members
    if asked.component not in (*receivers, *processors):
        named = ", ".join([*receivers, *processors][:50])
        raise CaptureInvalid(
            "component", f"This is not a receiver or processor of {asked.pipeline}. These can be named: {named}"
        )
    context = asked.context or CONTEXTS[signal][0]
    if context not in CONTEXTS[signal]:
        raise CaptureInvalid("context", f"For {signal} this is {' or '.join(CONTEXTS[signal])}")
    condition = asked.condition or _ALWAYS
    return CaptureTarget(
        signal, asked.pipeline, asked.component, context, condition, asked.max_records, asked.duration_seconds
    )


def _signal(pipeline: str) -> StableSignal:
    for signal in CONTEXTS:
        if pipeline.partition("/")[0] == signal:
            return signal
    raise CaptureInvalid("pipeline", "Captures are of pipelines of logs, traces and metrics")


def _require_condition(target: CaptureTarget, *, asker: Asker) -> None:
    result = validation.lint_expressions(target.context, {"conditions": [target.condition]}, asker=asker)
    for item in result.items:
        if item.error is not None:
            raise CaptureInvalid("condition", item.error)


def _require_patterns(patterns: Sequence[str], *, asker: Asker) -> None:
    """By the collector: a literal pattern of `IsMatch` is compiled when the condition is parsed."""
    if not patterns:
        return
    conditions = [f"IsMatch(body, {json.dumps(pattern, ensure_ascii=False)})" for pattern in patterns]
    result = validation.lint_expressions("log", {"conditions": conditions}, asker=asker)
    refused = {item.expression for item in result.items if item.error is not None}
    wrong = [
        errors.FieldError(("body", "patterns", n), f"This is not a regular expression of RE2: {pattern[:100]}")
        for n, (pattern, condition) in enumerate(zip(patterns, conditions, strict=True))
        if condition in refused
    ]
    if wrong:
        raise errors.Invalid(wrong[0].message, wrong)

"""Captures as the fleet service knows them: what a host is told, and what becomes of what it tells.

It reads nothing for an instance of which no capture is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from headgate.captures import samples, store
from headgate.captures.model import Capture
from headgate.deployments.model import Deployment
from headgate.foundation.log import logger
from headgate.instances.model import Instance
from headgate.instances.orders.captured import CaptureNews, OpenCapture, Reason
from headgate.instances.timeline import events as timeline
from headgate.instances.timeline.model import TimelineEvent
from headgate.storage.table import Write


@dataclass(frozen=True, slots=True)
class CaptureChange:
    """The change of a capture by a message, and the sample in the message, None if there is none."""

    before: Capture
    after: Capture
    sample: bytes | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """The report of a message about a capture: the capture that stays in the instance, and what to store besides."""

    asked: OpenCapture | None = None
    events: Sequence[TimelineEvent] = ()
    change: CaptureChange | None = None


NOTHING_HEARD: Final = Heard()


def concerned(instance: Instance, news: CaptureNews | None, at: datetime) -> Capture | None:
    """The capture that a message is about, or that is over by then; one read if there is one."""
    asked = instance.orders.capture
    return store.capture(instance.fleet_id, asked.id) if asked and _concerns(asked, news, at) else None


def heard(instance: Instance, capture: Capture | None, news: CaptureNews | None, at: datetime) -> Heard:
    """Take what a host tells of the capture that was asked of it; of any other it is left out.

    `instance` is as it is after the message otherwise, `capture` what `concerned` read before.
    """
    asked = instance.orders.capture
    if asked is None or not _concerns(asked, news, at):
        return Heard(asked)
    if capture is None or capture.reason is not None:
        return NOTHING_HEARD
    if news is None or news.id != asked.id:
        reason: Reason = "lost" if capture.started_at else "expired"
        return _ended(instance, capture, replace(capture, ended_at=at, reason=reason))
    if news.reason is not None:
        return _with_sample(instance, capture, news, at)
    if asked.running:
        return Heard(asked)
    return Heard(replace(asked, running=True), change=CaptureChange(capture, replace(capture, started_at=at)))


def writes(change: CaptureChange) -> list[Write]:
    """The writes for the instance's transaction. A sample is stored at once, by a PUT.

    Its key is that of its content: a message that is repeated changes nothing.
    """
    before, after = change.before, change.after
    if change.sample is not None:
        key = store.write_sample(after.id, hashlib.sha256(change.sample).hexdigest(), change.sample)
        after = replace(after, sample_key=key)
    if after.reason == "bad_sample":
        logger.warning("capture_refused", capture_id=after.id, instance_id=after.instance_id, reason=after.error)
    if after.reason is not None:
        logger.info("capture_ended", capture_id=after.id, fleet_id=after.fleet_id, reason=after.reason)
    return [store.changing(before, after)]


def to_tell(instance: Instance, group: Deployment, at: datetime) -> dict[str, object] | None:
    """The capture to order in this answer, if the host's supervisor understands it; one read until it has begun.

    A capture of a group in which captures are forbidden meanwhile is to stop.
    """
    asked = instance.orders.capture
    if asked is None or asked.is_over(at) or "capture" not in instance.reported.host.can:
        return None
    if asked.stop or not group.captures_allowed:
        return {"id": asked.id, "stop": True}
    capture = None if asked.running else store.capture(instance.fleet_id, asked.id)
    if capture is None:
        return None
    target, rules = capture.target, capture.redaction
    return {
        "id": capture.id,
        "signal": target.signal_type,
        "pipeline": target.pipeline,
        "component": target.component,
        "context": target.context,
        "condition": target.condition,
        "records": target.max_records,
        "seconds": target.duration_seconds,
        "redaction": {"kinds": list(rules.kinds), "patterns": list(rules.patterns), "keys": list(rules.keys)},
    }


def _concerns(asked: OpenCapture, news: CaptureNews | None, at: datetime) -> bool:
    return (news is not None and news.id == asked.id) or asked.is_over(at)


def _with_sample(instance: Instance, before: Capture, news: CaptureNews, at: datetime) -> Heard:
    """The capture as it ended, with its sample, which is stored only if it is one."""
    ended = replace(
        before,
        ended_at=at,
        reason=news.reason,
        error=news.error or None,
        left_out=news.left_out,
        redacted=news.redacted,
    )
    if news.sample is None:
        return _ended(instance, before, ended)
    target = before.target
    try:
        samples.require_sample(news.sample, target.signal_type, news.records, target.max_records)
    except samples.NotASample as error:
        why = f"What the host sent is not a sample: {error}"
        return _ended(instance, before, replace(ended, reason="bad_sample", error=why))
    return _ended(instance, before, replace(ended, records=news.records), news.sample)


def _ended(instance: Instance, before: Capture, after: Capture, sample: bytes | None = None) -> Heard:
    assert after.ended_at is not None
    event = replace(
        timeline.entry(instance, "capture_ended", after.ended_at),
        version=after.version,
        reason=after.error,
        message=summary(after),
    )
    return Heard(None, [event], CaptureChange(before, after, sample))


def summary(capture: Capture) -> str:
    """Describe a capture for a timeline."""
    place = f"{capture.id}: {capture.target.pipeline} after {capture.target.component}"
    if capture.reason is None:
        return f"{place}, up to {capture.target.max_records} records in {capture.target.duration_seconds} s"
    return f"{place}, {capture.records} records, ended by {capture.reason}"

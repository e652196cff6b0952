"""Captures as the fleet service knows them: what a host is told, and what becomes of what it tells.

It reads nothing for an instance of which no capture is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headgate.captures import samples, store
from headgate.captures.model import Capture
from headgate.instances.timeline import events as timeline
from headgate.observability.log import logger

if TYPE_CHECKING:
    from datetime import datetime

    from headgate.deployments.model import Deployment
    from headgate.instances.model import Instance
    from headgate.instances.orders.captured import CaptureNews, Reason
    from headgate.instances.timeline.model import TimelineEvent
    from headgate.storage.table import Write


@dataclass(frozen=True, slots=True)
class Heard:
    """The instance after what its message says of a capture, and what is stored with it in one transaction."""

    instance: Instance
    events: Sequence[TimelineEvent] = ()
    writes: Sequence[Write] = ()


def heard(instance: Instance, news: CaptureNews | None, at: datetime) -> Heard:
    """Take what a host tells of the capture that was asked of it; of any other it is left out.

    One read, and a PUT for a sample, whose key is that of its content: a message that is repeated changes nothing.
    """
    asked = instance.capture
    told = asked is not None and news is not None and news.id == asked.id
    if asked is None or (not told and not asked.is_over(at)):
        return Heard(instance)
    before = store.capture(instance.fleet_id, asked.id)
    if before is None or before.reason is not None:
        return Heard(replace(instance, capture=None))
    if news is None or not told:
        reason: Reason = "lost" if before.started_at else "expired"
        return _ended(instance, before, replace(before, ended_at=at, reason=reason))
    if news.reason is not None:
        return _ended(instance, before, _with_sample(before, news, at))
    if asked.running:
        return Heard(instance)
    after = replace(before, started_at=at)
    return Heard(replace(instance, capture=replace(asked, running=True)), writes=[store.changing(before, after)])


def to_tell(instance: Instance, group: Deployment, at: datetime) -> dict[str, object] | None:
    """What the host is to be told with this answer, if its supervisor understands it; one read until it has begun.

    A capture of a group in which captures are forbidden meanwhile is to stop.
    """
    asked = instance.capture
    if asked is None or asked.is_over(at) or "capture" not in instance.host.can:
        return None
    if asked.stop or not group.captures_allowed:
        return {"id": asked.id, "stop": True}
    found = None if asked.running else store.capture(instance.fleet_id, asked.id)
    if found is None:
        return None
    wanted, rules = found.wanted, found.redaction
    return {
        "id": found.id,
        "signal": wanted.signal_type,
        "pipeline": wanted.pipeline,
        "component": wanted.component,
        "context": wanted.context,
        "condition": wanted.condition,
        "records": wanted.max_records,
        "seconds": wanted.duration_seconds,
        "redaction": {"kinds": list(rules.kinds), "patterns": list(rules.patterns), "keys": list(rules.keys)},
    }


def _with_sample(before: Capture, news: CaptureNews, at: datetime) -> Capture:
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
        return ended
    wanted = before.wanted
    try:
        samples.require_sample(news.sample, wanted.signal_type, news.records, wanted.max_records)
    except samples.NotASample as error:
        logger.warning("capture_refused", capture_id=before.id, instance_id=before.instance_id, reason=str(error))
        return replace(ended, reason="bad_sample", error=f"What the host sent is not a sample: {error}")
    key = store.write_sample(before.id, hashlib.sha256(news.sample).hexdigest(), news.sample)
    return replace(ended, records=news.records, sample_key=key)


def _ended(instance: Instance, before: Capture, after: Capture) -> Heard:
    without = replace(instance, capture=None)
    assert after.ended_at is not None
    event = replace(
        timeline.entry(without, "capture_ended", after.ended_at),
        version=after.version,
        reason=after.error,
        message=summary(after),
    )
    logger.info("capture_ended", capture_id=after.id, fleet_id=after.fleet_id, reason=after.reason)
    return Heard(without, [event], [store.changing(before, after)])


def summary(capture: Capture) -> str:
    """What a timeline says of a capture."""
    place = f"{capture.id}: {capture.wanted.pipeline} after {capture.wanted.component}"
    if capture.reason is None:
        return f"{place}, up to {capture.wanted.max_records} records in {capture.wanted.duration_seconds} s"
    return f"{place}, {capture.records} records, ended by {capture.reason}"

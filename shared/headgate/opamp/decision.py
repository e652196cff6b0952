"""Decisions about an agent's message: the instance's new state and the answer. Nothing is read or written.

The parts of an instance are replaced here, each by its own rules: `reported` and `trials` by `state.transitions`,
`standing` by what follows from both, `orders` by `orders.model`, `measured` by `counting.measuring`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from headgate.captures import hosts as captures
from headgate.captures.hosts import NOTHING_HEARD, CaptureChange
from headgate.captures.model import Capture
from headgate.deployments.model import Deployment
from headgate.deployments.running import RunningRollout
from headgate.instances import model
from headgate.instances.counting import measuring
from headgate.instances.counting.watch import Measurements
from headgate.instances.desired import offers, trials
from headgate.instances.desired.model import Desired
from headgate.instances.model import Contact, HostIdentity, Instance
from headgate.instances.orders.model import PendingOrder
from headgate.instances.reported.model import AgentReport
from headgate.instances.state import transitions
from headgate.instances.state.intervals import QUICK_SECONDS, longest, unwritten
from headgate.instances.timeline import events as timeline
from headgate.instances.timeline import notices
from headgate.instances.timeline.model import TimelineEvent
from headgate.instances.timeline.notices import Notice

FULL_STATE_EVERY: Final = timedelta(hours=1)
"""A message that was lost while nothing was under way is made up for within this time."""
_OF_BRIDGE_EVERY: Final = timedelta(minutes=5)
"""A bridge reports collectors of a cluster, which others change, and says nothing of that by itself."""
_CONFLICTS: Final = 3
# A fleet that started together spreads its full reports over ten minutes.
_SPREAD_SECONDS: Final = 600
_QUICKEST_SECONDS: Final = 10
_JITTER: Final = 0.1
_APART: Final = timedelta(seconds=10)
"""Time by which the clocks of two processes of this service may differ, and more."""


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """A report, and who sent it. `takes_place`: another host takes the instance's place, as a person allowed."""

    report: AgentReport
    sender: HostIdentity
    takes_place: bool = False


@dataclass(frozen=True, slots=True)
class ConfigText:
    """Known facts of a config's text: its SHA-256 in hex, empty for no text, and whether it runs nothing.

    No text at all is what stops a collector on purpose.
    """

    sha256: str
    runs_nothing: bool


class Texts(Protocol):
    """Look-up of a config's text. A published text never changes, so that the answer depends on nothing else."""

    def __call__(self, config: Desired, /) -> ConfigText: ...


@dataclass(frozen=True, slots=True)
class Decision:
    """The new state of an instance, and the answer to its agent.

    `before` is the instance as it was stored, None for a new one. `offer` is the config to send, `interval` the
    heartbeat to tell the agent. With `gets_uid` it is told a uid of its own, and nothing else. `notices` are events for
    webhooks, `capture` is what the message changes of a capture. `proves` is whether the instance is the first of its
    group to prove the version that is assigned to it. `component_list` is what the host was asked for, `unlisted` the
    hash of a list that it is to be asked for if nobody told it yet. `asks_components` asks an agent that is not ours.
    """

    before: Instance | None
    instance: Instance
    offer: Desired | None = None
    interval: int | None = None
    asks_full_state: bool = False
    gets_uid: bool = False
    events: Sequence[TimelineEvent] = ()
    notices: Sequence[Notice] = ()
    capture: CaptureChange | None = None
    proves: bool = False
    component_list: Sequence[str] | None = None
    unlisted: str | None = None
    asks_components: bool = False

    @property
    def has_news(self) -> bool:
        """True if the message, or its answer, says more than that the instance is there."""
        if self.before is None or self.offer is not None:
            return True
        was = self.before.contact
        contact = replace(self.instance.contact, sequence_num=was.sequence_num, last_seen_at=was.last_seen_at)
        return replace(self.instance, contact=contact) != self.before

    @property
    def is_stored(self) -> bool:
        """All but a heartbeat that says nothing new, soon after a stored one, while nothing is under way."""
        before, after = self.before, self.instance
        if before is None or after.measured.watch or before.under_way or after.under_way:
            return True
        was, now = before.contact, after.contact
        due = (now.last_seen_at - was.last_seen_at).total_seconds() >= unwritten(quick=after.is_quick)
        back = now.last_seen_at < was.last_seen_at or now.sequence_num < was.sequence_num
        return due or back or self.has_news

    def ordering(self, order: PendingOrder) -> Decision:
        """The decision with one more order to the host."""
        return replace(self, instance=replace(self.instance, orders=self.instance.orders.with_order(order)))


def decide(
    stored: Instance | None,
    message: AgentMessage,
    group: Deployment,
    at: datetime,
    texts: Texts,
    silent_at: datetime | None,
    capture: Capture | None = None,
) -> Decision:
    """Decide about the message of an agent that belongs to the group; `capture` is the one that it is about.

    `silent_at` is when its instance became silent, or would have without it.
    """
    report = message.report
    place = _place(stored, message, at)
    if stored is not None and place.conflicts >= _CONFLICTS:
        contact = replace(stored.contact, conflicts=0)
        return Decision(stored, replace(stored, contact=contact), gets_uid=True)
    before = _before(stored, report, group, at)
    desired = before.desired(group, at)
    sends = not (group.observed or (desired.assignment is None and before.goes_on(group)))
    ordered, done = transitions.with_orders(before, report.host, desired, at)
    ordered = replace(ordered, identity=_identified(before.identity, message.sender, at))
    after = _checked(transitions.after_report(ordered, report, desired, at, sends=sends), desired, texts, at)
    offer = None
    # An agent that is asked for its full state gets no offer yet: its next message says what it has.
    if not place.asks_full_state and not report.leaves:
        after, offer = _with_offer(after, desired, texts, at)
    after = replace(
        after,
        orders=replace(after.orders, move_until=None) if message.takes_place else after.orders,
        measured=_measured(stored, before, after, report, group, desired, at),
    )
    interval = _interval(before, after, report, place, group, at)
    after = replace(after, contact=_contact(before.contact, report, place, interval, at))
    heard = captures.heard(after, capture, report.capture, at) if after.orders.capture else NOTHING_HEARD
    happened = [*timeline.of_message(stored, before, after, desired, at, silent_at, done), *heard.events]
    # Nobody is told that a pod is silent.
    is_pod = group.role is not None
    was_silent = not is_pod and any(event.event == "silent" for event in happened)
    noted, events = timeline.bounded(after.noted, happened, after, at, is_pod=is_pod)
    after = replace(after, orders=replace(after.orders, capture=heard.asked), noted=noted)
    return Decision(
        before=stored,
        instance=after,
        offer=offer,
        interval=interval,
        asks_full_state=place.asks_full_state,
        events=events,
        notices=notices.of_message(stored, after, events, was_silent=was_silent) if events else (),
        capture=heard.change,
        proves=trials.proves(after, group, desired),
        component_list=_component_list(before, after, report),
        asks_components=report.available is not None and _asks_components(after, report, at),
        unlisted=_unlisted(before, after, report, at),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a message among the instance's: whether to ask for the full state, and its conflicts so far.

    A sequence number that goes back without a restart is an old message, or a second process with the same uid. Only a
    second process keeps sending them.
    """

    asks_full_state: bool
    conflicts: int


def _place(before: Instance | None, message: AgentMessage, at: datetime) -> _Place:
    report = message.report
    if before is None:
        return _Place(asks_full_state=not report.full, conflicts=0)
    # Then there is no second process.
    proved = message.sender.key is not None or message.takes_place
    known, number = before.contact, report.sequence_num
    back = 0 < number < known.sequence_num
    # Heartbeats that say nothing new are not written while nothing is under way, so a gap is normal then.
    missed = before.under_way and number > known.sequence_num + 1
    every = FULL_STATE_EVERY + timedelta(seconds=report.uid[-2] * _SPREAD_SECONDS / 256)
    bridge, tree = before.reported.description.is_bridge, report.health_tree
    due = at - known.full_state_at > (_OF_BRIDGE_EVERY if bridge else every)
    # A changed configuration comes with changed pods.
    due |= bridge and tree is not None and tree.digest != (before.reported.health_tree or tree).digest
    conflicts = 0 if due or proved else known.conflicts
    if back and not proved:
        conflicts = known.conflicts + 1
    incomplete = back or missed or due or number == 0
    return _Place(asks_full_state=not report.full and incomplete, conflicts=conflicts)


def _before(stored: Instance | None, report: AgentReport, group: Deployment, at: datetime) -> Instance:
    """The instance before its message, in the sender's group and without an override whose time is over."""
    if stored is None:
        contact = Contact.first(report.sequence_num, at)
        stored = Instance(model.instance_id(report.uid), group.fleet_id, group.id, contact)
    if group.adopted:
        # What it is to run depends on what it can.
        can = stored.reported.can_take(report)
        stored = replace(stored, reported=replace(stored.reported, accepts_remote_config=can))
    orders = stored.orders
    if orders.override and orders.override.until <= at:
        stored = replace(stored, orders=replace(orders, override=None))
    return stored.in_group(group.id)


def _checked(instance: Instance, desired: Desired, texts: Texts, at: datetime) -> Instance:
    """The instance with what it reports as applied compared with the text that was assigned.

    A supervisor runs a collector without pipelines, and says that it applied them: that has failed.
    """
    if not transitions.to_check(instance, desired):
        return instance
    text = texts(desired)
    if text.runs_nothing:
        return transitions.with_failure(instance, desired, desired, transitions.WITHOUT_PIPELINES, at)
    return transitions.with_text(instance, desired, text.sha256, at)


def _with_offer(instance: Instance, desired: Desired, texts: Texts, at: datetime) -> tuple[Instance, Desired | None]:
    """The offer, and the instance with it noted. A config without pipelines fails without being sent."""
    while (sent := offers.offer(instance, desired)) is not None:
        text = texts(sent)
        if not text.runs_nothing:
            return offers.with_offer(instance, sent, text.sha256, at), sent
        instance = transitions.with_failure(instance, sent, desired, transitions.WITHOUT_PIPELINES, at)
    return instance, None


def _interval(
    before: Instance, after: Instance, report: AgentReport, place: _Place, group: Deployment, at: datetime
) -> int | None:
    """The heartbeat to tell the agent; None if it knows it."""
    interval = interval_of(after, group.rollout, at)
    # A message with the number of the last one repeats it: the answer was lost.
    unsure = report.sequence_num in (0, before.contact.sequence_num) or place.asks_full_state
    return interval if report.takes_interval and (unsure or before.contact.told_seconds != interval) else None


def interval_of(after: Instance, rollout: RunningRollout | None, at: datetime) -> int:
    """The interval for an instance after a message; `rollout` is that of its group.

    Each has its own, so that hosts that started together spread. One that a person has to help is not expected.
    """
    spread = zlib.crc32(after.id.encode()) / (1 << 32)
    at_rest = math.ceil(longest(quick=False) * (1 - _JITTER * spread))
    is_stuck = after.standing.state == "pending_pickup" and after.standing.message is not None
    is_judged = after.measured.watch is not None and not (rollout and rollout.rests)
    expects = (after.under_way and not is_stuck) or is_judged or after.orders.capture is not None
    if expects or any(order.waits(at) for order in after.orders.pending):
        return min(at_rest, _QUICKEST_SECONDS + round((QUICK_SECONDS - _QUICKEST_SECONDS) * spread))
    return at_rest


def _identified(before: HostIdentity, sender: HostIdentity, at: datetime) -> HostIdentity:
    """The sender, with the time at which its key was first seen."""
    same = before.key is not None and sender.key is not None and before.key.public == sender.key.public
    return replace(sender, key_since=before.key_since if same else at if sender.key else None)


def _contact(before: Contact, report: AgentReport, place: _Place, interval: int | None, at: datetime) -> Contact:
    return Contact(
        sequence_num=report.sequence_num,
        first_seen_at=before.first_seen_at,
        # Processes differ by less; a clock that was set back would hide for as long that the host falls silent.
        last_seen_at=at if before.last_seen_at - at > _APART else max(at, before.last_seen_at),
        full_state_at=at if report.full or place.asks_full_state else before.full_state_at,
        conflicts=place.conflicts,
        told_seconds=before.told_seconds if interval is None else interval,
    )


def _asks_components(after: Instance, report: AgentReport, at: datetime) -> bool:
    build = after.reported.build
    return build is not None and build.asked_at == at and not report.leaves


def _component_list(before: Instance, after: Instance, report: AgentReport) -> Sequence[str] | None:
    """The list of components that the message brings, if the host was asked for it, or if it differs from before."""
    if report.available and report.available.names and after.reported.build != before.reported.build:
        return report.available.names
    asked = any(order.do == "components" for order in after.orders.pending)
    return report.host.component_list if report.host and after.reported.host.components and asked else None


def _measured(
    stored: Instance | None,
    before: Instance,
    after: Instance,
    report: AgentReport,
    group: Deployment,
    desired: Desired,
    at: datetime,
) -> Measurements:
    known = before.measured
    if group.rollout is None and not (known.watch or known.departures):
        return known
    return measuring.measured(stored, before, after, report.host, group.rollout, desired, at)


def _unlisted(before: Instance, after: Instance, report: AgentReport, at: datetime) -> str | None:
    """The hash of the host's list of components, if it has others than before and was not asked for them."""
    host, now = report.host, after.reported.host
    if host is None or now.components is None or "components" not in now.can:
        return None
    asked = next((order for order in after.orders.pending if order.do == "components"), None)
    if asked is not None:
        # Another collector may have come with a version that was offered since the host was asked.
        offered = after.trials.last_offered()
        since = offered.offered_at if offered else None
        if host.component_list is not None or since is None or asked.waits(at) or asked.at >= since:
            return None
    starts = report.sequence_num == 0
    return now.components if starts or now.components != before.reported.host.components else None

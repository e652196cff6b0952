"""Instances and their events as items of the fleets table, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from headgate.deployments.mapping import HEALTHY_VERSIONS
from headgate.fleets import keys
from headgate.instances.counting.watch import Measurements, Watch
from headgate.instances.desired.model import ConfigOutcome, Trials
from headgate.instances.model import Contact, Instance, Standing
from headgate.instances.orders.captured import OpenCapture
from headgate.instances.orders.model import Orders, Override, PendingOrder
from headgate.instances.reported.effective import Effective
from headgate.instances.reported.host import ReportedHost
from headgate.instances.reported.model import Health, Reported, ReportedConfig
from headgate.instances.state.model import day_of, expires, mark_of
from headgate.instances.timeline.model import Moment, TimelineEvent
from headgate.storage.items import Item, Value
from headgate.storage.stored import COMPRESSED_JSON, HEX, JSON, Stored

INSTANCES: Final = Stored(
    Instance,
    names={"id": "instance_id"},
    flat=["contact", "identity", "reported", "trials", "standing", "orders", "measured"],
    unless_default=["noted", "sealed_for"],
)
Stored(Contact, unless_default=["conflicts"])
Stored(
    Reported,
    flat=["description", "health", "config"],
    unless_default=[
        *("accepts_remote_config", "stopped", "uninstalled", "host", "effective", "health_tree", "build"),
        "config_name",
    ],
    forms={"totals": COMPRESSED_JSON},
)
Stored(Effective, unless_default=["components"])
Stored(Health, names={"error": "health_error"}, unless_default=["error"])
Stored(
    ReportedConfig,
    names={"config_hash": "reported_hash", "status": "reported_status", "message": "reported_message"},
    unless_default=["config_hash", "message"],
    absent={"reported_hash": ""},
)
# As text: the table has no floating point numbers.
Stored(ReportedHost, unless_default=["can"], forms={"counters": JSON})
Stored(Trials, names={"healthy": "healthy_versions"}, unless_default=["healthy"], parts=[HEALTHY_VERSIONS])
Stored(
    ConfigOutcome,
    names={"config_hash": "hash", "text_hash": "text"},
    flat=["assignment"],
    sparse=True,
    forms={"text_hash": HEX},
)
Stored(Standing, names={"message": "state_message", "revision": "judged"})
Stored(Orders, names={"pending": "orders"}, unless_default=["pending", "labels"])
Stored(Override, flat=["assignment"])
Stored(OpenCapture, names={"id": "capture_id"})
_ORDERS: Final = Stored(PendingOrder)
Stored(Measurements, unless_default=["departures"])
Stored(Watch, unless_default=["taken_back"])
EVENTS: Final = Stored(TimelineEvent)
Stored(Moment, names={"collector_version": "collector"}, flat=["assignment"])


def instance_item(instance: Instance) -> Item:
    # Only the time of the last offer is needed.
    trials, last = instance.trials, instance.trials.last_offered()
    outcomes = tuple(each if each is last else replace(each, offered_at=None) for each in trials.outcomes)
    stored = INSTANCES.item(replace(instance, trials=replace(trials, outcomes=outcomes)))
    # Counted by its last day, so that counters and time to live agree.
    ends: Item = {"expires": expires(day_of(mark_of(instance.contact.last_seen_at)))}
    return keys.instance(instance.fleet_id, instance.id) | stored | ends


def order_items(orders: Sequence[PendingOrder]) -> list[Value]:
    return [_ORDERS.item(order) for order in orders]

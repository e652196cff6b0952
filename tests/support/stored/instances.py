"""An instance with the fields that its class had when its items were recorded, all in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from headgate.deployments.versions import HealthyVersion
from headgate.instances.counting.watch import Departure, Measurements, Watch
from headgate.instances.desired.model import ConfigOutcome, Trials
from headgate.instances.model import Contact, HostIdentity, Instance, Standing
from headgate.instances.orders.captured import OpenCapture
from headgate.instances.orders.model import Orders, Override, PendingOrder
from headgate.instances.reported.host import UNKNOWN, ReportedHost
from headgate.instances.reported.host_key import HostKey
from headgate.instances.reported.model import (
    NEVER_CONFIGURED,
    UNDESCRIBED,
    Health,
    HostDescription,
    Reported,
    ReportedConfig,
)
from headgate.instances.state.model import InstanceState
from headgate.instances.timeline.model import NOTHING_NOTED, Noted


@dataclass(frozen=True)
class RecordedInstance:
    id: str
    fleet_id: str
    deployment_id: str
    sequence_num: int
    first_seen_at: datetime
    last_seen_at: datetime
    full_state_at: datetime
    description: HostDescription = UNDESCRIBED
    accepts_config: bool = False
    health: Health | None = None
    reported: ReportedConfig = NEVER_CONFIGURED
    outcomes: Sequence[ConfigOutcome] = ()
    state: InstanceState = "pending_pickup"
    state_message: str | None = None
    state_revision: int = 0
    applying_since: datetime | None = None
    stopped: bool = False
    uninstalled: bool = False
    host: ReportedHost = UNKNOWN
    noted: Noted = NOTHING_NOTED
    orders: Sequence[PendingOrder] = ()
    override: Override | None = None
    capture: OpenCapture | None = None
    conflicts: int = 0
    told_seconds: int = 0
    healthy: Sequence[HealthyVersion] = ()
    well_since: datetime | None = None
    token_id: str | None = None
    departures: Sequence[Departure] = ()
    scope: str | None = None
    key: HostKey | None = None
    move_until: datetime | None = None
    watch: Watch | None = None
    revision: int = 0

    @classmethod
    def of(cls, instance: Instance) -> RecordedInstance:
        contact, reported, trials = instance.contact, instance.reported, instance.trials
        standing, orders, identity = instance.standing, instance.orders, instance.identity
        return cls(
            instance.id,
            instance.fleet_id,
            instance.deployment_id,
            contact.sequence_num,
            contact.first_seen_at,
            contact.last_seen_at,
            contact.full_state_at,
            reported.description,
            reported.accepts_config,
            reported.health,
            reported.config,
            trials.outcomes,
            standing.state,
            standing.message,
            standing.revision,
            reported.applying_since,
            reported.stopped,
            reported.uninstalled,
            reported.host,
            instance.noted,
            orders.pending,
            orders.override,
            orders.capture,
            contact.conflicts,
            contact.told_seconds,
            trials.healthy,
            trials.well_since,
            identity.token_id,
            instance.measured.departures,
            identity.scope,
            identity.key,
            orders.move_until,
            instance.measured.watch,
            instance.revision,
        )

    def instance(self) -> Instance:
        return Instance(
            self.id,
            self.fleet_id,
            self.deployment_id,
            Contact(
                self.sequence_num,
                self.first_seen_at,
                self.last_seen_at,
                self.full_state_at,
                self.conflicts,
                self.told_seconds,
            ),
            HostIdentity(self.token_id, self.scope, self.key),
            Reported(
                self.description,
                self.accepts_config,
                self.health,
                self.reported,
                self.applying_since,
                self.stopped,
                self.uninstalled,
                self.host,
            ),
            Trials(self.outcomes, self.healthy, self.well_since),
            Standing(self.state, self.state_message, self.state_revision),
            Orders(self.orders, self.override, self.capture, self.move_until),
            Measurements(self.watch, self.departures),
            self.noted,
            revision=self.revision,
        )

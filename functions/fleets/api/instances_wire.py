"""Answers of the endpoints of one collector instance."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from fleets.api.deployments_wire import Message, Number
from fleets.api.wire import AssignmentOut, InstanceOut, LabelKey, LabelValue
from headgate.deployments.versions import Assignment
from headgate.foundation import clock
from headgate.http.parameters import moment
from headgate.http.wire import Answer, ConfigurationId, IdOf, PrincipalOut
from headgate.instances.details import KnownInstance
from headgate.instances.orders.model import LASTS, Override, PendingOrder
from headgate.instances.reported.host import MOST_LABELS
from headgate.instances.state.model import InstanceState
from headgate.instances.state.truth import LastAttempt
from headgate.instances.timeline.history import ListedEvent, Then
from headgate.instances.timeline.model import InstanceEvent, Moment
from headgate_engine.wire.inputs import Input
from headgate_engine.wire.times import Time


class VersionOut(AssignmentOut):
    """A published version with its configuration's name; all fields are null for nothing."""

    configuration_name: str | None

    @staticmethod
    def fields_of(assignment: Assignment | None, names: Mapping[str, str]) -> dict[str, str | int | None]:
        fields = AssignmentOut.of_version(assignment).model_dump()
        return {**fields, "configuration_name": names.get(assignment.configuration_id) if assignment else None}


class VersionAt(VersionOut):
    """A version, and since when; all fields but `at` are null for nothing. `at` is null if the time is not known.

    `collector_version` is that of the collector with it: for `running` what the host reports, else null for the one
    that was installed on the host.
    """

    at: Time | None
    collector_version: str | None

    @classmethod
    def of_moment(cls, moment: Moment | LastAttempt, names: Mapping[str, str]) -> Self:
        return cls.of(moment, **VersionOut.fields_of(moment.assignment, names))


class AttemptOut(VersionAt):
    """The host's last attempt; `reason` says why it failed."""

    outcome: Literal["applying", "applied", "failed"]
    reason: str | None


class OrderOut(Answer):
    """An order to a host. Its supervisor carries it out with one of its next messages, or never after `expires_at`."""

    id: str
    do: Literal["restart", "retry", "upgrade_supervisor"]
    status: Literal["pending", "done", "failed", "expired"]
    created_at: Time
    expires_at: Time

    done_at: Time | None
    version: str | None = Field(description="The version of the supervisor that an upgrade brings")
    reason: str | None = Field(description="Why the host could not carry it out")

    @classmethod
    def of_order(cls, order: PendingOrder) -> Self:
        return cls.of(
            order,
            status=order.status(clock.now()),
            created_at=order.at,
            expires_at=order.at + LASTS,
            version=order.program.version if order.program else None,
            reason=order.failed,
        )


class PutOverride(Input):
    """Without `configuration_id`, the configuration is the one of the instance's group."""

    version_number: Number
    configuration_id: ConfigurationId | None = None
    until: Annotated[datetime, BeforeValidator(moment), Field(description="RFC 3339, at most 90 days from now")]
    message: Message | None = None


class ReplaceInstance(Input):
    """The instance that the host is now; null for the only one that it can be."""

    by: Annotated[str, IdOf("ins", "an instance")] | None = None


class ChangeInstance(Input):
    """Labels to set, or to remove with null; and the group to move it to, null for where it belongs without that."""

    labels: Annotated[dict[LabelKey, LabelValue | None], Field(max_length=MOST_LABELS)] = Field(default_factory=dict)
    deployment_id: Annotated[str, IdOf("dep", "a deployment group")] | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("Give labels, a deployment_id, or both")
        return self


class OverrideOut(VersionOut):
    """An override: a version that the instance runs instead of its group's, until a time."""

    until: Time
    created_at: Time
    created_by: PrincipalOut
    message: str | None

    @classmethod
    def of_override(cls, override: Override, names: Mapping[str, str]) -> Self:
        version = VersionOut.fields_of(override.assignment, names)
        return cls.of(override, **version, created_at=override.at, created_by=override.actor)


class PartHealthOut(Answer):
    """A pipeline or a component of a collector, by its own report; `error` is without secrets."""

    path: list[str]
    healthy: bool
    status: Annotated[str, Field(description="The collector's word, such as `OK` or `RecoverableError`")]
    error: str
    at: Annotated[Time | None, Field(description="Since when it has this status")]


class HealthOut(Answer):
    """The health of a collector and its parts by its last report, each part after the one that contains it.

    It is not `complete` if the collector reports more than 500 parts, 4 levels, or what has room.
    """

    healthy: bool
    error: str
    status: Annotated[str | None, Field(description="The collector's word, such as `OK`; null if it says none")]
    at: Annotated[Time | None, Field(description="Since when it has this status")]
    started_at: Annotated[Time | None, Field(description="When the collector started, by its own clock")]
    parts: list[PartHealthOut]
    complete: bool

    @classmethod
    def of_known(cls, known: KnownInstance) -> "HealthOut | None":
        health, tree = known.seen.instance.reported.health, known.health_tree
        if health is None:
            return None
        if tree is not None:
            return cls.of(health, tree)
        return cls.of(health, status=None, at=None, started_at=None, parts=(), complete=True)


class InstanceDetail(InstanceOut):
    """One collector with its times. `desired` is what it is to run now.

    `offered` and `attempted` are null if nothing was yet. All of `running` is null if nothing runs, the host was
    stopped, or it says that it runs a text which it was not offered.
    """

    desired: VersionAt
    offered: VersionAt | None
    attempted: AttemptOut | None
    running: VersionAt = Field(description="What runs by the host's reports, and since when")
    last_healthy: AssignmentOut | None = Field(description="The version that it ran healthily for a time last")
    override: OverrideOut | None
    move_allowed_until: Time | None = Field(description="Until when another host may take its place, as allowed")
    cut_off_at: Time | None = Field(description="Since when a person refuses its messages")
    set_labels: dict[str, str] = Field(description="The labels that people set, without those of its host")
    moved_to: str | None = Field(description="The group that it was moved to, with its next message")
    orders: list[OrderOut] = Field(description="Orders that the host has not carried out yet")
    health: HealthOut | None = Field(description="How the collector and its parts fare; null if it does not say")
    variables_revision: int | None = Field(
        description="The revision of its group's variables that its process has; null for those of its install"
    )

    @classmethod
    def of_known(cls, known: KnownInstance) -> Self:
        truth, names, healthy = known.truth, known.names, known.seen.instance.trials.healthy
        return cls.of_seen(
            known.seen,
            desired=VersionAt.of_moment(truth.desired, names),
            offered=VersionAt.of_moment(truth.offered, names) if truth.offered else None,
            attempted=AttemptOut.of_moment(truth.attempted, names) if truth.attempted else None,
            running=VersionAt.of_moment(truth.running or Moment(None, None), names),
            last_healthy=AssignmentOut.of_version(healthy[0].assignment) if healthy else None,
            override=OverrideOut.of_override(known.override, names) if known.override else None,
            move_allowed_until=known.seen.instance.orders.move_allowed(clock.now()),
            cut_off_at=known.seen.instance.orders.cut_off_at,
            set_labels=known.seen.instance.orders.labels,
            moved_to=known.seen.instance.orders.moved_to,
            orders=[OrderOut.of_order(order) for order in known.orders],
            health=HealthOut.of_known(known),
            variables_revision=known.seen.instance.variables_revision,
        )


class MoveOut(BaseModel):
    """Until when the next host that reports under the instance's uid may take its place."""

    move_allowed_until: Time


class HappenedOut(Answer):
    """An event of a host, and what was so after it: its `state`, and what was `running`, null if nothing or not known.

    `version` is what the event is about, `reason` says why it failed. The others belong to single events: `drifted` are
    the top-level keys that are changed on the host, `exits` how often its collector ended, `deployment_id` the group to
    which it moved. `until`, `by` and `message` are those of an override, `left_out` how many events were not written.
    `program_version` is that of the collector or supervisor that changed, or was to, `configuration` the SHA-256 of the
    configuration, without secrets, that an observed collector reports to run.
    """

    at: Time
    event: InstanceEvent
    state: InstanceState
    running: VersionAt | None
    version: VersionOut | None
    reason: str | None
    drifted: list[str] | None
    exits: int | None
    deployment_id: str | None
    until: Time | None
    by: PrincipalOut | None
    message: str | None
    left_out: int | None
    program_version: str | None
    variables_revision: int | None
    configuration: str | None

    @classmethod
    def of_listed(cls, listed: ListedEvent) -> "HappenedOut":
        event, names = listed.event, listed.names
        version = VersionOut.model_validate(VersionOut.fields_of(event.version, names)) if event.version else None
        running = VersionAt.of_moment(event.running, names) if event.running else None
        return HappenedOut.of(event, running=running, version=version, by=event.actor)


class ThenOut(BaseModel):
    """The instance at the time `at`: after the event `last`, the last one until that time.

    The state is that of the host's last message. If it was not heard for long, it is `silent`, `stale` or `unknown`.
    `covered` is false if it changed so often then that not all was recorded: state and version may be others.
    """

    at: Time
    state: InstanceState
    running: VersionAt | None
    last: HappenedOut
    covered: bool

    @classmethod
    def of(cls, then: Then) -> Self:
        last = HappenedOut.of_listed(then.last)
        return cls(at=then.at, state=then.state, running=last.running, last=last, covered=then.covered)

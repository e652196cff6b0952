"""Rollouts: what is to run, how far they are, and why they stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal

from headgate.deployments.running import NOBODY, RolloutPlace
from headgate.deployments.versions import NamedVersion
from headgate.foundation import errors
from headgate.foundation.principal import Principal
from headgate.rollouts.strategy import Gates, Strategy

Status = Literal[
    "in_progress",
    "paused",
    "waiting_for_approval",
    "halted",
    "rolling_back",
    "rolled_back",
    "completed",
    "aborted",
    "superseded",
]
Gate = Literal[
    "apply_failed",
    "crash_loop",
    "silent",
    "left",
    "restarts",
    "send_failed",
    "refused",
    "queue_growth",
    "throughput_drop",
    "delivery",
    "not_judged",
    "memory_growth",
    "cpu_growth",
    "max_unavailable",
    "rollback_failed",  # it was to go back, and did not
]
FINAL: Final[frozenset[Status]] = frozenset({"rolled_back", "completed", "aborted", "superseded"})
MOST_STEPS: Final = 20
_WAY_OUT: Final = {
    "final": ". It has ended: begin another with `headgate rollout start`",
    "rolling_back": ". Wait until its hosts went back, with `headgate rollout watch`, and begin another",
}
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class RolloutNotFound(errors.NotFound):
    """The group has no such rollout."""

    code = "rollout_not_found"
    detail = "No such rollout"


class NotNow(errors.Conflict):
    """The status does not allow the act. The message says which do."""

    code = "rollout_status"

    def __init__(self, status: Status, act: str, allowed: Sequence[Status]) -> None:
        *others, last = (each.replace("_", " ") for each in allowed)
        needs = f"{', '.join(others)} or {last}" if others else last
        message = f"The rollout is {status.replace('_', ' ')}; {act} needs it to be {needs}"
        super().__init__(message + _WAY_OUT.get("final" if status in FINAL else status, ""))


class NothingDelivered(errors.Conflict):
    """The version throws away what the one before delivers, and the gate on that is on."""

    code = "nothing_delivered"

    def __init__(self, signals: Sequence[str], n: int) -> None:
        super().__init__(
            f"Version {n} has no exporter that delivers {' and '.join(signals)}, as the version before has. If that is "
            "what you want, switch the gate `delivery` off"
        )


class OwnRollout(errors.Forbidden):
    """An approval is another person's."""

    code = "own_rollout"
    detail = "You started this rollout, or hold the token that did: another member has to approve it"


class AdminHasToApprove(errors.Forbidden):
    """The people behind the token that started the rollout are not known."""

    code = "admin_has_to_approve"
    detail = (
        "A token whose creator was not recorded started this rollout: an Admin has to approve it. Tokens created "
        "from now on record theirs"
    )


class TokenCannotApprove(errors.Forbidden):
    """An approval is a person's."""

    code = "token_cannot_approve"
    detail = "A token cannot approve a rollout: a person who is signed in has to"


@dataclass(frozen=True, slots=True)
class Order:
    """A request for a rollout. Without `configuration_id` it is the configuration that the group runs.

    `variables_revision` is that of the group's stored variables to move hosts to, None for those that they have.
    With `accept_differences` a group's first version may be another one than its hosts run.
    """

    version_number: int
    configuration_id: str | None
    strategy: Strategy
    gates: Gates
    message: str | None = None
    upgrade_collector: bool = False
    variables_revision: int | None = None
    accept_differences: bool = False


@dataclass(frozen=True, slots=True)
class RolloutHosts:
    """Instances of the group that report: all, those that are to run the new version, and how those fare.

    Those that are `not_moved` are none of the others: Headgate cannot bring them its collector or variables.
    """

    total: int
    due: int
    applied: int
    failed: int
    not_moved: int = 0


@dataclass(frozen=True, slots=True)
class NotMoved:
    """An instance that a person has to upgrade or install again; `message` says how."""

    instance_id: str
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The collector that a rollout brings, and the one before; None is what was installed on each host."""

    version: str
    before: str | None


@dataclass(frozen=True, slots=True)
class VariablesChange:
    """The revision of the group's variables that a rollout brings, and the one before; None is that of each install.

    `names` are the variables that it sets, changes or removes; after an install, all that the revision has or removed.
    """

    revision: int
    before: int | None
    names: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class HostFailure:
    """The reason why a gate counts an instance. `message` may quote its host."""

    instance_id: str
    gate: Gate
    message: str


@dataclass(frozen=True, slots=True)
class Rates:
    """Medians of several instances, in items of telemetry in 1,000 s; None if too few report them.

    `delivered` is by signal, without those that too few report. `memory` is in MiB, `cpu` in milliseconds in 1,000 s.
    """

    accepted: int | None = None
    sent: int | None = None
    delivered: Mapping[str, int] = field(default_factory=dict)
    memory: int | None = None
    cpu: int | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """A step that began, by its number from 1, and the cut before it."""

    step: int
    previous: RolloutPlace


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a rollout. `begun` are its steps so far, without those that would have added no instance.

    `awaits` is the last step whose approval is awaited, `approved` the last one that was approved. `target` is the cut
    that the last begun step is to reach, `grown_at` when the cut last changed, and `soaking_since` when every instance
    of the step had applied the version or failed to. `rates` are those of the instances that were not due when the step
    began. `ticked_at` is when it was last judged, and `awake_since` when judging began again after an interruption, in
    which hosts may have had nobody to report to.
    """

    begun: Sequence[Begun] = ()
    awaits: int = 0
    approved: int = 0
    grown_at: datetime = _NEVER
    soaking_since: datetime | None = None
    promoted: bool = False
    target: RolloutPlace = NOBODY
    rates: Rates = Rates()
    ticked_at: datetime | None = None
    awake_since: datetime = _NEVER

    @property
    def step(self) -> int:
        """The number of the step under way; 0 before the first one began."""
        return self.begun[-1].step if self.begun else 0

    def step_of(self, place: RolloutPlace) -> int:
        """The number of the step that an instance at this place came with; 0 if its step has not begun."""
        return next((begun.step for begun in reversed(self.begun) if place > begun.previous), 0)

    @property
    def previous(self) -> RolloutPlace:
        return self.begun[-1].previous if self.begun else NOBODY


@dataclass(frozen=True, slots=True)
class Rollout:
    """One change of what a group runs. `before` is what it ran, `to` what it is to run; None is nothing.

    One without a strategy was assigned at once: it was completed when it was made. `ends_as` is the status that follows
    `rolling_back`. `reason` is Headgate's own text of why it is where it is, `notes` what could not be judged.
    `not_moved` are the first of the instances whose collectors it cannot upgrade. `started_by` are the ids of the
    people behind the credential that started it, as of then; None if that is not known.
    """

    id: str
    organization_id: str
    fleet_id: str
    deployment_id: str
    to: NamedVersion | None
    before: NamedVersion | None
    strategy: Strategy | None
    gates: Gates | None
    message: str | None
    status: Status
    created_by: Principal
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None
    progress: Progress = Progress()
    hosts: RolloutHosts | None = None
    reason: str | None = None
    notes: Sequence[str] = ()
    failures: Sequence[HostFailure] = ()
    upgrade: Upgrade | None = None
    not_moved: Sequence[NotMoved] = ()
    ends_as: Status | None = None
    started_by: Sequence[str] | None = None
    revision: int = 1
    variables: VariablesChange | None = None

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    @property
    def people(self) -> frozenset[str] | None:
        """The ids of the people behind its start, who may not approve it; None if they are not known."""
        return None if self.started_by is None else frozenset(self.started_by)

    @property
    def not_back(self) -> Sequence[HostFailure]:
        """The first of the instances that were to go back and did not."""
        return [failure for failure in self.failures if failure.gate == "rollback_failed"]


@dataclass(frozen=True, slots=True)
class Tick:
    """The result of a judgement: whether the rollout has ended, and when to judge it again."""

    done: bool
    wait_seconds: int = 0


@dataclass(frozen=True, slots=True)
class RolloutExecution:
    """An execution of the state machine of rollouts, by its name, and the rollout that it carries out."""

    name: str
    fleet_id: str
    deployment_id: str
    rollout_id: str

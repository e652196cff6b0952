"""Requests and answers of the endpoints of rollouts."""

import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from fleets.api.deployments_wire import Message, Number, ReachOut, WarningOut, warnings_of
from fleets.api.instances_wire import VersionOut
from fleets.api.wire import LabelKey, LabelValue
from headgate.deployments.assignments import CheckedAssignment
from headgate.deployments.versions import NamedVersion
from headgate.http.wire import Answer, ConfigurationId, PrincipalOut
from headgate.instances.reported.suitability import Unsuited
from headgate.rollouts.model import MOST_STEPS, Gate, Order, Rollout, Status
from headgate.rollouts.reach import Reach
from headgate.rollouts.strategy import ChangeWindow, Gates, OnFailure, Preset, RolloutStep, Strategy, preset
from headgate_engine.wire.inputs import Input
from headgate_engine.wire.times import Time

_WEEK: Final = 7 * 24 * 3_600
_MOST_HOSTS: Final = 100_000
_MOST_CANARY_LABELS: Final = 8
_MOST_REVISIONS: Final = 99_999_999
# Names that mean something else, or nothing, where the rollout is carried out.
_OF_THIS_MACHINE: Final = re.compile(r"localtime$|posixrules$|Factory$|posix/|right/")


def _time_zone(value: str) -> str:
    try:
        if _OF_THIS_MACHINE.match(value):
            raise KeyError
        ZoneInfo(value)
    except (KeyError, OSError, ValueError) as error:
        raise ValueError("This is not a time zone; give a name such as Europe/Berlin or UTC") from error
    return value


Clock = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
TimeZone = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9_+/-]+$"), AfterValidator(_time_zone)]
Percent = Annotated[int, Field(ge=1, le=100)]
Tolerance = Annotated[int, Field(ge=0, le=100)]
Growth = Annotated[int, Field(ge=0, le=10_000)]
Labels = Annotated[dict[LabelKey, LabelValue], Field(min_length=1, max_length=_MOST_CANARY_LABELS)]


class StepIn(Input):
    """One of `hosts`, `percent` and `canaries` (all instances with the canaries' labels) says how far the step goes.

    A percentage is rounded down, and every step has at least one instance. One that adds none is left out.
    `soak_seconds` count from when all of them run the version or have failed to. With `approval`, the step waits until
    another person approves it; if the step is left out, the next step waits for that, or the end of the rollout.
    """

    hosts: Annotated[int, Field(ge=1, le=_MOST_HOSTS)] | None = None
    percent: Percent | None = None
    canaries: Literal[True] | None = None
    soak_seconds: Annotated[int, Field(ge=0, le=_WEEK)] = 600
    approval: bool = False

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if sum(size is not None for size in (self.hosts, self.percent, self.canaries)) != 1:
            raise ValueError("A step needs exactly one of hosts, percent and canaries")
        return self

    def step(self) -> RolloutStep:
        return RolloutStep(self.soak_seconds, self.hosts, self.percent, self.canaries is True, self.approval)


class WindowIn(Input):
    """Hours of each day in which steps begin, from `start` until before `end` (`22:00` to `05:00` is a night)."""

    start: Clock
    end: Clock
    time_zone: TimeZone

    @model_validator(mode="after")
    def _some_hours(self) -> Self:
        if self.start == self.end:
            raise ValueError("`start` and `end` are the same; leave the window out to begin steps at any time")
        return self


class StrategyIn(Input):
    """`preset` or `steps`; the default is the preset `canary`. The last step is `{"percent": 100}`.

    Instances with all of the labels `canaries` come first; with a preset, they are its first step. At most
    `max_unavailable` instances change at once. `on_failure` is what happens when a gate fails: the step goes back to
    the version before, or the whole rollout does, or the rollout only halts.
    """

    preset: Preset | None = None
    steps: Annotated[list[StepIn], Field(min_length=1, max_length=MOST_STEPS)] | None = None
    canaries: Labels | None = None
    max_unavailable: Annotated[int, Field(ge=1, le=_MOST_HOSTS)] | None = None
    window: WindowIn | None = None
    on_failure: OnFailure = "roll_back_step"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.preset and self.steps:
            raise ValueError("Give preset or steps, not both")
        for index, step in enumerate(self.steps or []):
            if step.canaries and (index > 0 or not self.canaries):
                raise ValueError("A step of canaries is the first step, and needs the canaries' labels: canaries")
            if (step.percent == 100) != (index == len(self.steps or []) - 1):
                raise ValueError("The last step, and no other one, is of 100 percent")
        for size in ("hosts", "percent"):
            sizes = [value for step in self.steps or [] if (value := getattr(step, size)) is not None]
            if sizes != sorted(set(sizes)):
                raise ValueError(f"Each step has to be larger than the ones before; look at {size}")
        return self

    def strategy(self) -> Strategy:
        canaries = self.canaries or {}
        steps = [step.step() for step in self.steps] if self.steps else preset(self.preset or "canary", canaries)
        window = ChangeWindow(self.window.start, self.window.end, self.window.time_zone) if self.window else None
        return Strategy(steps, canaries, self.max_unavailable, window, self.on_failure)


class GatesIn(Input):
    """Gates that stop a rollout if more than `tolerated_percent` of a step's instances fail them; null or false is off.

    `apply_failed`: the version could not be applied, or not within five minutes. `crash_loop`: it was applied, and
    failed later. `silent`: nothing is heard. `left`: more instances than that stopped or left the group after they got
    the version, before they were well for their soak. `restarts`: the collector ended more often by itself since then.
    `send_failed`, `refused` and `queue_growth` are percent points above what the same instance had before, and above
    the median of those that are not due; `throughput_drop` is in percent of what the same instance took in, or
    delivered of a signal. `delivery`: what is sent goes to exporters that deliver nothing, such as `debug`, and went to
    others before. `not_judged`: the instance reported what it counts before, and ceased to. `memory_growth` and
    `cpu_growth` are in percent of what its collector used before.
    """

    tolerated_percent: Tolerance = 2
    apply_failed: bool = True
    crash_loop: bool = True
    silent: bool = True
    left: Annotated[int, Field(ge=0, le=_MOST_HOSTS)] | None = 0
    restarts: Annotated[int, Field(ge=0, le=1_000)] | None = 1
    send_failed: Tolerance | None = 5
    refused: Tolerance | None = 5
    queue_growth: Tolerance | None = 25
    throughput_drop: Tolerance | None = 50
    delivery: bool = True
    not_judged: bool = True
    memory_growth: Growth | None = 100
    cpu_growth: Growth | None = 200


class StartRollout(Input):
    """Without `configuration_id`, a version of the configuration that the group runs.

    `upgrade_collector` also moves the hosts to the collector that the version is for, wherever Headgate can.
    `variables_revision` moves them to that revision of the group's stored variables: the newest, or one from before.
    `accept_differences` starts the first version of a group that was observed although hosts run something else.
    """

    version_number: Number
    configuration_id: ConfigurationId | None = None
    strategy: StrategyIn = Field(default_factory=StrategyIn)
    gates: GatesIn = Field(default_factory=GatesIn)
    message: Message | None = None
    upgrade_collector: bool = False
    variables_revision: Annotated[int, Field(ge=1, le=_MOST_REVISIONS)] | None = None
    accept_differences: bool = False

    def order(self) -> Order:
        gates = Gates(**self.gates.model_dump())
        return Order(**dict(self) | {"strategy": self.strategy.strategy(), "gates": gates})


class RolloutStepOut(Answer):
    hosts: int | None
    percent: int | None
    canaries: bool
    soak_seconds: int
    approval: bool


class WindowOut(Answer):
    start: str
    end: str
    time_zone: str


class StrategyOut(Answer):
    """With the steps of a preset."""

    steps: list[RolloutStepOut]
    canaries: dict[str, str]
    max_unavailable: int | None
    window: WindowOut | None
    on_failure: OnFailure


class GatesOut(Answer):
    tolerated_percent: int
    apply_failed: bool
    crash_loop: bool
    silent: bool
    left: int | None
    restarts: int | None
    send_failed: int | None
    refused: int | None
    queue_growth: int | None
    throughput_drop: int | None
    delivery: bool
    not_judged: bool
    memory_growth: int | None
    cpu_growth: int | None


class HostsOut(Answer):
    """Instances of the group that report: all of them, those that are to run the version, and how these fare.

    Those that are `not_moved` are not among them: Headgate cannot bring them the collector or the variables.
    """

    total: int
    due: int
    applied: int
    failed: int
    not_moved: int


class UpgradeOut(Answer):
    """The collector version that a rollout brings, and the one before, null for what was installed on each host."""

    version: str
    before: str | None


class VariablesChangeOut(Answer):
    """The revision of the group's variables that a rollout brings, and the one before, null for each install's.

    `names` are the variables that it sets, changes or removes, never their values.
    """

    revision: int
    before: int | None
    names: list[str]


class NotMovedOut(Answer):
    """An instance that waits until a person upgrades or installs it; `message` has the command."""

    instance_id: str
    name: str
    message: str


class FailureOut(Answer):
    """An instance that a gate counts, and why; the message may quote what the host says."""

    instance_id: str
    gate: Gate
    message: str


class RolloutOut(VersionOut):
    """A rollout. `step` is the number of the step under way, 0 before the first; `reason` why the rollout waits or
    stopped, `notes` what could not be judged, `failures` up to ten instances that a gate counts, before them up to ten
    that did not go back to the version before (gate `rollback_failed`). `collector` is null
    for one that moves no collectors, `variables` for one that changes none, `not_moved` up to twenty instances that
    Headgate cannot bring these to.

    An assignment at once has neither strategy nor gates, and no `hosts`: `reach` says how many of the group's instances
    run it. Its status is `completed` from the start.
    """

    id: str
    from_: Annotated[VersionOut, Field(alias="from")]
    strategy: StrategyOut | None
    gates: GatesOut | None
    message: str | None
    status: Status
    step: int
    hosts: HostsOut | None
    reach: ReachOut | None
    reason: str | None
    notes: list[str]
    failures: list[FailureOut]
    collector: UpgradeOut | None
    variables: VariablesChangeOut | None
    not_moved: list[NotMovedOut]
    created_by: PrincipalOut
    created_at: Time
    updated_at: Time
    finished_at: Time | None

    @classmethod
    def of_rollout(cls, rollout: Rollout, reach: Reach | None = None, **more: object) -> Self:
        return cls.of(
            rollout,
            reach=reach,
            **_named(rollout.to),
            from_=VersionOut.model_validate(_named(rollout.before)),
            step=rollout.progress.step,
            collector=rollout.upgrade,
            **more,
        )


class RolloutStarted(RolloutOut):
    """With the collector's findings in the version, and differences that were accepted: none prevents the rollout."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    warnings: list[WarningOut] = Field(default_factory=list)

    @classmethod
    def of_start(cls, rollout: Rollout, check: CheckedAssignment, differing: Sequence[Unsuited]) -> Self:
        return cls.of_rollout(rollout, warnings=warnings_of(check, differing))


def _named(version: NamedVersion | None) -> dict[str, str | int | None]:
    if version is None:
        return VersionOut.fields_of(None, {})
    assignment, name = version.assignment, version.configuration_name
    return VersionOut.fields_of(assignment, {} if name is None else {assignment.configuration_id: name})

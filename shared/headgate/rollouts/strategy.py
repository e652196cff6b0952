"""The strategy of a rollout: its steps, the first hosts, its window, and the gates that stop it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from zoneinfo import ZoneInfo

Preset = Literal["canary", "careful", "fast", "all_at_once"]
OnFailure = Literal["roll_back_step", "roll_back", "halt"]


@dataclass(frozen=True, slots=True)
class RolloutStep:
    """Up to so many instances of the group run the new version; exactly one of `hosts`, `percent`, `canaries` is given.

    The step lasts `soak_seconds` from when they run it. With `approval` somebody else has to agree before it begins.
    """

    soak_seconds: int
    hosts: int | None = None
    percent: int | None = None
    canaries: bool = False
    approval: bool = False

    def share(self, total: int, canaries: int) -> int:
        """The number of instances, of `total` of which `canaries` have the labels.

        At least one. A percentage is rounded down: 10 % of 2 is the least that a step can be, not more.
        """
        if self.hosts is not None:
            return min(self.hosts, total)
        if self.percent is not None:
            return max(1, total * self.percent // 100)
        return max(1, canaries)

    @property
    def is_last(self) -> bool:
        return self.percent == 100


@dataclass(frozen=True, slots=True)
class ChangeWindow:
    """Hours of each day, such as 22:00 to 05:00, on the clocks of a time zone."""

    start: str
    end: str
    time_zone: str

    def is_open(self, at: datetime) -> bool:
        now = at.astimezone(ZoneInfo(self.time_zone)).strftime("%H:%M")
        if self.start < self.end:
            return self.start <= now < self.end
        return now >= self.start or now < self.end


@dataclass(frozen=True, slots=True)
class Strategy:
    """Instances with all of the labels `canaries` come first. At most `max_unavailable` change at once; None: any.

    A step begins only in the `window`. `on_failure`: take back the step that failed, or the whole rollout, or only
    halt.
    """

    steps: Sequence[RolloutStep]
    canaries: Mapping[str, str] = field(default_factory=dict)
    max_unavailable: int | None = None
    window: ChangeWindow | None = None
    on_failure: OnFailure = "roll_back_step"


@dataclass(frozen=True, slots=True)
class Gates:
    """Gates on instances with the new version; None or False switches a gate off.

    More than `tolerated_percent` of a step's instances that do stop the rollout. `restarts` of the collector are
    counted from when it ran the version. Up to `left` instances may leave after they were told to run it and before
    they were well for their soak. `delivery`: what an instance sends goes to exporters that deliver, as before.
    `not_judged`: an instance goes on reporting what it counts. The others are in percent, or percent points, beyond
    what the same instance had before and beyond what the instances have that are not due yet.
    """

    tolerated_percent: int = 2
    apply_failed: bool = True
    crash_loop: bool = True
    silent: bool = True
    left: int | None = 0
    restarts: int | None = 1
    send_failed: int | None = 5
    refused: int | None = 5
    queue_growth: int | None = 25
    throughput_drop: int | None = 50
    delivery: bool = True
    not_judged: bool = True
    memory_growth: int | None = 100
    cpu_growth: int | None = 200


_MINUTE: Final = 60
# A collector that ends three times within ten minutes is a crash loop.
_SOAK: Final = 10 * _MINUTE

PRESETS: Final[Mapping[Preset, Sequence[RolloutStep]]] = {
    "canary": (
        RolloutStep(_SOAK, hosts=1),
        RolloutStep(_SOAK, percent=10),
        RolloutStep(_SOAK, percent=50),
        RolloutStep(_SOAK, percent=100),
    ),
    "careful": (
        RolloutStep(60 * _MINUTE, hosts=1),
        RolloutStep(60 * _MINUTE, percent=5),
        RolloutStep(60 * _MINUTE, percent=25, approval=True),
        RolloutStep(60 * _MINUTE, percent=50),
        RolloutStep(60 * _MINUTE, percent=100),
    ),
    "fast": (RolloutStep(2 * _MINUTE, percent=10), RolloutStep(2 * _MINUTE, percent=100)),
    "all_at_once": (RolloutStep(5 * _MINUTE, percent=100),),
}


def preset(name: Preset, canaries: Mapping[str, str]) -> Sequence[RolloutStep]:
    """The steps of a preset. With labels of canaries, all that have them are the first step."""
    first, *others = PRESETS[name]
    if not canaries or not others:
        return PRESETS[name]
    return (RolloutStep(first.soak_seconds, canaries=True), *(step for step in others))

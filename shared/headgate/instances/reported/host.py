"""Reports of our supervisor beyond OpAMP: the host's name, changes by hand, the collector's health.

`opamp.host_reports` reads it from the custom message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final, Literal, get_args

from headgate.instances.series.model import Totals

Order = Literal["restart", "retry", "components", "upgrade_supervisor"]
Ability = Literal[Order, "upgrade_collector", "capture", "renew_token", "variables"]
ABILITIES: Final[tuple[Ability, ...]] = get_args(Ability)
Platform = Literal["linux", "docker", "kubernetes", "windows", "macos"]
MOST_LABELS: Final = 64
GATES_LABEL: Final = "headgate.feature-gates"
"""The label by which a supervisor tells the gates that it starts its collector with, with commas between them."""
LARGEST_NAMES: Final = 4 << 10
"""Bytes of a host's name and labels as JSON, for which a report has room."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """One exporter's counts of the interval; `queue` is the fill of its sending queue, from 0 to 1."""

    sent: int
    failed: int
    queue: float


@dataclass(frozen=True, slots=True)
class HostCounters:
    """The collector's counts of `seconds`: log records, spans and data points together.

    `delivered` is what it sent by signal, without what went to exporters that deliver nothing; `memory` is in bytes,
    `cpu` in milliseconds of processor time. They are None for older supervisors.
    """

    seconds: int
    accepted: int
    refused: int
    sent: int
    failed: int
    dropped: int
    queue: float
    exporters: Mapping[str, Exporter] = field(default_factory=dict)
    delivered: Mapping[str, int] | None = None
    memory: int | None = None
    cpu: int | None = None


@dataclass(frozen=True, slots=True)
class CrashLoop:
    """A configuration that ended the collector again and again, by the SHA-256 in hex of its text, and how often."""

    text_hash: str
    exits: int


@dataclass(frozen=True, slots=True)
class ReportedHost:
    """All that is known of a host. None: it never said, as hosts with an older supervisor.

    `text_hash` is the SHA-256 in hex of the assigned text that runs, empty for nothing; `drifted` are the top-level
    keys that somebody changed on the host; `exits` how often the collector ended since the last apply, `last_exits`
    when; `can` are the orders that its supervisor understands, and what else it can; `platform` is how it was
    installed; `components` is the hash of the list of its collector's components; `variables` is the digest of the
    revision in the environment of the process that runs, empty for those of its install. Counters are not compared,
    since they always move.
    """

    supervisor_version: str | None = None
    name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    text_hash: str | None = None
    drifted: Sequence[str] | None = None
    exits: int | None = None
    last_exits: Sequence[str] = ()
    crash_loop: CrashLoop | None = None
    can: Sequence[Ability] = ()
    platform: Platform | None = None
    components: str | None = None
    counters: HostCounters | None = field(default=None, compare=False)
    variables: str | None = None

    @property
    def is_ours(self) -> bool:
        """True if our supervisor reports it, which runs nothing but what it is sent."""
        return self.supervisor_version is not None


UNKNOWN: Final = ReportedHost()


@dataclass(frozen=True, slots=True)
class HostReport:
    """One report. A field that is None has not changed since the one before.

    `done` are ids of orders that were carried out, `failed` those that were not, and why. `component_list` has the
    names behind the hash `components`, `totals` is what was counted since the supervisor's start, and
    `collector_version` is that of the process that runs. `uninstalled`: a person removes it, and it does not come back.
    """

    supervisor_version: str | None = None
    name: str | None = None
    labels: Mapping[str, str] | None = None
    text_hash: str | None = None
    drifted: Sequence[str] | None = None
    exits: int | None = None
    last_exits: Sequence[str] | None = None
    crash_loop: CrashLoop | None = None
    can: Sequence[Ability] | None = None
    platform: Platform | None = None
    components: str | None = None
    counters: HostCounters | None = None
    totals: Totals | None = None
    collector_version: str | None = None
    done: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    component_list: Sequence[str] | None = None
    uninstalled: bool = False
    variables: str | None = None

    def after(self, before: ReportedHost) -> ReportedHost:
        """Merge this report into the host."""
        known = before
        # A report with the supervisor's version is a full one: what it leaves out is not so any more.
        if self.supervisor_version is not None:
            known = replace(
                before, name=self.name, labels=self.labels or {}, crash_loop=None, can=self.can or (), platform=None
            )
        news = {name: value for name in _KEPT if (value := getattr(self, name)) is not None}
        return replace(known, **news)


_KEPT: Final = [each.name for each in fields(ReportedHost) if each.name not in ("name", "labels")]

"""Reports of an agent: one message, as this service reads it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from headgate.instances.orders.captured import CaptureNews
from headgate.instances.reported.components import AvailableComponents, ReportedBuild
from headgate.instances.reported.effective import Effective, RedactedText
from headgate.instances.reported.health_tree import HealthTree, TreeNote
from headgate.instances.reported.host import UNKNOWN, HostReport, ReportedHost
from headgate.instances.series.model import Totals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headgate.deployments.programs import Program
    from headgate.deployments.versions import VariablesRevision

Status = Literal["unset", "applying", "applied", "failed"]
Cause = Literal["version", "killed", "host", "unclear"]
"""Causes of a failed config: itself; its collector was killed; the host could not try it; or unknown."""


_BRIDGE: Final = "io.opentelemetry.operator-opamp-bridge"


@dataclass(frozen=True, slots=True)
class HostDescription:
    """The agent's description of its host; each text unchanged, cut to length."""

    host_name: str | None = None
    os: str | None = None
    arch: str | None = None
    collector_version: str | None = None
    distribution: str | None = None

    @property
    def is_bridge(self) -> bool:
        """True for the Kubernetes operator's bridge, which reports collectors of a cluster.

        It deletes collectors that an offer leaves out, and replaces resources as a whole: it must be offered nothing.
        """
        return self.distribution == _BRIDGE


@dataclass(frozen=True, slots=True)
class Health:
    healthy: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class AgentReport:
    """One message of an agent. A field that is None has not changed since the previous message.

    `cause` is why the config in it failed, None if it did not. `files` are its effective configuration as it came,
    which may hold secrets, and `effective` is the same without them. `health_tree` comes with `health`, if at all.
    `available` is what the program of an agent that is not ours can run. `config_name` is the name of the one file of
    its effective configuration, empty if it has none.
    """

    uid: bytes
    sequence_num: int
    accepts_config: bool
    takes_interval: bool
    description: HostDescription | None = None
    health: Health | None = None
    config: ReportedConfig | None = None
    cause: Cause | None = None
    full: bool = False
    wants_uid: bool = False
    leaves: bool = False
    host: HostReport | None = None
    capture: CaptureNews | None = None
    files: Mapping[str, bytes] | None = field(default=None, repr=False)
    effective: RedactedText | None = None
    health_tree: HealthTree | None = None
    available: AvailableComponents | None = None
    config_name: str | None = None

    @property
    def quotes(self) -> bool:
        """True if it has words of the host that may quote what it was given."""
        of_host = self.host.failed if self.host else {}
        of_parts = any(part.error for part in self.health_tree.parts) if self.health_tree else False
        of_capture = self.capture.error if self.capture else ""
        words = (self.config and self.config.message) or (self.health and self.health.error)
        return bool(words or of_host or of_parts or of_capture)


@dataclass(frozen=True, slots=True)
class ReportedConfig:
    """The config that the agent received last. `config_hash` is in hex, empty if it never received one."""

    config_hash: str
    status: Status
    message: str = ""


UNDESCRIBED: Final = HostDescription()
NEVER_CONFIGURED: Final = ReportedConfig("", "unset")


@dataclass(frozen=True, slots=True)
class Reported:
    """The last report of an instance about itself, its host and its collector.

    `accepts_remote_config` is what its agent can, `accepts_config` whether it also gets configurations from its group.
    `applying_since`: when it began to apply what it reports to be applying. `stopped`: its supervisor was shut down and
    said so; `uninstalled`: a person did that for good. `config_name` is what it calls its configuration, under which
    it takes another. `totals` are its newest ones; they always move, so that they
    are not compared, and they stay when a message says nothing of its host.
    """

    description: HostDescription = UNDESCRIBED
    accepts_config: bool = False
    health: Health | None = None
    config: ReportedConfig = NEVER_CONFIGURED
    applying_since: datetime | None = None
    stopped: bool = False
    uninstalled: bool = False
    host: ReportedHost = UNKNOWN
    effective: Effective | None = None
    health_tree: TreeNote | None = None
    build: ReportedBuild | None = None
    accepts_remote_config: bool = False
    config_name: str = ""
    totals: Totals | None = field(default=None, compare=False)

    @property
    def resolves(self) -> bool:
        """True if it reports values in the place of references. An agent that names its file reports it as written."""
        return not self.config_name

    @property
    def name(self) -> str | None:
        """The label of the host, else its own name."""
        return self.host.name or self.description.host_name

    @property
    def components(self) -> str | None:
        """The hash of the list of its collector's components, None if it is not known."""
        return self.host.components or (self.build.components if self.build else None)

    @property
    def is_healthy(self) -> bool:
        return self.health is not None and self.health.healthy

    def can_take(self, report: AgentReport) -> bool:
        """True if the agent of the message takes configurations that Headgate can send it."""
        return report.accepts_config and not (report.description or self.description).is_bridge

    def runs_collector(self, collector: Program) -> bool:
        """True if it reports to run that version of the collector."""
        return self.description.collector_version == collector.version

    def runs_variables(self, variables: VariablesRevision | None) -> bool:
        """True if the process that its host sees has that revision in its environment, None for none of them."""
        return (self.host.variables or "") == (variables.digest if variables else "")

    def after(self, report: AgentReport, at: datetime, *, late: bool, sends: bool) -> Reported:
        """Merge a message into the report. `late`: it was sent before the one which said that the supervisor stops.

        `sends` is True if its group sends it configurations.
        """
        said, description = report.host, report.description or self.description
        if said and said.collector_version:
            # What the host saw of the process that runs.
            description = replace(description, collector_version=said.collector_version)
        config, takes = report.config or self.config, self.can_take(report)
        applying_since = self.applying_since if config == self.config else at
        # A supervisor that reports its host does so in every full message: this one was replaced by one that does not.
        silent_host = UNKNOWN if report.full else self.host
        health_tree = None if report.health else self.health_tree
        if report.health_tree:
            health_tree = TreeNote.after(self.health_tree, report.health_tree, at)
        build = None if report.full else self.build
        if report.available:
            build = ReportedBuild.after(self.build, report.available, at)
        return Reported(
            description=description,
            accepts_config=takes and sends,
            accepts_remote_config=takes,
            # What it said before says nothing of a collector that is late to become healthy.
            health=report.health or (None if report.cause == "unclear" else self.health),
            config=config,
            applying_since=applying_since if config.status == "applying" else None,
            stopped=report.leaves or late,
            uninstalled=(late and self.uninstalled) or (report.leaves and said is not None and said.uninstalled),
            host=said.after(self.host) if said else silent_host,
            effective=Effective.after(self.effective, report.effective, at) if report.effective else self.effective,
            health_tree=health_tree,
            build=build,
            config_name=self.config_name if report.config_name is None else report.config_name,
            totals=self._totals(report),
        )

    def _totals(self, report: AgentReport) -> Totals | None:
        now = report.host.totals if report.host else None
        if now is None or (self.totals and not now.follows(self.totals, starts=report.sequence_num == 0)):
            return self.totals
        return now


NOTHING_REPORTED: Final = Reported()

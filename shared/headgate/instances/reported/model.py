"""What an agent reports: one message of it, as this service reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from headgate.instances.orders.captured import CaptureNews
from headgate.instances.reported.host import HostReport

Status = Literal["unset", "applying", "applied", "failed"]
Cause = Literal["version", "killed", "host", "unclear"]
"""Why a config failed: by itself; its collector was killed; the host could not try it; or nobody knows."""


@dataclass(frozen=True, slots=True)
class Description:
    """What the agent reports of its host; each text unchanged, cut to length."""

    host_name: str | None = None
    os: str | None = None
    arch: str | None = None
    collector_version: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    healthy: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One message of an agent. A field that is None has not changed since the previous message.

    `cause` is why the config in it failed, None if it did not.
    """

    uid: bytes
    sequence_num: int
    accepts_config: bool
    takes_interval: bool
    description: Description | None = None
    health: Health | None = None
    config: ReportedConfig | None = None
    cause: Cause | None = None
    full: bool = False
    wants_uid: bool = False
    leaves: bool = False
    host: HostReport | None = None
    capture: CaptureNews | None = None


@dataclass(frozen=True, slots=True)
class ReportedConfig:
    """The config that the agent received last. `config_hash` is in hex, empty if it never received one."""

    config_hash: str
    status: Status
    message: str = ""


UNDESCRIBED: Final = Description()
NEVER_CONFIGURED: Final = ReportedConfig("", "unset")

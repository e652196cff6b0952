"""What our supervisor reports of a host beyond OpAMP: its name, what changed by hand, how its collector fares.

Written by layers/supervisor/internal/host. All of it is a stranger's text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

CAPABILITY: Final = "io.headgate.host"
LARGEST: Final = 8 << 10
MOST_LABELS: Final = 64
_NAME: Final = 255
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}")
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}")
_HASH: Final = re.compile(r"[0-9a-f]{64}|")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
_MOST_DRIFTED: Final = 20
_MOST_EXITS: Final = 5
_MOST_EXPORTERS: Final = 16
_MOST: Final = 1 << 53
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Malformed(ValueError):
    """Not such a report. The message names the field."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """What one exporter did in the interval; `queue` is how full its sending queue is, from 0 to 1."""

    sent: int
    failed: int
    queue: float


@dataclass(frozen=True, slots=True)
class Counters:
    """What the collector counted in `seconds`: log records, spans and data points together."""

    seconds: int
    accepted: int
    refused: int
    sent: int
    failed: int
    dropped: int
    queue: float
    exporters: Mapping[str, Exporter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Host:
    """All that is known of a host. None: it never said, as hosts with an older supervisor.

    `text_hash` is the SHA-256 in hex of the assigned text that runs, empty for nothing; `drifted` are the top-level
    keys that somebody changed on the host; `exits` how often the collector ended since the last apply, `last_exits`
    when. Counters are not compared, since they always move.
    """

    supervisor_version: str | None = None
    name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    text_hash: str | None = None
    drifted: Sequence[str] | None = None
    exits: int | None = None
    last_exits: Sequence[str] = ()
    counters: Counters | None = field(default=None, compare=False)


UNKNOWN: Final = Host()


@dataclass(frozen=True, slots=True)
class HostReport:
    """One report. A field that is None has not changed since the one before."""

    supervisor_version: str | None = None
    name: str | None = None
    labels: Mapping[str, str] | None = None
    text_hash: str | None = None
    drifted: Sequence[str] | None = None
    exits: int | None = None
    last_exits: Sequence[str] | None = None
    counters: Counters | None = None

    def after(self, before: Host) -> Host:
        """What is known of the host after this report."""
        # A report with the supervisor's version is a full one.
        full = self.supervisor_version is not None
        known = replace(before, name=self.name, labels=self.labels or {}) if full else before
        news = {
            name: value
            for name in ("supervisor_version", "text_hash", "drifted", "exits", "last_exits", "counters")
            if (value := getattr(self, name)) is not None
        }
        return replace(known, **news)


def decode(data: bytes) -> HostReport:
    """The report in a custom message of a host. Raises Malformed."""
    if len(data) > LARGEST:
        raise Malformed(f"it has {len(data)} bytes")
    try:
        report = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Malformed("it is not JSON") from error
    said = _mapping(report, "the report")
    if said.get("v") != 1:
        raise Malformed("v")
    supervisor, config, exits = (said.get(name) for name in ("supervisor", "config", "exits"))
    return HostReport(
        supervisor_version=_text(_mapping(supervisor, "supervisor").get("version"), _VERSION, "supervisor.version")
        if supervisor is not None
        else None,
        name=_line(said["name"], "name") if "name" in said else None,
        labels=_labels(said["labels"]) if "labels" in said else None,
        text_hash=_text(_mapping(config, "config").get("hash"), _HASH, "config.hash") if config is not None else None,
        drifted=_texts(_mapping(config, "config").get("drifted"), _KEY, _MOST_DRIFTED, "config.drifted")
        if config is not None
        else None,
        exits=_count(_mapping(exits, "exits").get("since_apply"), "exits.since_apply") if exits is not None else None,
        last_exits=_texts(_mapping(exits, "exits").get("last"), _TIME, _MOST_EXITS, "exits.last")
        if exits is not None
        else None,
        counters=_counters(_mapping(said["counters"], "counters")) if "counters" in said else None,
    )


def _counters(said: Mapping[str, object]) -> Counters:
    exporters = _mapping(said.get("exporters", {}), "counters.exporters")
    if len(exporters) > _MOST_EXPORTERS:
        raise Malformed("counters.exporters")
    counts = {name: _count(said.get(name), name) for name in ("accepted", "refused", "sent", "failed", "dropped")}
    return Counters(
        seconds=_count(said.get("seconds"), "counters.seconds"),
        **counts,
        queue=_share(said.get("queue")),
        exporters={_line(name, "exporter"): _exporter(_mapping(one, "exporter")) for name, one in exporters.items()},
    )


def _exporter(said: Mapping[str, object]) -> Exporter:
    return Exporter(_count(said.get("sent"), "sent"), _count(said.get("failed"), "failed"), _share(said.get("queue")))


def _labels(value: object) -> Mapping[str, str]:
    labels = _mapping(value, "labels")
    if len(labels) > MOST_LABELS:
        raise Malformed("labels")
    return {_text(key, _KEY, "labels"): _line(label, "labels") for key, label in labels.items()}


def _mapping(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise Malformed(name)
    return value


def _line(value: object, name: str) -> str:
    if not isinstance(value, str) or len(value) > _NAME or _CONTROL.search(value):
        raise Malformed(name)
    return value


def _text(value: object, form: re.Pattern[str], name: str) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise Malformed(name)
    return value


def _texts(value: object, form: re.Pattern[str], most: int, name: str) -> Sequence[str]:
    if not isinstance(value, list) or len(value) > most:
        raise Malformed(name)
    return tuple(_text(one, form, name) for one in value)


def _count(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise Malformed(name)
    return value


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Malformed("queue")
    return float(value)

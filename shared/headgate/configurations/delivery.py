"""The destinations of a configuration: the exporters of each signal, without those that discard their input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from headgate.configurations.pipelines import components, exporters

DISCARDING: Final[frozenset[str]] = frozenset({"debug", "logging", "nop"})
"""Types of exporters that deliver nothing. The supervisor has the same list, and asks its host where files are."""


def delivering(text: str) -> Mapping[str, Sequence[str]]:
    """The ids of the exporters that deliver, by the signals of the text's pipelines; empty for one without any."""
    connectors = {component for section, component in components(text) if section == "connectors"}
    by_signal: dict[str, list[str]] = {}
    for pipeline, listed in exporters(text).items():
        of_signal = by_signal.setdefault(pipeline.partition("/")[0].strip(), [])
        of_signal += [
            exporter
            for exporter in listed
            if exporter not in connectors and exporter.partition("/")[0].strip() not in DISCARDING
        ]
    return by_signal


def undelivered(before: str, after: str) -> list[str]:
    """The signals that the text before has delivered and this one does not, in alphabetical order."""
    now = delivering(after)
    return sorted(signal for signal, exporters in delivering(before).items() if exporters and not now.get(signal))

"""A report that fits into a function's answer."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from pydantic_core import to_json

from headgate.upgrades.model import FeatureGate, Report

_Entry = TypeVar("_Entry")

# A function's answer may have 6 MB, and the report is a string in it.
MAX_BYTES: Final = 5_500_000


def bounded(report: Report) -> Report:
    """The report without what does not fit, and then incomplete: first the defaults are cut, last the new errors.

    The proposed text is there whole or not at all.
    """
    room = _Room(MAX_BYTES)
    source_verdict, target_verdict = report.source_verdict, report.target_verdict
    new_errors = room.fit(report.new_errors)
    target_verdict = replace(target_verdict, errors=room.fit(target_verdict.errors))
    not_checked = room.fit(report.not_checked)
    source_verdict = replace(source_verdict, errors=room.fit(source_verdict.errors))
    target_verdict = replace(target_verdict, warnings=room.fit(target_verdict.warnings))
    source_verdict = replace(source_verdict, warnings=room.fit(source_verdict.warnings))
    new_warnings = room.fit(report.new_warnings)
    # Gates are bounded by their number, as long as they name no components.
    bare_gates = room.fit([replace(gate, components=()) for gate in report.feature_gates])
    proposed_yaml = report.proposed_yaml if room.takes(report.proposed_yaml) else None
    renames, not_renamed = room.fit(report.renames), room.fit(report.not_renamed)
    deprecations = room.fit(report.deprecations)
    feature_gates = [
        _with_components(bare, gate, room) for bare, gate in zip(bare_gates, report.feature_gates, strict=False)
    ]
    defaults = room.fit(report.defaults)
    return replace(
        report,
        source_verdict=source_verdict,
        target_verdict=target_verdict,
        new_errors=new_errors,
        new_warnings=new_warnings,
        renames=renames,
        not_renamed=not_renamed,
        deprecations=deprecations,
        feature_gates=feature_gates,
        defaults=defaults,
        not_checked=not_checked,
        incomplete=report.incomplete or room.was_short,
        proposed_yaml=proposed_yaml,
    )


def _with_components(bare: FeatureGate, gate: FeatureGate, room: "_Room") -> FeatureGate:
    return replace(bare, components=room.fit(gate.components))


class _Room:
    """The bytes that are left. `was_short` is set once something did not fit."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.was_short = False

    def fit(self, entries: Sequence[_Entry]) -> Sequence[_Entry]:
        """Those from the first on that fit."""
        for at, entry in enumerate(entries):
            if not self.takes(entry):
                return entries[:at]
        return entries

    def takes(self, part: object) -> bool:
        """Whether there is room for this part of the report, which is then taken up."""
        # As a string within JSON, where quotes, backslashes and what is not ASCII take more.
        size = len(json.dumps(to_json(part).decode()))
        if size > self._left:
            self.was_short = True
            return False
        self._left -= size
        return True

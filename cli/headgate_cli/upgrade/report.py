"""What an upgrade check found, as one sentence and as findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from headgate_cli.api import Entity, entities, optional
from headgate_cli.checks.findings import Finding, Severity, finding_of
from headgate_cli.untrusted import one_line

_MOST_NAMED: Final = 3
_COMPONENT: Final = re.compile(r"(?!service::)[a-z]+::(?:(?!::).)+")


def breaks(report: Entity) -> bool:
    """Whether something must be done: the target refuses the text, or could not check all of it."""
    return _side(report, "to").get("valid") is not True


def changes(report: Entity) -> bool:
    """Whether anything differs on the target, is deprecated there, or could not be compared."""
    refused_before = _side(report, "from").get("valid") is False
    return breaks(report) or refused_before or bool(_not_compared(report) or _changed(report))


def headline(report: Entity) -> str:
    """The result in a sentence without its subject: `breaks on 0.158.0: 2 new errors`."""
    source, target = one_line(optional(report, "from")), one_line(optional(report, "to"))
    new, known = len(entities(report, "new_errors")), len(entities(_side(report, "to"), "errors"))
    counted = [", ".join(changed)] if (changed := _changed(report)) else []
    notes = [*_not_compared(report), *counted]
    more = "".join(f"; {note}" for note in notes)
    if new:
        return f"breaks on {target}: {_counted(new, 'new error')}{more}"
    if known:
        return f"is invalid on {target}, and on {source} already: {_counted(known, 'error')}{more}"
    if breaks(report):
        return f"is not fully checked: this build of {target} lacks the {lacking(report)}{more}"
    if _side(report, "from").get("valid") is False:
        notes.insert(0, f"{source} refuses it: {_counted(len(entities(_side(report, 'from'), 'errors')), 'error')}")
    if notes:
        return f"works on {target}, but: {'; '.join(notes)}"
    return f"works on {target}" + (f" as on {source}" if source != target else ", with nothing to rename")


def findings(label: str, report: Entity) -> list[Finding]:
    """Everything to see at a place of the text, the worst first."""
    return list(_findings(label, report))


def _findings(label: str, report: Entity) -> Iterator[Finding]:
    source, target = optional(report, "from"), optional(report, "to")
    new, known = entities(report, "new_errors"), entities(_side(report, "to"), "errors")
    yield from (finding_of(label, "error", entry) for entry in new)
    yield from (finding_of(label, "error", entry) for entry in known if entry not in new)
    if not breaks(report):
        for entry in entities(_side(report, "from"), "errors"):
            yield finding_of(label, "note", {**entry, "message": f"only on {source}: {optional(entry, 'message')}"})
    for entry in entities(report, "not_checked"):
        lacks = f"{optional(entry, 'kind')} {optional(entry, 'type')}"
        message = f"not checked: this build of collector {optional(entry, 'version')} lacks the {lacks}"
        yield _at(label, "warning", "not_checked", message, entry)
    yield from (finding_of(label, "warning", entry) for entry in entities(report, "new_warnings"))
    for entry in _renamed_components(report):
        message = f"{optional(entry, 'from')} is called {optional(entry, 'to')} on {target}: `headgate upgrade fix`"
        yield _at(label, "warning", "renamed_component", message, entry)
    for entry in entities(report, "not_renamed"):
        renamed = f"{optional(entry, 'from')} is called {optional(entry, 'to')} on {target}"
        message = f"{renamed}, but cannot be renamed here: {optional(entry, 'reason')}"
        yield _at(label, "warning", "renamed_component", message, entry)
    for entry in entities(report, "deprecations"):
        if entry.get("new") is True:
            yield _at(label, "warning", "deprecated", optional(entry, "message"), entry)
        else:
            message = f"{optional(entry, 'message')} (as on {source})"
            yield _at(label, "note", "deprecated", message, entry)
    for entry in entities(report, "defaults"):
        values = f"{_shown(entry.get('before'))} on {source}, {_shown(entry.get('after'))} on {target}"
        yield _at(label, "warning", "changed_default", f"the default of {optional(entry, 'key')} is {values}", entry)
    for entry in entities(report, "behaviours"):
        message = f"from {optional(entry, 'since')} on, {optional(entry, 'message')} ({optional(entry, 'source')})"
        yield _at(label, "warning", "changed_behaviour", message, entry)
    for entry in _gates_of_components(report):
        gone = entry.get("stage_after") is None
        after = f"is gone on {target}" if gone else f"is {_stage(entry, 'stage_after')} on {target}"
        about = optional(entry, "description")
        message = f"the feature gate {optional(entry, 'id')} was {_stage(entry, 'stage_before')} on {source}, {after}"
        message += f": {about}" if about else ""
        components = ", ".join(map(str, _list(entry, "components")))
        yield Finding(label, "warning" if gone else "note", "feature_gate", message, components)


def other_gates(report: Entity) -> int:
    """How many feature gates changed stage that are not of the text's components."""
    return len(entities(report, "feature_gates")) - len(_gates_of_components(report))


def _changed(report: Entity) -> list[str]:
    """What differs besides errors, counted: `2 renames`."""
    counts = (
        (len(entities(report, "new_warnings")), "new warning"),
        (len(_renamed_components(report)) + len(entities(report, "not_renamed")), "rename"),
        (sum(entry.get("new") is True for entry in entities(report, "deprecations")), "deprecation"),
        (len(entities(report, "defaults")), "changed default"),
        (len(entities(report, "behaviours")), "changed behaviour"),
        (len(_gates_of_components(report)), "feature gate"),
    )
    return [_counted(count, noun) for count, noun in counts if count]


def _renamed_components(report: Entity) -> Sequence[Entity]:
    """The renames of components themselves (`receivers::filelog`); references are renamed with what they refer to."""
    return [entry for entry in entities(report, "renames") if _COMPONENT.fullmatch(optional(entry, "component_path"))]


def _gates_of_components(report: Entity) -> Sequence[Entity]:
    """The gates of the text's components, those that are gone first: one is gone because what it does is permanent now,
    or cannot be had any more.
    """
    gates = [entry for entry in entities(report, "feature_gates") if _list(entry, "components")]
    return sorted(gates, key=lambda entry: entry.get("stage_after") is not None)


def lacking(report: Entity, side: str = "to") -> str:
    """The components that the build of a side lacks, `receiver nop, exporter file`; empty if it lacks none."""
    version = report.get(side)
    lacks = (entry for entry in entities(report, "not_checked") if entry.get("version") == version)
    return one_line(", ".join(dict.fromkeys(f"{entry.get('kind')} {entry.get('type')}" for entry in lacks)))


def _not_compared(report: Entity) -> list[str]:
    """Why something may differ that the report does not show."""
    source = one_line(optional(report, "from"))
    lacks = lacking(report, "from") if source != optional(report, "to") else ""
    why = [f"this build of {source} lacks the {lacks}, which is not compared"] if lacks else []
    return [*why, "not everything was compared"] if report.get("incomplete") is True else why


def _side(report: Entity, name: str) -> Entity:
    """The verdict of a side, `from` or `to`."""
    verdict = report.get("verdict")
    side = verdict.get(name) if isinstance(verdict, dict) else None
    return side if isinstance(side, dict) else {}


def _at(label: str, severity: Severity, code: str, message: str, entry: Entity) -> Finding:
    return finding_of(label, severity, {**entry, "code": code, "message": message})


def _list(entry: Entity, name: str) -> list[object]:
    value = entry.get(name)
    return value if isinstance(value, list) else []


def _stage(entry: Entity, name: str) -> str:
    return optional(entry, name) or "absent"


def _shown(value: object) -> str:
    if isinstance(value, list) and len(value) > _MOST_NAMED:
        return f"a list of {len(value)} values"
    return (
        "empty" if value in ("", None) or value == [] else str(value).lower() if isinstance(value, bool) else str(value)
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

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
    return _verdict(report).get("valid") is not True


def changes(report: Entity) -> bool:
    """Whether anything differs on the target, or is deprecated there."""
    return breaks(report) or bool(_changed(report))


def headline(report: Entity) -> str:
    """The result in a sentence without its subject: `breaks on 0.158.0: 2 new errors`."""
    source, target = one_line(optional(report, "from")), one_line(optional(report, "to"))
    new, known = len(entities(report, "new_errors")), len(entities(_verdict(report), "errors"))
    changed = _changed(report)
    more = f"; {', '.join(changed)}" if changed else ""
    if new:
        return f"breaks on {target}: {_counted(new, 'new error')}{more}"
    if known:
        return f"is invalid on {target}, and on {source} already: {_counted(known, 'error')}{more}"
    if breaks(report):
        lacking = dict.fromkeys(f"{entry.get('kind')} {entry.get('type')}" for entry in _not_checked(report))
        return f"is not fully checked: this build of {target} lacks the {one_line(', '.join(lacking))}{more}"
    if changed:
        return f"works on {target}, but: {', '.join(changed)}"
    return f"works on {target}" + (f" as on {source}" if source != target else ", with nothing to rename")


def findings(label: str, report: Entity) -> list[Finding]:
    """Everything to see at a place of the text, the worst first."""
    return list(_findings(label, report))


def _findings(label: str, report: Entity) -> Iterator[Finding]:
    source, target = optional(report, "from"), optional(report, "to")
    new = entities(report, "new_errors")
    yield from (finding_of(label, "error", entry) for entry in new)
    yield from (finding_of(label, "error", entry) for entry in entities(_verdict(report), "errors") if entry not in new)
    for entry in entities(report, "not_checked"):
        lacking = f"{optional(entry, 'kind')} {optional(entry, 'type')}"
        message = f"not checked: this build of collector {optional(entry, 'version')} lacks the {lacking}"
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
    for entry in _switched_gates(report):
        stages = f"was {_stage(entry, 'stage_before')} on {source}, is {_stage(entry, 'stage_after')} on {target}"
        about = optional(entry, "description")
        message = f"the feature gate {optional(entry, 'id')} {stages}" + (f": {about}" if about else "")
        yield Finding(label, "note", "feature_gate", message, ", ".join(map(str, _list(entry, "components"))))


def other_gates(report: Entity) -> int:
    """How many feature gates changed stage without an effect on the text's components."""
    return len(entities(report, "feature_gates")) - len(_switched_gates(report))


def _changed(report: Entity) -> list[str]:
    """What differs besides errors, counted: `2 renames`."""
    counts = (
        (len(entities(report, "new_warnings")), "new warning"),
        (len(_renamed_components(report)) + len(entities(report, "not_renamed")), "rename"),
        (sum(entry.get("new") is True for entry in entities(report, "deprecations")), "deprecation"),
        (len(entities(report, "defaults")), "changed default"),
        (len(_switched_gates(report)), "feature gate"),
    )
    return [_counted(count, noun) for count, noun in counts if count]


def _renamed_components(report: Entity) -> Sequence[Entity]:
    """The renames of components themselves (`receivers::filelog`); references are renamed with what they refer to."""
    return [entry for entry in entities(report, "renames") if _COMPONENT.fullmatch(optional(entry, "component_path"))]


def _switched_gates(report: Entity) -> Sequence[Entity]:
    """The gates of the text's components that only one version enables by itself.

    A gate that is gone is left out: it was made permanent or dropped, mostly long after its default changed.
    """
    return [
        entry
        for entry in entities(report, "feature_gates")
        if _list(entry, "components")
        and entry.get("stage_after") is not None
        and _enabled(entry, "stage_before") != _enabled(entry, "stage_after")
    ]


def _enabled(entry: Entity, name: str) -> bool:
    return optional(entry, name) in ("Beta", "Stable")


def _not_checked(report: Entity) -> Sequence[Entity]:
    return [entry for entry in entities(report, "not_checked") if entry.get("version") == report.get("to")]


def _verdict(report: Entity) -> Entity:
    verdict = report.get("verdict")
    target = verdict.get("to") if isinstance(verdict, dict) else None
    return target if isinstance(target, dict) else {}


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

"""The result of an upgrade check, as one sentence and as findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from headgate_cli import shapes
from headgate_cli.checks.findings import GIVE_FILES, Finding, Severity, finding_of
from headgate_cli.output import counted
from headgate_cli.untrusted import one_line

Placed = shapes.NotChecked | shapes.Rename | shapes.NotRenamed | shapes.Deprecation
Changed = shapes.ChangedDefault | shapes.ChangedBehaviour

_MOST_NAMED: Final = 3
_ON_HOST: Final = " on a host that has what is named below"
_COMPONENT: Final = re.compile(r"(?!service::)[a-z]+::(?:(?!::).)+")


def accepts(verdict: shapes.Verdict | shapes.ValidationResult, *, on_host: bool = True) -> bool:
    """True if the version accepts the text; `on_host` as `headgate validate --on-host` does."""
    return verdict["valid"] is True or (on_host and verdict.get("valid_on_host") is True)


def breaks(report: shapes.UpgradeReport, *, on_host: bool = True) -> bool:
    """True if something must be done: the target refuses the text, or could not check all of it."""
    return not accepts(report["verdict"]["to"], on_host=on_host)


def changes(report: shapes.UpgradeReport, *, on_host: bool = True) -> bool:
    """True if anything differs on the target, is deprecated there, or could not be compared."""
    refused_before = _refuses(report["verdict"]["from"])
    return breaks(report, on_host=on_host) or refused_before or bool(_not_compared(report) or _changed(report))


def only_on_host(report: shapes.UpgradeReport) -> bool:
    """True if the target accepts the text on a host alone, and not on the machine that checks."""
    return breaks(report, on_host=False) and not breaks(report)


def _refuses(verdict: shapes.Verdict) -> bool:
    return verdict["valid"] is False and not accepts(verdict)


def headline(report: shapes.UpgradeReport) -> str:
    """The result in a sentence without its subject: `breaks on 0.158.0: 2 new errors`."""
    source, target = one_line(report["from"]), one_line(report["to"])
    verdict = report["verdict"]
    inside = f" (the configuration under {one_line(path)})" if (path := report.get("inside")) else ""
    new, known = len(report["new_errors"]), len(verdict["to"]["errors"])
    changed = ", ".join(_changed(report))
    notes = [*_not_compared(report), *([changed] if changed else [])]
    more = "".join(f"; {note}" for note in notes)
    # What the source refuses does not break by moving: an error of one version may hide what the next one says.
    if new and not _refuses(verdict["from"]):
        return f"breaks on {target}{inside}: {counted(new, 'new error')}{more}"
    if known:
        of_which = f", of which {new} {'is' if new == 1 else 'are'} new" if new else ""
        return f"is invalid on {target}, and on {source} already{inside}: {counted(known, 'error')}{of_which}{more}"
    if breaks(report) and verdict["to"]["valid"] is False:
        return f"is not known on {target}{inside}: {GIVE_FILES}{more}"
    if breaks(report):
        return f"is not fully checked: this build of {target} lacks the {lacking(report)}{more}"
    if _refuses(verdict["from"]):
        notes.insert(0, f"{source} refuses it: {counted(len(verdict['from']['errors']), 'error')}")
    works = f"works on {target}{inside}" + ("" if verdict["to"]["valid"] else _ON_HOST)
    if notes:
        return f"{works}, but: {'; '.join(notes)}"
    return works + (f" as on {source}" if source != target else ", with nothing to rename")


def findings(label: str, report: shapes.UpgradeReport) -> Iterator[Finding]:
    """Everything to see at a place of the text, the worst first."""
    source, target = report["from"], report["to"]
    new, known = report["new_errors"], report["verdict"]["to"]["errors"]
    yield from (finding_of(label, "error", entry) for entry in new)
    yield from (finding_of(label, "error", entry) for entry in known if entry not in new)
    if not breaks(report):
        for error in report["verdict"]["from"]["errors"]:
            finding = finding_of(label, "note", error)
            yield replace(finding, message=f"only on {source}: {error['message']}")
    # What both versions need of the host is not new, but the reader has to provide it.
    known_warnings = (entry for entry in report["verdict"]["to"]["warnings"] if entry not in report["new_warnings"])
    yield from (finding_of(label, "warning", entry) for entry in known_warnings if entry["code"] == "depends_on_host")
    for lack in report["not_checked"]:
        message = f"not checked: this build of collector {lack['version']} lacks the {lack['kind']} {lack['type']}"
        yield _at(label, "warning", "not_checked", message, lack)
    yield from (finding_of(label, "warning", entry) for entry in report["new_warnings"])
    for rename in _renamed_components(report):
        message = f"{rename['from']} is called {rename['to']} on {target}: `headgate upgrade fix`"
        yield _at(label, "warning", "renamed_component", message, rename)
    for stays in report["not_renamed"]:
        renamed = f"{stays['from']} is called {stays['to']} on {target}"
        message = f"{renamed}, but cannot be renamed here: {stays['reason']}"
        yield _at(label, "warning", "renamed_component", message, stays)
    for deprecation in report["deprecations"]:
        if deprecation["new"]:
            yield _at(label, "warning", "deprecated", deprecation["message"], deprecation)
        else:
            yield _at(label, "note", "deprecated", f"{deprecation['message']} (as on {source})", deprecation)
    for default in report["defaults"]:
        values = f"{_shown(default['before'])} on {source}, {_shown(default['after'])} on {target}"
        yield _at(label, "warning", "changed_default", f"the default of {default['key']} is {values}", default)
    for behaviour in report["behaviours"]:
        message = f"from {behaviour['since']} on, {behaviour['message']} ({behaviour['source']})"
        yield _at(label, "warning", "changed_behaviour", message, behaviour)
    for gate in _gates_of_components(report):
        gone = gate["stage_after"] is None
        after = f"is gone on {target}" if gone else f"is {gate['stage_after'] or 'absent'} on {target}"
        message = f"the feature gate {gate['id']} was {gate['stage_before'] or 'absent'} on {source}, {after}"
        message += f": {gate['description']}" if gate["description"] else ""
        yield Finding(label, "warning" if gone else "note", "feature_gate", message, ", ".join(gate["components"]))


def other_gates(report: shapes.UpgradeReport) -> int:
    """Count the feature gates that changed stage and are not of the text's components."""
    return len(report["feature_gates"]) - len(_gates_of_components(report))


def _changed(report: shapes.UpgradeReport) -> list[str]:
    """Count the differences besides errors: `2 renames`."""
    counts = (
        (len(report["new_warnings"]), "new warning"),
        (len(_renamed_components(report)) + len(report["not_renamed"]), "rename"),
        (sum(deprecation["new"] for deprecation in report["deprecations"]), "deprecation"),
        (len(report["defaults"]), "changed default"),
        (len(report["behaviours"]), "changed behaviour"),
        (len(_gates_of_components(report)), "feature gate"),
    )
    return [counted(count, noun) for count, noun in counts if count]


def _renamed_components(report: shapes.UpgradeReport) -> Sequence[shapes.Rename]:
    """The renames of components themselves (`receivers::filelog`); references are renamed with what they refer to."""
    return [rename for rename in report["renames"] if _COMPONENT.fullmatch(rename["component_path"])]


def _gates_of_components(report: shapes.UpgradeReport) -> Sequence[shapes.FeatureGate]:
    """The gates of the text's components, those that are gone first: one is gone because what it does is permanent now,
    or cannot be had any more.
    """
    gates = [gate for gate in report["feature_gates"] if gate["components"]]
    return sorted(gates, key=lambda gate: gate["stage_after"] is not None)


def lacking(report: shapes.UpgradeReport, side: Literal["from", "to"] = "to") -> str:
    """The components that the build of a side lacks, `receiver nop, exporter file`; empty if it lacks none."""
    lacks = (lack for lack in report["not_checked"] if lack["version"] == report[side])
    return one_line(", ".join(dict.fromkeys(f"{lack['kind']} {lack['type']}" for lack in lacks)))


def _not_compared(report: shapes.UpgradeReport) -> list[str]:
    """Reasons why something may differ that the report does not show."""
    source = one_line(report["from"])
    lacks = lacking(report, "from") if source != report["to"] else ""
    why = [f"this build of {source} lacks the {lacks}, which is not compared"] if lacks else []
    return [*why, "not everything was compared"] if report["incomplete"] else why


def _at(label: str, severity: Severity, code: str, message: str, place: Placed | Changed) -> Finding:
    return Finding(label, severity, code, message, place["component_path"], place["line"], place["column"])


def _shown(value: object) -> str:
    if isinstance(value, list) and len(value) > _MOST_NAMED:
        return f"a list of {len(value)} values"
    return (
        "empty" if value in ("", None) or value == [] else str(value).lower() if isinstance(value, bool) else str(value)
    )

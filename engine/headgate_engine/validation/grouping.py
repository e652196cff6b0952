"""Findings in several texts, grouped by the decision that they need: many findings are often one decision."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from headgate_engine.validation.findings import RANK, ListedFinding, Severity
from headgate_engine.validation.model import Cause

Kind = Literal[
    "newer_release",
    "older_release",
    "removed",
    "other_distribution",
    "feature_gate",
    "variable",
    "variable_of_host",
    "depends_on_host",
    "finding",
]

_MOST_NAMES: Final = 50
_SHOWN: Final = 6
# What differs between two findings of one kind: names in quotes, numbers, variables.
_PARTS: Final = re.compile(r"""\$\{[^${}]*\}|"[^"]*"|'[^']*'|`[^`]*`|\b\d[\w.:]*\b""")
# Behind the collector's own message stands what is about this text alone.
_ADDED: Final = re.compile(r"; (?:its |the value is |did you mean ).*$", re.DOTALL)
_OF_PLATFORM: Final = re.compile(
    r"(?:MY_|K8S_|KUBE_|OTEL_K8S_)(?:POD|NODE|HOST|CLUSTER|NAMESPACE|KUBELET)\w*|K8S_\w+|(?:POD|NODE|HOST)_(?:NAME|IP|UID|NAMESPACE)|NAMESPACE|HOSTNAME"
)


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings of one kind. `texts` are the numbers, from 0, of the texts that have them.

    `fixable` counts those with a known fix. `names` are what they are about: types, keys, gates or variables.
    """

    kind: Kind
    severity: Severity
    code: str
    message: str
    way_out: str
    count: int
    fixable: int
    names: Sequence[str]
    texts: Sequence[int]


_Key = tuple[Severity, Kind, str]
_Entry = tuple[int, ListedFinding]


def grouped(texts: Sequence[Sequence[ListedFinding]]) -> list[FindingGroup]:
    """The groups of the findings of each text: errors first, and of those the largest first."""
    entries: dict[_Key, list[_Entry]] = {}
    for at, findings in enumerate(texts):
        for finding in findings:
            entries.setdefault(_key(finding), []).append((at, finding))
    groups = [_group(key, members) for key, members in entries.items()]
    return sorted(groups, key=lambda group: (RANK[group.severity], -group.count, group.message))


def _key(finding: ListedFinding) -> _Key:
    cause = finding.cause
    if finding.code == "depends_on_host":
        return finding.severity, "depends_on_host", ""
    if cause is None:
        return finding.severity, "finding", f"{finding.code} {_PARTS.sub('…', _ADDED.sub('', finding.message))}"
    if cause.kind == "variable" and finding.code == "unset_variable" and all(map(of_platform, cause.names)):
        return finding.severity, "variable_of_host", ""
    if cause.kind == "other_distribution":
        return finding.severity, cause.kind, cause.instead
    return finding.severity, cause.kind, finding.code if cause.kind == "variable" else ""


def of_platform(name: str) -> bool:
    """True if charts and operators of Kubernetes set a variable of this name."""
    return bool(_OF_PLATFORM.fullmatch(name))


def _group(key: _Key, members: Sequence[_Entry]) -> FindingGroup:
    severity, kind, _ = key
    first = members[0][1]
    causes = [finding.cause for _, finding in members if finding.cause]
    message, way_out = _words(kind, members, causes)
    return FindingGroup(
        kind=kind,
        severity=severity,
        code=first.code,
        message=message,
        way_out=way_out,
        count=len(members),
        fixable=sum(bool(finding.fix) for _, finding in members),
        names=_names(causes)[:_MOST_NAMES],
        texts=sorted({at for at, _ in members}),
    )


def _words(kind: Kind, members: Sequence[_Entry], causes: Sequence[Cause]) -> tuple[str, str]:
    names = _names(causes)
    first = members[0][1]
    match kind:
        case "newer_release" | "older_release":
            release = "newer" if kind == "newer_release" else "older"
            renamed = dict.fromkeys(f"{cause.names[0]} is {cause.instead} here" for cause in causes if cause.instead)
            unknown = dict.fromkeys(cause.names[0] for cause in causes if not cause.instead)
            parts = [*renamed, *([f"{_listed([*unknown])} not known here"] if unknown else [])]
            way_out = (
                "a fix renames them" if renamed and not unknown else "rename them, or choose a version that has them"
            )
            return f"written for a {release} collector: {_listed(parts)}", way_out
        case "removed":
            replaced = dict.fromkeys(
                f"{cause.names[0]}, in its place {cause.instead}" if cause.instead else cause.names[0]
                for cause in causes
            )
            return f"removed from the collector: {_listed([*replaced], '; ')}", "replace them"
        case "other_distribution":
            return (
                f"not in otelcol-contrib: {_listed(names)}, of {causes[0].instead}",
                "leave them out, or run that distribution and observe it",
            )
        case "feature_gate":
            return f"needs the feature gate {_listed(names)}", "enable it for the version"
        case "variable" if first.code == "unset_variable":
            return (
                f"no value here: {_listed(names, most=_MOST_NAMES)}",
                "give values with the request, and store them with the group",
            )
        case "variable":
            return (
                f"these go away once there is a value for {_listed(names, most=_MOST_NAMES)}",
                "give values with the request",
            )
        case "variable_of_host":
            return f"Kubernetes or the host sets {_listed(names)}", ""
        case "depends_on_host":
            return f"the host decides: {_listed(_components(members))}", ""
    same = len({finding.message for _, finding in members}) == 1
    return (first.message if same else f"{first.message} (and {len(members) - 1} more of this kind)"), first.way_out


def _names(causes: Sequence[Cause]) -> list[str]:
    return [*dict.fromkeys(name for cause in causes for name in cause.names)]


def _components(members: Sequence[_Entry]) -> list[str]:
    return [*dict.fromkeys("::".join(finding.component_path.split("::")[:2]) for _, finding in members)]


def _listed(names: Sequence[str], separator: str = ", ", *, most: int = _SHOWN) -> str:
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def merged(findings: Sequence[ListedFinding]) -> Iterator[ListedFinding]:
    """The findings of a text, with variables that its platform sets as one, at the place of the first."""
    of_host = [finding for finding in findings if _key(finding)[1] == "variable_of_host"]
    names = _names([finding.cause for finding in of_host if finding.cause])
    for finding in findings:
        if finding not in of_host or len(of_host) == 1:
            yield finding
        elif finding is of_host[0]:
            message = f"the environment variables {', '.join(names[:_MOST_NAMES])} have no value here"
            explained = f"{message}; Kubernetes or the host sets them"
            yield replace(finding, message=explained, cause=Cause("variable", names))

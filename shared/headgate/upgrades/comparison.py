"""What differs between two versions' answers about the same text. No component, gate or default is known here by name.

Positions are those of the same text, so they need no matching. Component paths are the text's own, also where the
target calls a type by another name; only the words of messages follow the renames.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from headgate.upgrades.model import (
    ChangedDefault,
    Component,
    ComponentType,
    Deprecation,
    Description,
    FeatureGate,
    Gate,
    NotChecked,
    Renaming,
    Report,
    Verdict,
    Version,
)
from headgate.validation.model import Finding

# What people read; `size` bounds the bytes.
_MAX_DEFAULTS: Final = 2_000
_MAX_FINDINGS: Final = 100
_LOGGED: Final = ("warn", "error")
_KINDS: Final = ("receiver", "processor", "exporter", "connector", "extension", "provider")
# A gate of these stages is enabled unless somebody disables it.
_ENABLED: Final = ("beta", "stable")


def compare(source: Version, target: Version, renaming: Renaming) -> Report:
    """The report of an upgrade from `source` to `target`, which may be the same version."""
    before, after = source.inspection, target.inspection
    defaults = list(islice(_changed_defaults(before.components, after.components), _MAX_DEFAULTS + 1))
    in_old_words = _in_old_words([*before.components, *after.components])
    findings = [before.errors, before.warnings, after.errors, after.warnings]
    return Report(
        source=source.version,
        target=target.version,
        source_verdict=Verdict(before.valid, before.errors[:_MAX_FINDINGS], before.warnings[:_MAX_FINDINGS]),
        target_verdict=Verdict(after.valid, after.errors[:_MAX_FINDINGS], after.warnings[:_MAX_FINDINGS]),
        new_errors=_new_errors(before.errors, after.errors, in_old_words)[:_MAX_FINDINGS],
        new_warnings=_new_findings(before.warnings, after.warnings, in_old_words)[:_MAX_FINDINGS],
        renames=renaming.renames,
        not_renamed=renaming.not_renamed,
        deprecations=_deprecations(before.components, after.components, in_old_words),
        feature_gates=list(_feature_gates(source.description, target.description, after.components)),
        defaults=defaults[:_MAX_DEFAULTS],
        not_checked=list(_not_checked(source, target)),
        incomplete=before.incomplete
        or after.incomplete
        or len(defaults) > _MAX_DEFAULTS
        or any(len(listed) > _MAX_FINDINGS for listed in findings),
        proposed_yaml=renaming.yaml,
    )


def _in_old_words(components: Sequence[Component]) -> Callable[[str], str]:
    """Replaces each new type in a message by the type that the text uses."""
    old_types = {component.renamed_to: component.type for component in components if component.renamed_to}
    if not old_types:
        return lambda message: message
    words = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, old_types))})(?!\w)")
    return lambda message: words.sub(lambda match: old_types[match[1]], message)


def _new_errors(
    before: Sequence[Finding], after: Sequence[Finding], in_old_words: Callable[[str], str]
) -> list[Finding]:
    """Those of `_new_findings`, without those that are worded in another way.

    These are at a path with as many errors of that code on both sides. Both versions refuse it there, and the words
    alone do not tell a second mistake from the first.
    """

    def place(finding: Finding) -> tuple[str, str]:
        return in_old_words(finding.component_path), finding.code

    old, new = Counter(map(place, before)), Counter(map(place, after))
    return [
        finding for finding in _new_findings(before, after, in_old_words) if old[place(finding)] != new[place(finding)]
    ]


def _new_findings(
    before: Sequence[Finding], after: Sequence[Finding], in_old_words: Callable[[str], str]
) -> list[Finding]:
    """The findings of `after` that `before` does not have, each counted as often as it occurs."""

    def identity(finding: Finding) -> tuple[str, str, str]:
        # The path of an unknown key ends with it.
        message = "" if finding.code == "unknown_key" else _gist(in_old_words(finding.message))
        return in_old_words(finding.component_path), finding.code, message

    known = Counter(map(identity, before))
    new = []
    for finding in after:
        if known[identity(finding)]:
            known[identity(finding)] -= 1
        else:
            new.append(finding)
    return new


# What the check command adds: the nearest name among those that this version has.
_HINT: Final = re.compile(r"; (?:did you mean \"[^\"]*\"\?|there is one among the [a-z ]+)$")
# The decoder names the outermost structure by its Go type, or by nothing.
_STRUCTURE: Final = re.compile(r"^'(?:\*?\w+\.[A-Z]\w*)?' ")
# `["resource" "scope" "log"]`, printed in the order of a Go map.
_WORDS: Final = re.compile(r"\[(\"\w+\"(?: \"\w+\")+)\]")
_QUOTE: Final = re.compile(r"[`'\"]")


def _gist(message: str) -> str:
    """The message without what differs between versions, or between two runs, for the same mistake."""
    message = _STRUCTURE.sub("", _HINT.sub("", message))
    message = _WORDS.sub(lambda match: f"[{' '.join(sorted(match[1].split(' ')))}]", message)
    return _QUOTE.sub('"', message)


def _deprecations(
    before: Sequence[Component], after: Sequence[Component], in_old_words: Callable[[str], str]
) -> list[Deprecation]:
    """The new ones first, otherwise in the order of the text."""
    known = {(component.component_path, in_old_words(line.message)) for component in before for line in component.logs}
    logged = dict.fromkeys(
        (component.component_path, component.line, component.column, line.message)
        for component in after
        for line in component.logs
        if line.level.casefold() in _LOGGED
    )
    found = [
        Deprecation(path, line, column, message, new=(path, in_old_words(message)) not in known)
        for path, line, column, message in logged
    ]
    return sorted(found, key=lambda deprecation: not deprecation.new)


def _changed_defaults(before: Sequence[Component], after: Sequence[Component]) -> Iterator[ChangedDefault]:
    by_path = {component.component_path: component for component in before}
    for component in after:
        counterpart = by_path.get(component.component_path)
        if counterpart is None:
            continue
        for key in sorted(component.defaults.keys() & counterpart.defaults.keys()):
            old, new = counterpart.defaults[key], component.defaults[key]
            # Python takes 1 and True for equal.
            if (type(old), old) != (type(new), new):
                yield ChangedDefault(component.component_path, component.line, component.column, key, old, new)


def _not_checked(source: Version, target: Version) -> Iterator[NotChecked]:
    for side in (target,) if source.version == target.version else (target, source):
        for lacking in side.inspection.not_in_build:
            yield NotChecked(
                lacking.component_path, lacking.line, lacking.column, lacking.kind, lacking.type, side.version
            )


def _feature_gates(before: Description, after: Description, components: Sequence[Component]) -> Iterator[FeatureGate]:
    """The gates whose stage changed, without those of components that the text does not use.

    A new gate that is disabled changes nothing. In a reduced build, a gate without a component may be missing only
    because no component registers it, so its absence is reported for gates of components that the build has.
    """
    old, new = _by_id(before), _by_id(after)
    names = _Names(before, after, components)
    for gate_id in sorted(old.keys() | new.keys()):
        stage_before, stage_after = _stage(old.get(gate_id)), _stage(new.get(gate_id))
        if stage_before == stage_after or (stage_before is None and str(stage_after).casefold() not in _ENABLED):
            continue
        owners = names.owners(gate_id)
        used = names.used(owners)
        if owners and not used:
            continue
        absent_from = after if stage_after is None else before if stage_before is None else None
        if absent_from is not None and absent_from.reduced and not _has_all(absent_from, owners):
            continue
        gate = new.get(gate_id) or old[gate_id]
        yield FeatureGate(gate_id, stage_before, stage_after, gate.description, used)


def _by_id(description: Description) -> Mapping[str, Gate]:
    return {gate.id: gate for gate in description.feature_gates}


def _stage(gate: Gate | None) -> str | None:
    return gate.stage if gate else None


def _has_all(description: Description, owners: Sequence[ComponentType]) -> bool:
    """Whether the build has every owner of a gate, and the gate has an owner."""
    lacks = {(lacking.kind, lacking.type) for lacking in description.lacks}
    return bool(owners) and not any((owner.kind, owner.type) in lacks for owner in owners)


class _Names:
    """Which components a gate's id names: `receiver.prometheusreceiver.X`, `transform.flatten.logs`."""

    def __init__(self, before: Description, after: Description, components: Sequence[Component]) -> None:
        self._owners: dict[str, dict[ComponentType, None]] = {}
        for description in (before, after):
            for component in (*description.components, *description.lacks):
                for name in _names_of(component):
                    self._owners.setdefault(name, {})[component] = None
        # The paths by kind and type: a text may have tens of thousands of components, and there are many gates.
        self._used: dict[tuple[str, str], dict[str, int]] = {}
        for at, used in enumerate(components):
            kind = used.component_path.partition("::")[0].removesuffix("s")
            self._used.setdefault((kind, used.type), {})[used.component_path] = at

    def owners(self, gate_id: str) -> Sequence[ComponentType]:
        """The component types that one of the first two parts of the id names, of the kind that the id begins with."""
        parts = [_plain(part) for part in gate_id.split(".")[:2]]
        kinds = [kind for kind in _KINDS if parts[0] in (kind, f"{kind}s")]
        return [
            owner
            for part in (parts[1:] if kinds else parts)
            for owner in self._owners.get(part, ())
            if not kinds or owner.kind in kinds
        ]

    def used(self, owners: Sequence[ComponentType]) -> Sequence[str]:
        """The paths of the text's components of these types, in the order of the text."""
        types = {(owner.kind, name) for owner in owners for name in (owner.type, owner.deprecated_type) if name}
        paths = {path: at for type_ in types for path, at in self._used.get(type_, {}).items()}
        return sorted(paths, key=paths.__getitem__)


def _names_of(component: ComponentType) -> set[str]:
    module = re.sub(r"/v\d+$", "", component.module.partition(" ")[0]).rpartition("/")[2]
    return {_plain(name) for name in (component.type, component.deprecated_type, module) if name}


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()

"""Adoption of an observed collector's configuration by Headgate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import yaml

from headgate.configurations.documents import (
    Unreadable,
    configuration_in,
    document,
    is_collector_resource,
    serialized,
    value_of,
)
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Invalid
from headgate.instances import observed
from headgate.instances.observed import ShownConfiguration
from headgate.instances.reported.effective import NEXT_FILE
from headgate.instances.service import SeenInstance

REDACTED: Final = "[REDACTED]"
_LONGEST_NAME: Final = 100
_LONGEST_REASON: Final = 1_000
MOST_VARIABLES: Final = 100
LONGEST_PATH: Final = 1_000
_OPAMP: Final = re.compile(r"opamp(?:/.*)?")
# Those that a collector would read otherwise: it reads `$$` as `$`, and `${` as the begin of a reference.
_DOLLARS: Final = re.compile(r"\$\$+|\$(?=\{|\[REDACTED\])")
_WITHOUT_SAMPLES: Final = (
    "An observed collector gives no samples, so that the configuration begins without a test: take a capture after its "
    "host is managed, and save it as one"
)
_ACCEPTS: Final = (
    "Its agent accepts remote configuration: create a managed fleet, report there with that fleet's token, and roll "
    "the configuration out"
)
_PASTES: Final = (
    "Its agent accepts no remote configuration: install Headgate's supervisor on the host, or paste the text yourself"
)
_OF_BRIDGE: Final = (
    "Put the text into `spec.config` of the OpenTelemetryCollector: Headgate sends the operator's bridge nothing, "
    "because it would delete collectors that an offer leaves out"
)
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}")
_OWN_EXTENSION: Final = "The extension {names} is left out: Headgate's supervisor reports for the collector"


class NotAdoptable(Invalid):
    """The configuration cannot be made one of Headgate's."""

    code = "configuration_not_adoptable"


class CollectorNotNamed(NotAdoptable):
    """The agent reports several collectors, and the request names none of them."""

    def __init__(self, collectors: Sequence[str]) -> None:
        names = ", ".join(collectors)
        super().__init__(f"The agent reports these collectors, name one of them: {names}"[:_LONGEST_REASON])
        self.collectors = collectors


@dataclass(frozen=True, slots=True)
class PlaceholderVariable:
    """A variable in the place of a value that was redacted."""

    name: str
    component_path: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """A configuration to create: its text, what to set for it, and what changes against what the collector runs.

    `reported` is what it runs. It is `resolved` if references were replaced by their values, as in a collector's own
    report.
    """

    name: str
    yaml: str
    variables: list[PlaceholderVariable]
    difference: str | None
    accepts_remote_config: bool
    notes: list[str]
    seen: SeenInstance
    sha256: str
    reported: str
    resolved: bool
    collector_version: str | None


class ReportedText(NamedTuple):
    """A configuration that an agent reports, and the version of the collector that it says runs it, if it does."""

    yaml: str
    collector_version: str | None = None


def adoption(caller: Caller, fleet_id: str, instance_id: str, collector: str | None = None) -> Adoption:
    """Propose the adoption of a collector, or of one of those that a bridge reports.

    Raises FleetNotFound, InstanceNotFound, NothingReported, NotAdoptable.
    """
    return proposed(observed.configuration(caller, fleet_id, instance_id), collector)


def proposed(shown: ShownConfiguration, collector: str | None = None) -> Adoption:
    """The configuration with variables in the place of what was redacted. Raises NotAdoptable."""
    name, reported = _chosen(reported_texts(shown.yaml), collector)
    agent = shown.seen.instance.reported
    # A bridge names its collectors, and reports what somebody wrote.
    resolved = agent.resolves and not name
    text, variables, dropped = managed(reported.yaml, resolved=resolved)
    accepts = agent.accepts_remote_config
    notes = [_OF_BRIDGE if agent.description.is_bridge else _ACCEPTS if accepts else _PASTES, _WITHOUT_SAMPLES]
    if dropped:
        notes.append(_OWN_EXTENSION.format(names=", ".join(dropped)))
    return Adoption(
        name=(name or shown.seen.instance.called)[:200],
        yaml=text,
        variables=variables,
        difference=observed.difference(reported.yaml, text),
        accepts_remote_config=accepts,
        notes=notes,
        seen=shown.seen,
        sha256=shown.sha256,
        reported=reported.yaml,
        resolved=resolved,
        collector_version=reported.collector_version or agent.description.collector_version,
    )


def rewritten(adoption: Adoption, text: str, notes: Sequence[str]) -> Adoption:
    """The adoption with another text and other notes."""
    difference = observed.difference(adoption.reported, text)
    return replace(adoption, yaml=text, notes=list(notes), difference=difference)


def reported_texts(text: str) -> dict[str, ReportedText]:
    """The configurations in a stored text by the names of their collectors: one without a name, or those of a bridge.

    Of a resource of the Kubernetes operator, it is the configuration in it, which may be missing.
    """
    parts = text.split(NEXT_FILE)
    return dict(_named(part, part.partition("\n")[0].removeprefix("# ") if parts[1:] else "") for part in parts)


def _named(text: str, title: str) -> tuple[str, ReportedText]:
    try:
        root = document(text)
    except Unreadable:
        return title, ReportedText(text)
    if not is_collector_resource(root):
        return title, ReportedText(text)
    inner, metadata = configuration_in(root), value_of(root, "metadata")
    names = [value_of(metadata, name) for name in ("namespace", "name")]
    version = value_of(value_of(root, "status"), "version")
    runs = version.value if isinstance(version, yaml.ScalarNode) and _VERSION.fullmatch(version.value) else None
    named = "/".join(str(node.value) for node in names if node)
    return named, ReportedText(serialized(inner) if inner else "", runs)


def _chosen(texts: dict[str, ReportedText], collector: str | None) -> tuple[str, ReportedText]:
    name = next(iter(texts)) if collector is None and len(texts) == 1 else collector
    if name is None or name not in texts:
        raise CollectorNotNamed(list(texts))
    return name, texts[name]


def managed(text: str, *, resolved: bool) -> tuple[str, list[PlaceholderVariable], list[str]]:
    """The text as Headgate's, the variables in it, and the extensions that were left out. Raises NotAdoptable.

    A dollar of a resolved text is a dollar, and not the begin of a reference.
    """
    try:
        root = document(text)
    except Unreadable as error:
        raise NotAdoptable("The configuration is not YAML") from error
    if not isinstance(root, yaml.MappingNode):
        raise NotAdoptable("The agent reports no configuration of a collector")
    dropped = _without_opamp(root)
    variables: dict[str, PlaceholderVariable] = {}
    for node, path in _scalars(root, ()):
        if resolved and "$" in node.value:
            node.value = _DOLLARS.sub(lambda dollars: dollars[0] * 2, node.value)
        if REDACTED not in node.value:
            continue
        parts = node.value.split(REDACTED)
        value = parts[0]
        for part in parts[1:]:
            name = _name(path, variables)
            variables[name] = PlaceholderVariable(name, "::".join(path)[:LONGEST_PATH])
            value += f"${{env:{name}}}{part}"
            if len(variables) > MOST_VARIABLES:
                raise NotAdoptable(
                    f"Over {MOST_VARIABLES} values were redacted, which is more than a group has variables"
                )
        node.value, node.style = value, None
    written = serialized(root)
    return written, list(variables.values()), dropped


def _scalars(node: yaml.Node, path: tuple[str, ...]) -> Iterator[tuple[yaml.ScalarNode, tuple[str, ...]]]:
    """The values of a text, each once, with their places."""
    waiting, seen = [(node, path)], set[int]()
    while waiting:
        node, path = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            waiting += [(value, (*path, str(key.value))) for key, value in reversed(node.value)]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(value, (*path, str(n))) for n, value in reversed(list(enumerate(node.value)))]
        elif isinstance(node, yaml.ScalarNode):
            yield node, path


def _name(path: tuple[str, ...], used: dict[str, PlaceholderVariable]) -> str:
    """A variable called after the place of its value, which is not used yet."""
    name = re.sub(r"[^A-Z0-9]+", "_", "_".join(path[1:] or path).upper()).strip("_")[:_LONGEST_NAME]
    name = f"V_{name}" if not name or name[0].isdigit() else name
    n = 1
    while (numbered := name if n == 1 else f"{name}_{n}") in used:
        n += 1
    return numbered


def _without_opamp(root: yaml.MappingNode) -> list[str]:
    """Take the collector's own OpAMP extensions out. Returns their names."""
    dropped: list[str] = []
    extensions = value_of(root, "extensions")
    if isinstance(extensions, yaml.MappingNode):
        dropped = [key.value for key, _ in extensions.value if _OPAMP.fullmatch(str(key.value))]
        extensions.value = [pair for pair in extensions.value if pair[0].value not in dropped]
        if not extensions.value:
            root.value = [pair for pair in root.value if pair[1] is not extensions]
    service = value_of(root, "service")
    enabled = value_of(service, "extensions")
    if isinstance(enabled, yaml.SequenceNode) and isinstance(service, yaml.MappingNode):
        enabled.value = [node for node in enabled.value if node.value not in dropped]
        if not enabled.value:
            service.value = [pair for pair in service.value if pair[1] is not enabled]
    return dropped

"""The reference of a collector version: its components, the schema of a whole configuration, and OTTL."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from headgate import checker
from headgate.flows import service as flows
from headgate.flows.model import ComponentExample
from headgate.foundation.errors import Unavailable
from headgate.foundation.page import Slice
from headgate.foundation.settings import settings
from headgate.reference import builds
from headgate.reference.answers import ASKER
from headgate_engine.collectors import service as collectors
from headgate_engine.collectors.model import InstalledVersion
from headgate_engine.reference.model import (
    Component,
    ComponentNotFound,
    Kind,
    NotInOttl,
    NotInThisBuild,
    OttlComponent,
    OttlReference,
    ReferenceUnavailable,
    SchemaDocument,
)


def versions() -> tuple[InstalledVersion, ...]:
    """The installed versions that can tell, newest first. Raises ReferenceUnavailable."""
    return builds.versions()


def listed(version: str | None, kind: Kind | None, limit: int, after: str | None) -> Slice[Component]:
    """Up to `limit` components by kind and type, behind the position `after`.

    The default collector's without a version. Raises CollectorVersionNotInstalled, ReferenceNotPossible and
    ReferenceUnavailable, as everything here.
    """
    components = [each for each in matching(version, kind) if after is None or each.position > after]
    page = components[:limit]
    return Slice(page, page[-1].position if len(components) > limit else None)


def matching(version: str | None, kind: Kind | None = None, text: str = "") -> Sequence[Component]:
    """The components of that kind in whose names or summary each word of the text occurs."""
    words = text.casefold().split()
    return [
        each
        for each in builds.build(_version(version)).components
        if kind in (None, each.kind) and all(word in _searched(each) for word in words)
    ]


def component(version: str | None, kind: Kind, type_: str) -> Component:
    """The component of that type, or that had this name before. Raises ComponentNotFound and NotInThisBuild."""
    version = _version(version)
    build = builds.build(version)
    named = build.named.get((kind, type_))
    if named is None:
        _require_in_build(kind, type_, version)
        types = [name for kind_, name in build.named if kind_ == kind]
        raise ComponentNotFound(kind, type_, version, difflib.get_close_matches(type_, types, n=3))
    return named


def example(component: Component) -> ComponentExample | None:
    """Returns the component as a flow of the gallery configures it; None if no flow uses it. One read."""
    return flows.example(component.kind, (component.type, *component.aliases))


def document(version: str | None) -> SchemaDocument:
    """The JSON Schema of a whole configuration."""
    return builds.document(_version(version))


def is_final(version: str | None) -> bool:
    """True if the document of that version does not change: not the default one's, nor one that is being built."""
    return version is not None and checker.is_whole(version)


def whole_when(version: str | None) -> str:
    """Say when the whole collector of a version that has only its first program is ready; empty for all others."""
    build = checker.whole_build(_version(version))
    return build.whole_when if build else ""


def ottl_components(version: str | None) -> tuple[OttlComponent, ...]:
    """The components that take OTTL, each with its contexts."""
    return builds.ottl_components(_version(version))


def ottl(component: str | None, context: str | None, version: str | None) -> OttlReference:
    """Returns the OTTL of that context. Raises NotInOttl if the component has no such context, or takes none.

    Nothing but names that the collector told goes to its process.
    """
    version = _version(version)
    contexts = {each.component: each.contexts for each in builds.ottl_components(version)}
    if component not in contexts:
        if component is not None:
            _require_whole(f"component: this build of collector {version} may lack {component}", version)
        said = "is needed with a context" if component is None else f"{component} takes no OTTL"
        raise NotInOttl(f"{said}: choose one of {', '.join(contexts)}", at=("query", "component"))
    if context not in contexts[component]:
        said = "is needed" if context is None else f"{component} has no context {context}"
        raise NotInOttl(f"{said}: choose one of {', '.join(contexts[component])}", at=("query", "context"))
    return builds.ottl(component, context, version)


def _version(version: str | None) -> str:
    return version or settings().collector_version


def _searched(component: Component) -> str:
    return " ".join((component.kind, component.type, *component.aliases, component.summary)).casefold()


def _require_in_build(kind: str, type_: str, version: str) -> None:
    """Raises NotInThisBuild if the official release has the component."""
    try:
        lacks = collectors.lacks(version, asker=ASKER)
    except Unavailable:
        # It told its components a moment ago; that it has no such one is right in any case.
        return
    if any((each.kind, each.type) == (kind, type_) for each in lacks):
        _require_whole(f"this build of collector {version} lacks the {kind} {type_}", version)
        raise NotInThisBuild(kind, type_, version)


def _require_whole(lacking: str, version: str) -> None:
    """Raises ReferenceUnavailable, with when to ask again, while the whole program of the version is being built."""
    if build := checker.whole_build(version):
        waiting = build.lacks(lacking)
        raise ReferenceUnavailable(waiting.detail) from waiting

"""Descriptions of collector builds, parsed and checked: they come from where untrusted text is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import ValidationError

from headgate import checker
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import settings
from headgate.reference.answers import ASKER, Answers
from headgate_engine.answers import read
from headgate_engine.checker import messages
from headgate_engine.collectors import service as collectors
from headgate_engine.collectors.model import InstalledVersion
from headgate_engine.reference.documents import UnknownForm, asked, unpacked
from headgate_engine.reference.model import (
    Component,
    OttlComponent,
    OttlReference,
    ReferenceUnavailable,
    SchemaDocument,
)

_Known = TypeVar("_Known")
# A build's components take some 5 MB; an OTTL reference, some 200 KB.
_MOST_BUILDS: Final = 8
_MOST_CONTEXTS: Final = 64


@dataclass(frozen=True, slots=True)
class Build:
    """A build's components by kind and type, in that order, and the same under their former names."""

    components: tuple[Component, ...]
    named: Mapping[tuple[str, str], Component]


_versions: Final[Answers[tuple[InstalledVersion, ...]]] = Answers(1)
_builds: Final[Answers[Build]] = Answers(_MOST_BUILDS)
_documents: Final[Answers[SchemaDocument]] = Answers(_MOST_BUILDS)
_ottl_components: Final[Answers[tuple[OttlComponent, ...]]] = Answers(_MOST_BUILDS)
_ottl: Final[Answers[OttlReference]] = Answers(_MOST_CONTEXTS)


def build(version: str) -> Build:
    """The components of that version. Raises as `answers.asked`."""

    def ask() -> Build:
        _, _, text = unpacked(asked("reference", {"form": "components"}, version, asker=ASKER))
        # By `messages`, which refuses what is nested too deeply.
        components = sorted(
            read(list[Component], messages.parsed(text).get("components")), key=lambda each: each.position
        )
        named: dict[tuple[str, str], Component] = {}
        for component in components:
            named |= {(component.kind, alias): component for alias in component.aliases}
        return Build(
            tuple(components), named | {(component.kind, component.type): component for component in components}
        )

    return _builds.get(_key(version), _in_known_form(ask))


def document(version: str) -> SchemaDocument:
    """The schema of a whole configuration of that version. Raises as `answers.asked`."""

    def ask() -> SchemaDocument:
        digest, compressed, _ = unpacked(asked("reference", {"form": "document"}, version, asker=ASKER))
        return SchemaDocument(digest, compressed)

    return _documents.get(_key(version), ask)


def ottl_components(version: str) -> tuple[OttlComponent, ...]:
    """The components of that version that take OTTL. Raises as `answers.asked`."""

    def ask() -> tuple[OttlComponent, ...]:
        answer = asked("ottl_reference", {}, version, asker=ASKER)
        return tuple(read(list[OttlComponent], answer.get("components")))

    return _ottl_components.get(_key(version), _in_known_form(ask))


def ottl(component: str, context: str, version: str) -> OttlReference:
    """The OTTL of a context of a component; both are among `ottl_components`. Raises what `answers.asked` does."""

    def ask() -> OttlReference:
        question = {"component": component, "context": context}
        return read(OttlReference, asked("ottl_reference", question, version, asker=ASKER))

    return _ottl.get(_key(version, component, context), _in_known_form(ask))


def versions() -> tuple[InstalledVersion, ...]:
    """The installed versions with our `check` command, newest first. Raises ReferenceUnavailable."""

    def ask() -> tuple[InstalledVersion, ...]:
        try:
            return tuple(version for version in collectors.installed(asker=ASKER) if version.can.lint)
        except Unavailable as error:
            raise ReferenceUnavailable(error.detail) from error

    return _versions.get(_key(""), ask)


def forget() -> None:
    """Ask every build again."""
    for answers in (_versions, _builds, _documents, _ottl_components, _ottl):
        answers.forget()


def _in_known_form(ask: Callable[[], _Known]) -> Callable[[], _Known]:
    """The same; raises UnknownForm for an answer that is malformed."""

    def asked() -> _Known:
        try:
            return ask()
        except (messages.Malformed, ValidationError) as error:
            raise UnknownForm from error

    return asked


def _key(version: str, *more: str) -> tuple[str, ...]:
    # Where the collectors are decides what a version is, and a version that is being built has two programs in turn.
    where = settings().checker_function or settings().collectors_dir
    return (where, version, checker.build_of(version), *more)

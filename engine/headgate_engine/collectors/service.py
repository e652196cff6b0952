"""Installed collector versions, and their abilities."""

from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.descriptions import Described
from headgate_engine.checker.errors import NoChecker, NotInstalled, Unusable
from headgate_engine.collector import DISTRIBUTION, by_age
from headgate_engine.collectors.model import Capabilities, InstalledVersion, Lacking
from headgate_engine.validation.model import CollectorVersionNotInstalled

_STEPS: Final = "steps"


_UNKNOWN_FORM: Final = "The collector describes itself in an unknown form; build it again"


def installed(*, asker: Asker) -> list[InstalledVersion]:
    """The installed versions, newest first. Raises as `listed` does."""
    versions = [
        _installed_version(described, asker.default_version) for described in asker.collectors.described(asker=asker)
    ]
    if not any(version.default for version in versions):
        # This says so if it is only not built yet.
        asker.collectors.describe(asker.default_version, asker=asker)
        raise NotInstalled(asker.default_version, tuple(version.version for version in versions))
    return sorted(versions, key=lambda version: by_age(version.version), reverse=True)


def require_installed(version: str, field: str, *, asker: Asker, within: tuple[str, ...] = ()) -> None:
    """Raises CollectorVersionNotInstalled about that field of the request, and Unavailable."""
    if version == asker.default_version:
        return
    installed = asker.collectors.installed(asker=asker)
    if version not in installed:
        message = f"Collector {version} is not installed; installed: {', '.join(installed)}"
        raise CollectorVersionNotInstalled(message, at=("body", *within, field))


def lacks(version: str, *, asker: Asker) -> frozenset[Lacking]:
    """Components of the official release that the version's build lacks; none for an official release itself.

    Raises NotInstalled, and Unavailable if the binary could not be asked.
    """
    try:
        return frozenset(_describe(version, asker).lacks)
    except NoChecker:
        return frozenset()


def records_steps(version: str, *, asker: Asker) -> bool:
    """True if that version's build can record the steps of each component.

    Raises NoChecker for an official release, NotInstalled, and Unavailable if the binary could not be asked.
    """
    return _STEPS in _describe(version, asker).can


@dataclass(frozen=True, slots=True)
class _Description:
    """The part of the operation `describe` that is needed here."""

    distribution: str
    reduced: bool
    lacks: list[Lacking]
    can: tuple[str, ...] = ()
    confined_by: tuple[str, ...] = ()


def _describe(version: str, asker: Asker) -> _Description:
    """Raises NoChecker, NotInstalled, and Unusable for a description of an unknown form."""
    try:
        return read(_Description, asker.collectors.describe(version, asker=asker))
    except ValidationError as error:
        raise Unusable(_UNKNOWN_FORM) from error


def _installed_version(described: Described, default: str) -> InstalledVersion:
    unusable = described.unusable
    description = None
    if described.description is not None:
        try:
            description = read(_Description, described.description)
        except ValidationError:
            unusable = _UNKNOWN_FORM
    checks = description is not None
    return InstalledVersion(
        version=described.version,
        distribution=description.distribution if description else DISTRIBUTION,
        default=described.version == default,
        source=None if unusable else "built" if checks else "official_release",
        reduced=description.reduced if description else False,
        lacks=description.lacks if description else [],
        can=Capabilities(
            lines=checks,
            lint=checks,
            runs=not unusable,
            steps=description is not None and _STEPS in description.can,
            upgrade_check=checks,
        ),
        unusable=unusable or None,
        whole_in_seconds=described.whole_in_seconds,
        confined_by=description.confined_by if description else (),
    )

"""An installed collector version, as its own binary describes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Source = Literal["built", "official_release"]
Kind = Literal["receiver", "processor", "exporter", "connector", "extension", "provider"]


@dataclass(frozen=True, slots=True)
class Lacking:
    """A component that the official release has and this build does not."""

    kind: Kind
    type: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Operations of a version besides its verdict.

    `lines`: findings have a code, a line and a column. `lint`: its OTTL parser can be asked. `runs`: a test run can use
    it. `steps`: a test run can record what each component does. `upgrade_check`: an upgrade to it or from it can be
    checked.
    """

    lines: bool
    lint: bool
    runs: bool
    steps: bool
    upgrade_check: bool


@dataclass(frozen=True, slots=True)
class InstalledVersion:
    """`source` is `built` for a binary with the `check` command, and `official_release` for one without.

    A `reduced` build `lacks` components of the official release; what needs one of them is not checked. `unusable` says
    why a version cannot be used, and is null for all others; the source of such a version is not known.
    `whole_in_seconds` is null for all but one that is being built, whose first program answers for it and `lacks` most
    components: until the whole one is there.
    `confined_by` are the walls around its processes, and empty for a version that was not started.
    """

    version: str
    distribution: str
    default: bool
    source: Source | None
    reduced: bool
    lacks: Sequence[Lacking]
    can: Capabilities
    unusable: str | None
    whole_in_seconds: int | None = None
    confined_by: Sequence[str] = ()

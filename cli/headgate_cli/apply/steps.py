"""The steps of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from headgate_cli.apply.found import CredentialOwner, FoundConfiguration, FoundGroup
from headgate_cli.apply.wanted import FolderConfiguration, FolderPolicies
from headgate_cli.apply.wanted_fleets import FolderFleet, FolderGroup
from headgate_cli.checks.checked import TextToCheck
from headgate_cli.suites.files import FileTest

Kind = Literal["configuration", "policies", "fleet", "group"]
Action = Literal[
    "create", "change", "publish", "assign", "roll_out", "clear", "archive", "delete", "left_out", "kept", "refused"
]
# Those that change nothing.
IDLE: Final = ("left_out", "kept", "refused")
# Why --prune does not remove what the state names.
NOT_CREATED: Final = (
    "its entry in the folder's .headgate says that an apply created it, and the server does not say so of this "
    "folder and credential: it stays. Remove it by hand, or delete its entry"
)
ANOTHERS: Final = (
    "another folder applies it, or this one did before its .headgate was lost: leave it out of the folder, or take it "
    "over with --adopt"
)
ADOPTED: Final = "taken over from another folder"


def stays(managed_by: str, caller: CredentialOwner) -> str:
    """The reason why --prune leaves what has this `managed_by`; empty if an apply of the folder created it."""
    return "" if managed_by == caller.mark else NOT_CREATED


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyStep:
    """One object and what happens to it. `changes` are in words; `reason` is why nothing happens.

    `texts` are the text before and after, if that differs.
    """

    kind: Kind
    name: str
    action: Action
    changes: Sequence[str] = ()
    reason: str = ""
    texts: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveConfiguration(ApplyStep):
    """Create a configuration or change it; `n` is its latest version then.

    `edits` are the fields of the version that change, `describes` those of the configuration. `appends` says that they
    need a new version, because the latest one is published.
    """

    desired: FolderConfiguration
    current: FoundConfiguration | None
    n: int
    appends: bool = False
    restores: bool = False
    describes: Mapping[str, str] = field(default_factory=dict)
    edits: Mapping[str, str] = field(default_factory=dict)
    put: Sequence[FileTest] = ()
    delete: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish(ApplyStep):
    """Publish version `n`; `current` is None for a configuration that is created first."""

    desired: FolderConfiguration
    current: FoundConfiguration | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveConfiguration(ApplyStep):
    current: FoundConfiguration


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPolicies(ApplyStep):
    desired: FolderPolicies
    etag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCreation(ApplyStep):
    desired: FolderFleet


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedVersion:
    """The version that a group is to run, by its configuration's name; `id` is empty for one that is created first."""

    name: str
    id: str
    n: int

    def __str__(self) -> str:
        return f"{self.name} v{self.n}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfGroup(ApplyStep):
    """A step about a group of a fleet; `current` is None for a group that is not there yet."""

    fleet: str
    group: FolderGroup
    current: FoundGroup | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateGroup(OfGroup):
    target: AssignedVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGroup(OfGroup):
    """`fields` are those of PATCH; `selector` is None, and `env` empty, if they stay."""

    fields: Mapping[str, object] = field(default_factory=dict)
    selector: Mapping[str, str] | None = None
    variables: Mapping[str, str | None] = field(default_factory=dict)
    secrets: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign(OfGroup):
    """`target` is None if the assignment is cleared."""

    target: AssignedVersion | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveGroup(ApplyStep):
    fleet: str
    fleet_id: str
    current: FoundGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveFleet(ApplyStep):
    id: str


@dataclass(frozen=True, slots=True)
class ApplyPlan:
    """Steps in the order in which they are carried out, and how many objects are as the folder wants them."""

    steps: Sequence[ApplyStep]
    unchanged: int

    @property
    def acts(self) -> Sequence[ApplyStep]:
        return [step for step in self.steps if step.action not in IDLE]

    @property
    def refused(self) -> Sequence[ApplyStep]:
        return [step for step in self.steps if step.action == "refused"]

    @property
    def texts_to_check(self) -> dict[str, TextToCheck]:
        """The texts to validate before anything is saved, by file."""
        return {
            step.desired.file: _checked(step)
            for step in self.steps
            if isinstance(step, Publish)
            or (isinstance(step, SaveConfiguration) and (step.current is None or step.edits))
        }


def _checked(step: SaveConfiguration | Publish) -> TextToCheck:
    """The text, on the version's own collector, unless the folder names another one."""
    there = step.current.version if step.current else None
    version, gates = (there.collector_version, there.feature_gates) if there else ("", ())
    return TextToCheck(step.desired.text, step.desired.collector_version or version, gates)

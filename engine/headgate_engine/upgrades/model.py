"""Changes of one configuration by an upgrade, and the answers of the collectors that they are derived from.

Lines and columns count from 1, in characters, in the text that was sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from pydantic import BaseModel, Field

from headgate_engine.errors import Invalid
from headgate_engine.validation.model import Finding

Setting: TypeAlias = str | int | float | bool | Sequence[object] | None
"""The value of one key of a component's settings."""
# As the collectors and the API write them.
OldType: TypeAlias = Annotated[str, Field(alias="from")]
NewType: TypeAlias = Annotated[str, Field(alias="to")]

_UNKNOWN: Final = "unknown_component"


@dataclass(frozen=True, slots=True)
class LogLine:
    """A log message of a component while it was built."""

    level: str
    message: str


@dataclass(frozen=True, slots=True)
class InspectedComponent:
    """A component of the text as one collector version builds it.

    `renamed_to` is the factory's own type if the text uses a deprecated one, else empty. `defaults` has the settings
    whose keys the text does not write, by path (`retry_on_failure.max_elapsed_time`). `words` are those among its
    settings that changes of behaviour are about.
    """

    component_path: str
    type: str
    line: int
    column: int
    renamed_to: str
    defaults: Mapping[str, Setting]
    logs: Sequence[LogLine]
    words: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LackingComponent:
    """A component of the text that this build lacks and the official release has."""

    component_path: str
    line: int
    column: int
    kind: str
    type: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """One version's answer to `inspect`. `valid` is None if nothing is wrong, but components are not in the build.

    `incomplete` is set if there were more settings or messages than it lists.
    """

    valid: bool | None
    errors: Sequence[Finding]
    warnings: Sequence[Finding]
    components: Sequence[InspectedComponent]
    not_in_build: Sequence[LackingComponent]
    incomplete: bool
    valid_on_host: bool | None = None

    @property
    def may_rename(self) -> bool:
        """True if a type is deprecated there, or unknown: it may be the name of a release before or after it."""
        deprecated = any(component.renamed_to for component in self.components)
        return deprecated or any(error.code == _UNKNOWN for error in self.errors)


@dataclass(frozen=True, slots=True)
class ComponentType:
    """A component type of a version's distribution. `deprecated_type` is its former name, or empty.

    `module` is its Go module, with or without the module's version.
    """

    kind: str
    type: str
    deprecated_type: str = ""
    module: str = ""


@dataclass(frozen=True, slots=True)
class GateOfVersion:
    """A feature gate as one version registers it."""

    id: str
    stage: str
    description: str


@dataclass(frozen=True, slots=True)
class BuildDescription:
    """One version's answer to `describe`: the parts of it that matter here."""

    reduced: bool
    lacks: Sequence[ComponentType]
    components: Sequence[ComponentType]
    feature_gates: Sequence[GateOfVersion]


@dataclass(frozen=True, slots=True)
class VersionAnswers:
    """A collector version, and what it answered."""

    version: str
    inspection: Inspection
    description: BuildDescription


@dataclass(frozen=True, slots=True)
class Verdict:
    """`valid` is None if a component is not in the build, so that there is no verdict.

    `valid_on_host` is what remains without errors that the host decides; these are among the warnings.
    """

    valid: bool | None
    errors: Sequence[Finding]
    warnings: Sequence[Finding]
    valid_on_host: bool | None = None

    @property
    def accepts(self) -> bool:
        """True if hosts can run the text, also if the machine that checks lacks what they have."""
        return self.valid is True or self.valid_on_host is True


class Verdicts(BaseModel):
    """Each collector version's answer about the text."""

    source: Verdict = Field(alias="from")
    target: Verdict = Field(alias="to")


@dataclass(frozen=True, slots=True)
class Rename:
    """An occurrence of a deprecated component type, in a section or in a reference."""

    component_path: str
    line: int
    column: int
    old_type: OldType
    new_type: NewType


@dataclass(frozen=True, slots=True)
class NotRenamed:
    """A component, or a reference to one, whose deprecated type has to stay in the text as it is, and why."""

    component_path: str
    line: int
    column: int
    old_type: OldType
    new_type: NewType
    reason: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """The answer to `rename`: the text with the new names, and which they are."""

    yaml: str
    renames: Sequence[Rename]
    not_renamed: Sequence[NotRenamed]


@dataclass(frozen=True, slots=True)
class Renaming:
    """The target's renames; None without a deprecated name. `refused` is why it renamed nothing, if it refused."""

    answer: Renamed | None = None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A warning that a component logs while the target builds it. `new` is False if the source logs it, too."""

    component_path: str
    line: int
    column: int
    message: str
    new: bool


@dataclass(frozen=True, slots=True)
class FeatureGate:
    """A feature gate whose stage changes. A stage is None where the version has no such gate.

    `components` are those of the text that its id names; empty for a gate of the collector itself or a shared library.
    """

    id: str
    stage_before: str | None
    stage_after: str | None
    description: str
    components: Sequence[str]


@dataclass(frozen=True, slots=True)
class ChangedDefault:
    """A setting that the text does not write, and that both versions have with different values."""

    component_path: str
    line: int
    column: int
    key: str
    before: Setting
    after: Setting


@dataclass(frozen=True, slots=True)
class ChangedBehaviour:
    """A changed behaviour of a component from the version `since` on, with the same settings; from release notes."""

    component_path: str
    line: int
    column: int
    since: str
    message: str
    source: str


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A component that `version`'s build lacks, so that nothing is known of it there."""

    component_path: str
    line: int
    column: int
    kind: str
    type: str
    version: str


class UpgradeReport(BaseModel):
    """Changes of a configuration by moving it from one collector version to another.

    `outputs` is null: what the pipelines put out is not compared.
    """

    # `proposed_yaml` is the text with every rename of the target, or None if there is none. `incomplete` is set if a
    # list was cut, or if the text has so many components that not all of them were compared. `inside` is the path of
    # the configuration that is compared if the text is one around it, such as a ConfigMap.
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    verdict: Verdicts
    new_errors: Sequence[Finding]
    new_warnings: Sequence[Finding]
    renames: Sequence[Rename]
    not_renamed: Sequence[NotRenamed]
    deprecations: Sequence[Deprecation]
    feature_gates: Sequence[FeatureGate]
    defaults: Sequence[ChangedDefault]
    behaviours: Sequence[ChangedBehaviour]
    not_checked: Sequence[NotChecked]
    incomplete: bool
    outputs: None = None
    proposed_yaml: str | None
    inside: str | None = None


class UpgradeCheckNotPossible(Invalid):
    """The request names an official release, which gives verdicts and nothing more."""

    code = "upgrade_check_not_possible"

    def __init__(self, version: str, field: str) -> None:
        super().__init__(
            f"Collector {version} is an official release, which cannot be compared with another: validate with it, or "
            "choose a version that the list of collector versions shows with `can.upgrade_check`",
            at=("body", field),
        )


class SeveralConfigurations(Invalid):
    """A report is about one configuration, and the text has several."""

    code = "several_configurations"

    def __init__(self, path: str, another: str, loc: tuple[str, ...]) -> None:
        several = f"The text has several configurations, under {path} and {another}"
        super().__init__(f"{several}: take each out, and check it alone", at=loc)

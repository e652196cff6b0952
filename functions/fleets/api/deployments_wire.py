"""Requests and answers of the endpoints of deployment groups."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from fleets.api.wire import AssignmentOut, InstancesOut, LabelKey, LabelValue
from headgate.deployments.assignments import AssignmentChange, CheckedAssignment
from headgate.deployments.events import LONGEST_MESSAGE, EventKind
from headgate.deployments.model import Role, VolumeMount
from headgate.deployments.selectors import MOST_LABELS
from headgate.fleets import tokens
from headgate.http.wire import Answer, ConfigurationId, ManagedBy, PrincipalOut, at, beyond
from headgate.instances.counting.fleets import CountedGroup
from headgate.instances.reported.suitability import Unsuited
from headgate.rollouts.reach import ReachState
from headgate_engine.validation.model import Finding
from headgate_engine.wire.inputs import PRESENT, Input, Name, Patch, refused_as
from headgate_engine.wire.times import Time

Number = Annotated[int, Field(ge=1, le=99_999_999)]
Replicas = Annotated[int, Field(ge=1, le=1_000)]
Namespace = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", max_length=63),
    refused_as("This must be 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends"),
]
Message = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_MESSAGE),
    beyond("Why the version is assigned"),
]


class CreateDeployment(Input):
    name: Name
    configuration_id: ConfigurationId
    version_number: Number
    role: Role | None = None
    replicas: Replicas | None = None
    namespace: Namespace | None = None
    message: Message | None = None
    managed_by: ManagedBy = None


class PatchDeployment(Patch):
    """Changes the fields that are given, at least one. Null clears a field that may be empty."""

    name: Annotated[Name | None, PRESENT] = Field(default=None)
    configuration_id: ConfigurationId | None = None
    version_number: Annotated[Number | None, PRESENT] = Field(default=None)
    replicas: Replicas | None = None
    namespace: Namespace | None = None
    reads_configurations: Annotated[
        bool | None,
        PRESENT,
        beyond("Whether configurations that observed collectors report are stored, without secrets"),
    ] = None
    message: Annotated[Message | None, PRESENT] = Field(default=None)
    managed_by: ManagedBy = None

    @model_validator(mode="before")
    @classmethod
    def _role_stays(cls, role: object) -> object:
        if isinstance(role, dict) and "role" in role:
            # Not "unknown field": every answer has it.
            fixed = PydanticCustomError("fixed", "The role is set when a group is created, and cannot be changed")
            place = InitErrorDetails(type=fixed, loc=("role",), input=role["role"])
            raise ValidationError.from_exception_data(cls.__name__, [place])
        return role

    def changes(self) -> dict[str, str | int | None]:
        return self.model_dump(exclude_unset=True, exclude={"message"})


class VolumeMountIn(Input):
    host_path: Annotated[str, StringConstraints(max_length=10_000)]
    mount_path: Annotated[str, StringConstraints(max_length=10_000)]


class PutVolumeMounts(Input):
    """All mounts of a group; they replace the present ones."""

    # The domain says what a smaller number of mounts must be.
    volume_mounts: Annotated[list[VolumeMountIn], Field(max_length=100)]

    def mounts(self) -> list[VolumeMount]:
        return [VolumeMount(mount.host_path, mount.mount_path) for mount in self.volume_mounts]


class VolumeMountOut(Answer):
    host_path: str
    mount_path: str


class DeploymentOut(Answer):
    id: str
    fleet_id: str
    name: str
    is_default: bool
    role: Role | None
    replicas: int | None
    namespace: str | None
    configuration_id: str | None
    configuration_name: Annotated[str | None, beyond()]
    version_number: int | None
    volume_mounts: list[VolumeMountOut]
    assigned_at: Annotated[Time | None, beyond()]
    goes_back_to: Annotated[
        AssignmentOut | None,
        beyond(
            "The last version before the assigned one that a host of the group ran healthily for a time. In the answer "
            "about one group, if there is none, what `headgate rollback` assigns else; null if nothing is known"
        ),
    ]
    selector: Annotated[dict[str, str], beyond("Hosts with these labels belong to it")]
    token_id: Annotated[str | None, beyond("Names its own token, if it has one")]
    token_expires_at: Annotated[Time | None, beyond()]
    collector_version: Annotated[
        str | None, beyond("The collector that a rollout moved its hosts to; null for what was installed on each")
    ]
    variables_revision: Annotated[
        int | None, beyond("The revision of the stored variables that its hosts were moved to; null for those of each")
    ]
    captures_allowed: Annotated[bool, beyond("Whether an Admin has allowed captures")]
    reads_configurations: Annotated[bool, beyond("Whether observed collectors' configurations are stored")]
    first_by_rollout: Annotated[
        bool,
        beyond("Whether its collectors go on with what they had before it was managed, until a version is rolled out"),
    ]
    instances: Annotated[InstancesOut, beyond()]
    created_at: Time
    updated_at: Time
    managed_by: ManagedBy

    @classmethod
    def counted(cls, counted: CountedGroup, **more: object) -> Self:
        group = counted.group
        assignment = group.assignment
        healthy = {"goes_back_to": AssignmentOut.of_version(group.healthy[0].assignment) if group.healthy else None}
        return cls.of(
            group,
            counted,
            configuration_id=assignment.configuration_id if assignment else None,
            version_number=assignment.version_number if assignment else None,
            token_id=tokens.current_id(group.id, group.token_generation) if group.token_generation else None,
            collector_version=group.collector.version if group.collector else None,
            variables_revision=group.variables.revision if group.variables else None,
            first_by_rollout=group.leaves_alone,
            instances=InstancesOut.of(counted.instances),
            **(healthy | more),
        )


class WarningOut(Answer):
    """A finding of the collector in the version that was assigned; `not_checked` if it could not be asked."""

    severity: Literal["error", "warning"]
    message: str
    component_path: str
    code: str
    line: int | None
    column: int | None


class DeploymentChanged(DeploymentOut):
    """With the collector's findings in the version that was assigned, and what hosts of the group lack for it.

    They do not prevent the assignment.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    warnings: list[WarningOut] = Field(default_factory=list)

    @classmethod
    def of_change(cls, changed: AssignmentChange, counted: CountedGroup, hosts: Sequence[Unsuited]) -> Self:
        return cls.counted(counted, warnings=warnings_of(changed.check, hosts))


class CheckAssignment(Input):
    """A published version, of the configuration that is assigned if none is named."""

    configuration_id: ConfigurationId | None = None
    version_number: Number


class AssignmentCheck(BaseModel):
    """Warnings about an assignment of the version."""

    warnings: list[WarningOut]


def warnings_of(check: CheckedAssignment, hosts: Sequence[Unsuited]) -> list[WarningOut]:
    """The collector's findings, then what hosts of the group lack."""
    warnings = [*_warnings("error", check.errors), *_warnings("warning", check.warnings)]
    for finding in check.start:
        warnings += _warnings("warning" if finding.code == "depends_on_host" else "error", [finding])
    not_checked = f"Not checked: {check.not_checked}" if check.not_checked is not None else None
    not_started = f"Not started: {check.not_started}" if check.not_started is not None else None
    for problem in filter(None, (not_checked, not_started)):
        warnings.append(_without_place(Unsuited(problem, "", "not_checked")))
    return [*warnings, *map(_without_place, hosts)]


def _without_place(unsuited: Unsuited) -> WarningOut:
    return WarningOut.of(unsuited, severity="warning", line=None, column=None)


def _warnings(severity: Literal["error", "warning"], findings: Sequence[Finding]) -> list[WarningOut]:
    return [WarningOut.of(finding, severity=severity) for finding in findings]


class PutSelector(Input):
    """The labels that select the group's hosts; none if it is empty."""

    labels: Annotated[dict[LabelKey, LabelValue], Field(max_length=MOST_LABELS)]


class NamedVersionOut(Answer):
    """A published version, with the name that its configuration had then; null if it was not known."""

    configuration_id: Annotated[str, at("assignment", "configuration_id")]
    configuration_name: str | None
    version_number: Annotated[int, at("assignment", "version_number")]


class ReachOut(Answer):
    """The reach of an assignment: `completed` without collectors, and `superseded` after a later one."""

    state: ReachState
    total: int
    applied: int
    failed: int


class GroupEventOut(Answer):
    """An event of a group: `before` was assigned until then, and `assigned` from then on; null is nothing.

    `reach` counts the collectors that run what was assigned; null for nothing, and in the history of a deleted group.
    `variables_revision` is the revision that a rollout brought together with it.
    """

    at: Time
    event: Annotated[EventKind, at("kind")]
    by: PrincipalOut
    message: str | None
    before: NamedVersionOut | None
    assigned: NamedVersionOut | None
    variables_revision: int | None
    reach: ReachOut | None = None


class AssignedThenOut(Answer):
    """The assignment of a group `at` a time, and `since` when. `event` made it; null if it is over 90 days old."""

    at: Time
    assigned: NamedVersionOut | None
    since: Time
    event: GroupEventOut | None

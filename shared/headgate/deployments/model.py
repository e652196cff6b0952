"""Deployment groups, and the rules of what may be assigned to them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from headgate.foundation import errors
from headgate.foundation.ids import new_id

Role = Literal["node", "cluster", "gateway"]


class DeploymentNotFound(errors.NotFound):
    """The fleet has no such group."""

    code = "deployment_not_found"

    def __init__(self) -> None:
        super().__init__("No such deployment")


class NameTaken(errors.Conflict):
    """Names are unique in a fleet."""

    code = "deployment_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"A deployment named '{name}' already exists in this fleet")


class FieldRefused(errors.Invalid):
    """A field does not fit the fleet or the group."""

    code = "deployment_invalid"

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message, [errors.FieldError(("body", name), message)])


class NotPublished(errors.Invalid):
    """A version that may still change, or that others may not see, is not rolled out."""

    code = "version_not_published"

    def __init__(self, message: str, name: str = "version_number") -> None:
        super().__init__(message, [errors.FieldError(("body", name), message)])


class NothingAssigned(errors.Conflict):
    """The group has no version that could be checked."""

    code = "nothing_assigned"

    def __init__(self) -> None:
        super().__init__("No version is assigned to this deployment group: assign one first")


@dataclass(frozen=True, slots=True)
class Assignment:
    configuration_id: str
    version_number: int


@dataclass(frozen=True, slots=True)
class VolumeMount:
    host_path: str
    mount_path: str


@dataclass(frozen=True, slots=True)
class Deployment:
    """A group of a fleet's collectors that run the same version.

    `revision` counts its changes; `assigned_revision` is that of the last change of its assignment.
    """

    id: str
    fleet_id: str
    name: str
    is_default: bool
    role: Role | None
    replicas: int | None
    namespace: str | None
    assignment: Assignment | None
    created_at: datetime
    updated_at: datetime
    volume_mounts: Sequence[VolumeMount] = field(default=())
    revision: int = 1
    assigned_revision: int = 1

    @classmethod
    def default(cls, fleet_id: str, at: datetime) -> "Deployment":
        """The group that a server fleet begins with."""
        return cls(new_id("dep", at), fleet_id, "Default", True, None, None, None, None, at, at)

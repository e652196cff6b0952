"""Configurations and versions, and which changes of them are allowed.

These are pure functions; the store repeats each as a condition of its write, which decides a race.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.foundation.principal import Principal

Status = Literal["draft", "published"]
Archived = Literal["false", "true", "all"]
"""Filter of a list: configurations that are not archived, archived ones, or both."""


class ConfigurationNotFound(errors.NotFound):
    """The configuration does not exist, or it is another member's draft."""

    code = "configuration_not_found"
    detail = "No such configuration"


class VersionNotFound(errors.NotFound):
    """The version does not exist, or it is another member's draft."""

    code = "version_not_found"
    detail = "No such version; list the configuration's versions for their numbers"


class VersionIsPublished(errors.Conflict):
    """A published version is immutable."""

    code = "version_published"

    def __init__(self, n: int) -> None:
        super().__init__(f"Version {n} is published and cannot be edited; append a new version instead")


class ConfigurationArchived(errors.Conflict):
    """An archived configuration can be read and restored, and not changed or run."""

    code = "configuration_archived"
    detail = "This configuration is archived: restore it first"


class ConfigurationPublished(errors.Conflict):
    """A configuration that was published is never deleted: hosts, rollouts and audit records refer to it."""

    code = "configuration_published"
    detail = "A configuration that was published cannot be deleted: archive it"


class NotTheOwner(errors.Forbidden):
    """Changing a configuration takes its owner or an Admin."""

    code = "not_the_owner"
    detail = "Only its owner or an Admin may change this configuration"


class VersionChanged(errors.PreconditionFailed):
    """`If-Match` names an earlier state of the version."""

    code = "version_changed"

    def __init__(self, etag: str) -> None:
        super().__init__(f"The version has changed since; its ETag is now {etag}")


class UnknownDistribution(errors.Invalid):
    """Only otelcol-contrib is accepted through the API."""

    code = "unknown_distribution"

    def __init__(self, distribution: str, field: str = "collector_distribution") -> None:
        super().__init__(f"Unknown collector distribution: '{distribution}'", at=("body", field))


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration as it stands, whoever looks at it."""

    id: str
    organization_id: str
    name: str
    description: str | None
    collector_distribution: str
    owner: Principal
    latest_version: int
    published_version: int | None
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None = None
    # How often it was assigned, so that archiving it notices an assignment at the same time.
    assigned: int = 0
    # What created it, by its own words.
    managed_by: str | None = None

    def owned_by(self, caller: Caller) -> bool:
        return self.owner.kind == caller.principal.kind and self.owner.id == caller.principal.id

    def visible_to(self, caller: Caller) -> bool:
        return self.owned_by(caller) or self.published_version is not None

    def shows_version(self, caller: Caller, version: "Version") -> bool:
        """An owner sees every version; others see published ones and the drafts that they created."""
        return self.owned_by(caller) or version.status == "published" or version.created_by.id == caller.principal.id

    def as_seen_by(self, caller: Caller) -> "Configuration":
        """The latest version for others than the owner is the newest published one.

        Raises ConfigurationNotFound for one that the caller may not see.
        """
        if self.owned_by(caller):
            return self
        if self.published_version is None:
            raise ConfigurationNotFound
        return replace(self, latest_version=self.published_version)

    def changeable_by(self, caller: Caller) -> bool:
        """True if the caller, who sees it, may change it."""
        return self.owned_by(caller) or caller.is_admin

    def require_changeable_by(self, caller: Caller) -> None:
        """Raises ConfigurationNotFound when the caller may not see it, NotTheOwner when they may only look."""
        if not self.visible_to(caller):
            raise ConfigurationNotFound
        if not self.changeable_by(caller):
            raise NotTheOwner

    def require_not_archived(self) -> None:
        """Raises ConfigurationArchived."""
        if self.archived_at is not None:
            raise ConfigurationArchived


@dataclass(frozen=True, slots=True)
class Version:
    """A version. `yaml` is None in lists; `revision` counts its changes and makes its ETag.

    `feature_gates` are those of the collectors that run it, as `--feature-gates` takes them.
    """

    n: int
    status: Status
    collector_version: str
    collector_distribution: str
    description: str | None
    created_by: Principal
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None
    revision: int
    yaml: str | None = None
    feature_gates: tuple[str, ...] = ()

    @property
    def etag(self) -> str:
        return f'"{self.n}-{self.revision}"'

    @property
    def draft_etag(self) -> str:
        """The ETag of the draft that was published: publishing is the last change."""
        return self.etag if self.status == "draft" else f'"{self.n}-{self.revision - 1}"'

    def edit(
        self,
        yaml: str | None,
        collector_version: str | None,
        at: datetime,
        description: str | None = None,
        feature_gates: tuple[str, ...] | None = None,
    ) -> "Version":
        """The version with the given fields changed. Raises VersionIsPublished."""
        if self.status == "published":
            raise VersionIsPublished(self.n)
        return replace(
            self,
            yaml=self.yaml if yaml is None else yaml,
            collector_version=self.collector_version if collector_version is None else collector_version,
            description=self.description if description is None else description,
            feature_gates=self.feature_gates if feature_gates is None else feature_gates,
            updated_at=at,
            revision=self.revision + 1,
        )

    def publish(self, at: datetime) -> "Version":
        """The version, published. A published one stays as it is."""
        if self.status == "published":
            return self
        return replace(self, status="published", published_at=at, updated_at=at, revision=self.revision + 1)

"""The bodies and answers of the configurations endpoints."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, Field, StringConstraints

from headgate.configurations.model import Configuration, Status, Version
from headgate.foundation.collector import DISTRIBUTION
from headgate.http.wire import PRESENT, CollectorVersion, Input, Name, Patch, PrincipalOut, Time, Yaml
from headgate.policies.model import Suppression

Description = Annotated[str, StringConstraints(max_length=2_000)]


class CreateConfiguration(Input):
    name: Name
    yaml: Yaml
    collector_distribution: str = DISTRIBUTION
    description: Description | None = None


class PatchConfiguration(Patch):
    name: Annotated[Name | None, PRESENT] = Field(default=None)
    description: Description | None = None

    def changes(self) -> dict[str, str | None]:
        return self.model_dump(exclude_unset=True)


class AppendVersion(Input):
    yaml: Yaml
    description: Description | None = None


class PatchVersion(Patch):
    yaml: Annotated[Yaml | None, PRESENT] = Field(default=None)
    collector_version: Annotated[CollectorVersion | None, PRESENT] = Field(default=None)


class ConfigurationSummary(BaseModel):
    id: str
    name: str
    description: str | None
    collector_distribution: str
    owner: PrincipalOut
    latest_version: int
    published_version: int | None
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, configuration: Configuration) -> "ConfigurationSummary":
        return ConfigurationSummary(
            id=configuration.id,
            name=configuration.name,
            description=configuration.description,
            collector_distribution=configuration.collector_distribution,
            owner=PrincipalOut.of(configuration.owner),
            latest_version=configuration.latest_version,
            published_version=configuration.published_version,
            created_at=configuration.created_at,
            updated_at=configuration.updated_at,
        )


class ConfigurationDetail(ConfigurationSummary):
    """With the YAML of the latest version, and the collector that it is meant for."""

    collector_version: str
    yaml: str

    @classmethod
    def with_version(cls, configuration: Configuration, version: Version) -> Self:
        summary = ConfigurationSummary.of(configuration).model_dump()
        return cls(**summary, collector_version=version.collector_version, yaml=version.yaml or "")


class VersionSummary(BaseModel):
    n: int
    status: Status
    collector_version: str
    collector_distribution: str
    description: str | None
    created_by: PrincipalOut
    created_at: Time
    updated_at: Time
    published_at: Time | None

    @classmethod
    def of(cls, version: Version) -> "VersionSummary":
        return VersionSummary(
            n=version.n,
            status=version.status,
            collector_version=version.collector_version,
            collector_distribution=version.collector_distribution,
            description=version.description,
            created_by=PrincipalOut.of(version.created_by),
            created_at=version.created_at,
            updated_at=version.updated_at,
            published_at=version.published_at,
        )


class VersionDetail(VersionSummary):
    """With its YAML."""

    yaml: str

    @classmethod
    def with_yaml(cls, version: Version) -> Self:
        return cls(**VersionSummary.of(version).model_dump(), yaml=version.yaml or "")


class Suppressions(BaseModel):
    """All of a version's suppressions; a text has 500 at most."""

    items: Sequence[Suppression]
    next_cursor: None = None

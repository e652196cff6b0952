"""What the configurations endpoints take and give, field by field."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from headgate.clock import rfc3339
from headgate.configurations.model import COLLECTOR_VERSION, DISTRIBUTION, Configuration, Version
from headgate.identity.model import Principal


def _present(value: str | None) -> str:
    """For a field that may be left out of a PATCH, and may not be null."""
    if value is None:
        raise ValueError("This cannot be null; leave it out to keep it")
    return value


def _version_number(value: str) -> str:
    if not COLLECTOR_VERSION.fullmatch(value):
        raise ValueError("This has to be a version X.Y.Z, such as 0.139.0")
    return value


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Description = Annotated[str, StringConstraints(max_length=2_000)]
Yaml = Annotated[str, StringConstraints(min_length=1)]
CollectorVersion = Annotated[str, AfterValidator(_version_number)]


class Input(BaseModel):
    """Takes exactly its fields, of exactly their types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CreateConfiguration(Input):
    name: Name
    yaml: Yaml
    collector_distribution: str = DISTRIBUTION
    description: Description | None = None


class Patch(Input):
    """Changes the fields that are given, at least one."""

    @model_validator(mode="after")
    def _some_field(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"At least one of {', '.join(type(self).model_fields)} is needed")
        return self


class PatchConfiguration(Patch):
    name: Annotated[Name | None, AfterValidator(_present)] = Field(default=None)
    description: Description | None = None

    def changes(self) -> dict[str, str | None]:
        return self.model_dump(exclude_unset=True)


class AppendVersion(Input):
    yaml: Yaml
    description: Description | None = None


class PatchVersion(Patch):
    yaml: Annotated[Yaml | None, AfterValidator(_present)] = Field(default=None)
    collector_version: Annotated[CollectorVersion | None, AfterValidator(_present)] = Field(default=None)


class PrincipalOut(BaseModel):
    """A user, or a service account whichever of its tokens was used."""

    kind: Literal["service_account", "user"]
    id: str
    name: str

    @classmethod
    def of(cls, principal: Principal) -> Self:
        return cls(kind=principal.kind, id=principal.id, name=principal.name)


class ConfigurationSummary(BaseModel):
    id: str
    name: str
    description: str | None
    collector_distribution: str
    owner: PrincipalOut
    latest_version: int
    published_version: int | None
    created_at: str
    updated_at: str

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
            created_at=rfc3339(configuration.created_at),
            updated_at=rfc3339(configuration.updated_at),
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
    status: Literal["draft", "published"]
    collector_version: str
    collector_distribution: str
    description: str | None
    created_by: PrincipalOut
    created_at: str
    updated_at: str
    published_at: str | None

    @classmethod
    def of(cls, version: Version) -> "VersionSummary":
        return VersionSummary(
            n=version.n,
            status=version.status,
            collector_version=version.collector_version,
            collector_distribution=version.collector_distribution,
            description=version.description,
            created_by=PrincipalOut.of(version.created_by),
            created_at=rfc3339(version.created_at),
            updated_at=rfc3339(version.updated_at),
            published_at=rfc3339(version.published_at) if version.published_at else None,
        )


class VersionDetail(VersionSummary):
    """With its YAML."""

    yaml: str

    @classmethod
    def with_yaml(cls, version: Version) -> Self:
        return cls(**VersionSummary.of(version).model_dump(), yaml=version.yaml or "")

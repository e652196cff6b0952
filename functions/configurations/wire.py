"""The bodies and answers of the configurations endpoints."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, Field, StringConstraints

from headgate.configurations.model import Configuration, Status, Version
from headgate.http.wire import Answer, ManagedBy, PrincipalOut
from headgate_engine.collector import DISTRIBUTION
from headgate_engine.policies.model import Suppression
from headgate_engine.wire.inputs import PRESENT, CollectorVersion, Input, Name, Patch, StoredGates, Yaml
from headgate_engine.wire.times import Time

Description = Annotated[str, StringConstraints(max_length=2_000)]


class CreateConfiguration(Input):
    name: Name
    yaml: Yaml
    collector_distribution: str = DISTRIBUTION
    description: Description | None = None
    managed_by: ManagedBy = None


class PatchConfiguration(Patch):
    name: Annotated[Name | None, PRESENT] = Field(default=None)
    description: Description | None = None
    managed_by: ManagedBy = None

    def changes(self) -> dict[str, str | None]:
        return self.model_dump(exclude_unset=True)


class AppendVersion(Input):
    yaml: Yaml
    description: Description | None = None


class PatchVersion(Patch):
    yaml: Annotated[Yaml | None, PRESENT] = Field(default=None)
    collector_version: Annotated[CollectorVersion | None, PRESENT] = Field(default=None)
    description: Annotated[Description | None, PRESENT] = Field(default=None, description="Notes on the version")
    feature_gates: Annotated[StoredGates | None, PRESENT] = Field(default=None, json_schema_extra={"x-extension": True})


class ConfigurationSummary(Answer):
    id: str
    name: str
    description: str | None
    collector_distribution: str
    owner: PrincipalOut
    latest_version: int
    published_version: int | None
    created_at: Time
    updated_at: Time
    archived_at: Time | None = Field(json_schema_extra={"x-extension": True}, description="null unless it is archived")
    managed_by: ManagedBy


class _WithGates(Answer):
    feature_gates: list[str] = Field(
        default=[],
        json_schema_extra={"x-extension": True},
        description="Those of the collectors that run it; left out if there are none",
    )

    @classmethod
    def of(cls, *shown: object, **more: object) -> Self:
        """Build the answer, without gates if there are none: what is not set is not part of it."""
        summary = super().of(*shown, **more)
        if not summary.feature_gates:
            summary.model_fields_set.discard("feature_gates")
        return summary


class ConfigurationDetail(_WithGates, ConfigurationSummary):
    """With the YAML of the latest version, and the collector that it is meant for."""

    collector_version: str
    yaml: str

    @classmethod
    def with_version(cls, configuration: Configuration, version: Version) -> Self:
        return cls.of(
            configuration,
            collector_version=version.collector_version,
            yaml=version.yaml or "",
            feature_gates=version.feature_gates,
        )


class VersionSummary(_WithGates):
    n: int
    status: Status
    collector_version: str
    collector_distribution: str
    description: str | None
    created_by: PrincipalOut
    created_at: Time
    updated_at: Time
    published_at: Time | None


class VersionDetail(VersionSummary):
    """With its YAML."""

    yaml: str

    @classmethod
    def with_yaml(cls, version: Version) -> Self:
        return cls.of(version, yaml=version.yaml or "")


class Suppressions(BaseModel):
    """All of a version's suppressions; a text has 500 at most."""

    items: Sequence[Suppression]
    next_cursor: None = None

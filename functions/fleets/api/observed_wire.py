"""Answers of the endpoints of observed collectors."""

from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, Field

from headgate.http.wire import Answer
from headgate.instances.service import SeenInstance
from headgate.instances.state.model import InstanceState
from headgate_engine.upgrades.model import UpgradeReport
from headgate_engine.validation.findings import Severity, Source
from headgate_engine.wire.checks import ValidationResult
from headgate_engine.wire.times import Time

_SHA256: Final = "SHA-256 of the text without secrets, in hex"
Sha256 = Annotated[str, Field(description=_SHA256)]


class ReportedConfigurationOut(Answer):
    """The configuration that a collector reports, without secrets: `[REDACTED]` stands in their place.

    `former` is the text before it, or for an earlier text the present one; `difference` goes from the earlier text to
    the later, null if one of them is not known or has over 5,000 lines.
    """

    sha256: Sha256
    yaml: Annotated[str, Field(description="The text, as YAML of its own: without comments")]
    at: Annotated[Time, Field(description="Since when the collector reports its present configuration")]
    former: Annotated[str | None, Field(description="SHA-256 of the text that it is compared with")]
    difference: Annotated[str | None, Field(description="What changed, as a unified difference")]


class InventoryOut(Answer):
    """A collector: where it runs, what it is, how it fares, and what it reports to run."""

    id: str
    host_name: str | None
    os: str | None
    arch: str | None
    distribution: Annotated[str | None, Field(description="What the collector calls itself")]
    collector_version: str | None
    state: InstanceState
    state_message: str | None
    deployment_id: str
    configuration: Annotated[str | None, Field(description=_SHA256)]
    configuration_problem: Annotated[str | None, Field(description="Why its configuration is not known")]
    components: Annotated[list[str], Field(description="Components in its configuration, as `kind/type`, up to 40")]
    available: Annotated[
        str | None, Field(description="SHA-256 of the names of all components that its program has; null if not known")
    ]
    first_seen_at: Time
    last_seen_at: Time

    @classmethod
    def of_seen(cls, seen: SeenInstance) -> Self:
        known = seen.instance.reported.effective
        return cls.of(
            seen,
            seen.instance,
            seen.instance.reported.description,
            seen.instance.contact,
            host_name=seen.instance.reported.name,
            configuration=known.sha256 if known else None,
            configuration_problem=known.problem if known else None,
            components=list(known.components) if known else [],
            available=seen.instance.reported.components,
        )


class SharedConfigurationOut(Answer):
    """Collectors that report the same configuration: the number of them, and the names of some."""

    sha256: Sha256
    count: Annotated[int, Field(description="Number of collectors")]
    hosts: Annotated[list[str], Field(description="Names of up to five hosts")]
    versions: Annotated[list[str], Field(description="Versions of their collectors, up to five")]
    components: Annotated[list[str], Field(description="Components in the configuration, as `kind/type`")]


class SharedConfigurationsOut(BaseModel):
    """The configurations that collectors of a fleet report, the one with most collectors first."""

    items: list[SharedConfigurationOut]
    left_out: Annotated[int, Field(description="Number of configurations that are not listed")]


class FindingsOut(BaseModel):
    """Findings of a collector of `version` in the configuration that a host reports.

    `exact` is whether that is the host's own version, else it is the nearest one that is installed here. Redacted
    values are variables without values. `upgrade` is what changes with another version, if one was asked for.
    """

    version: Annotated[str, Field(description="The collector that was asked")]
    reported_version: Annotated[str | None, Field(description="The collector that the host reports")]
    exact: bool
    yaml: Annotated[str, Field(description="The text that was checked, to which lines and columns refer")]
    result: ValidationResult
    upgrade: Annotated[UpgradeReport | None, Field(description="Null if no version was asked for")]


class FleetFindingOut(BaseModel):
    """A finding that configurations of a fleet have; `source` is `upgrade` for what another version would change."""

    severity: Severity
    source: Source | Literal["upgrade"]
    code: str
    message: str
    way_out: str
    component_path: str
    count: Annotated[int, Field(description="Number of hosts that have it")]
    hosts: Annotated[list[str], Field(description="Names of up to five of them")]


class FleetFindingsOut(BaseModel):
    """Findings in the configurations that collectors of a fleet report, the worst and most frequent first."""

    items: list[FleetFindingOut]
    checked: Annotated[int, Field(description="Number of configurations that were checked")]
    without_findings: Annotated[
        int, Field(description="Number of hosts whose configuration has no finding", examples=[40])
    ]
    not_checked: Annotated[int, Field(description="Number of hosts whose configuration was not checked", examples=[0])]
    left_out: Annotated[int, Field(description="Number of findings that are not listed")]


class PlaceholderOut(Answer):
    name: Annotated[str, Field(description="Name of the variable")]
    component_path: Annotated[str, Field(description="Where its value was redacted")]


class AdoptionOut(Answer):
    """A configuration to create with `POST /configurations`, for a managed fleet. Nothing is saved.

    Variables stand in the place of redacted values. `difference` is what changes against what the collector reports:
    what to paste where the agent takes no remote configuration.
    """

    name: Annotated[str, Field(description="Name of the host, for the configuration")]
    yaml: Annotated[str, Field(description="The text to create")]
    variables: list[PlaceholderOut]
    difference: Annotated[str | None, Field(description="What changes, as a unified difference")]
    accepts_remote_config: bool
    notes: Annotated[list[str], Field(description="What to know before it is rolled out")]

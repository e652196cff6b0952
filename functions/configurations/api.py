"""The configurations endpoints: configurations, their versions, publishing."""

from typing import Annotated, Final

from fastapi import Query, Request, Response

from configurations.filters import WantedConfigurations
from configurations.wire import (
    AppendVersion,
    ConfigurationDetail,
    ConfigurationSummary,
    CreateConfiguration,
    PatchConfiguration,
    PatchVersion,
    Suppressions,
    VersionDetail,
    VersionSummary,
)
from headgate.checker import Asker
from headgate.configurations import search
from headgate.configurations import service as configurations
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import ConfigurationId, Flag, IfMatch, VersionNumber, states
from headgate.http.paths import PUBLIC
from headgate.http.routing import recorded
from headgate.http.routing import router as group
from headgate.identity import checks
from headgate.usage import service as usage
from headgate_engine.upgrades import service as upgrades
from headgate_engine.upgrades.model import UpgradeReport
from headgate_engine.wire.upgrades import CheckUpgrade

router = group("/configurations", "Configurations")

_VERSION: Final = "/{configuration_id}/versions/{n}"

Validate = Annotated[Flag, Query(description="Save only what the collector accepts")]
IfTestsPass = Annotated[
    Flag,
    Query(description="Publish only if all tests of the version passed as they are, or it has none"),
]


@router.get("")
def list_configurations(caller: Reader, paging: Paging, filters: WantedConfigurations) -> Page[ConfigurationSummary]:
    """The caller's own configurations and the organization's published ones, most recently updated first.

    With `text` or `component`, a page has what is found in the texts of up to 500 configurations, or in 16 MB of them,
    with `name` among up to 2,000: it may be short, also empty, and still have a next one.
    """
    return paging.page(search.find(caller, filters, paging.limit, paging.after), ConfigurationSummary.of)


@router.post("", response_model_exclude_unset=True, status_code=201, **recorded("configuration.created", 409))
def create_configuration(
    body: CreateConfiguration, caller: Writer, request: Request, response: Response
) -> ConfigurationDetail:
    """Create a configuration, and its version 1 as a draft. The YAML is stored without validation."""
    created, first = configurations.create(
        caller, body.name, body.yaml, body.collector_distribution, body.description, body.managed_by
    )
    add_details(request, {"name": created.name})
    response.headers["Location"] = f"{PUBLIC}/configurations/{created.id}"
    response.headers["ETag"] = first.etag
    return ConfigurationDetail.with_version(created, first)


@router.get("/{configuration_id}", response_model_exclude_unset=True)
def get_configuration(configuration_id: ConfigurationId, caller: Reader, response: Response) -> ConfigurationDetail:
    """A configuration with the YAML of its latest version, and that one's ETag."""
    configuration, latest = configurations.get(caller, configuration_id)
    response.headers["ETag"] = latest.etag
    return ConfigurationDetail.with_version(configuration, latest)


@router.patch("/{configuration_id}", **recorded("configuration.changed"))
def change_configuration(
    configuration_id: ConfigurationId, body: PatchConfiguration, caller: Writer, request: Request
) -> ConfigurationSummary:
    """Rename a configuration, change its description, or say what manages it from now on."""
    changed = configurations.describe(caller, configuration_id, body.changes())
    add_details(request, {"name": changed.name})
    return ConfigurationSummary.of(changed)


@router.delete("/{configuration_id}", status_code=204, **recorded("configuration.deleted", 409))
def delete_configuration(configuration_id: ConfigurationId, caller: Writer, request: Request) -> None:
    """Delete a configuration that was never published, with all its versions, rules and tests, for good.

    409 `configuration_published` for any other; archive that one.
    """
    add_details(request, {"name": configurations.delete(caller, configuration_id).name})


@router.post("/{configuration_id}/archive", **recorded("configuration.archived", 409))
def archive_configuration(configuration_id: ConfigurationId, caller: Writer, request: Request) -> ConfigurationSummary:
    """Keep a configuration only: it leaves the list, and is not edited, published, assigned or rolled out.

    409 `configuration_in_use` while a group is assigned a version of it, or a rollout or an override makes hosts run
    one; `errors` names them. Archiving it again returns the same result.
    """
    archived = usage.archive(caller, configuration_id)
    add_details(request, {"name": archived.name})
    return ConfigurationSummary.of(archived)


@router.post("/{configuration_id}/restore", **recorded("configuration.restored"))
def restore_configuration(configuration_id: ConfigurationId, caller: Writer, request: Request) -> ConfigurationSummary:
    """Make an archived configuration one that is used again. Restoring it again returns the same result."""
    restored = configurations.restore(caller, configuration_id)
    add_details(request, {"name": restored.name})
    return ConfigurationSummary.of(restored)


@router.get("/{configuration_id}/versions", response_model_exclude_unset=True)
def list_versions(configuration_id: ConfigurationId, caller: Reader, paging: Paging) -> Page[VersionSummary]:
    """The versions, newest first, without YAML."""
    return paging.page(configurations.versions(caller, configuration_id, paging.limit, paging.after), VersionSummary.of)


@router.post(
    "/{configuration_id}/versions",
    response_model_exclude_unset=True,
    status_code=201,
    **recorded("version.created", 409, 412),
)
def append_version(
    configuration_id: ConfigurationId,
    body: AppendVersion,
    caller: Writer,
    request: Request,
    response: Response,
    if_match: IfMatch = None,
) -> VersionDetail:
    """Append a draft version. It inherits the latest version's collector version and feature gates.

    `If-Match` is the ETag of the latest version that you read: 412 `version_changed` if it was changed since, or if
    there is a newer one.
    """
    configuration, added = configurations.append(
        caller, configuration_id, body.yaml, body.description, states(if_match)
    )
    add_details(request, {"name": configuration.name})
    response.headers["Location"] = f"{PUBLIC}/configurations/{configuration_id}/versions/{added.n}"
    response.headers["ETag"] = added.etag
    return VersionDetail.with_yaml(added)


@router.get(_VERSION, response_model_exclude_unset=True)
def get_version(
    configuration_id: ConfigurationId, n: VersionNumber, caller: Reader, response: Response
) -> VersionDetail:
    """One version with its YAML."""
    version = configurations.get_version(caller, configuration_id, n)
    response.headers["ETag"] = version.etag
    return VersionDetail.with_yaml(version)


@router.patch(_VERSION, response_model_exclude_unset=True, **recorded("version.changed", 409, 412))
def change_version(
    configuration_id: ConfigurationId,
    n: VersionNumber,
    body: PatchVersion,
    caller: Writer,
    request: Request,
    response: Response,
    validate: Validate = False,
    if_match: IfMatch = None,
) -> VersionDetail:
    """Edit a draft. With `validate=true`, nothing is saved unless the collector accepts the result."""
    with checks.under_way(caller, asked=validate):
        configuration, version = configurations.edit(
            caller,
            configuration_id,
            n,
            yaml=body.yaml,
            collector_version=body.collector_version,
            description=body.description,
            feature_gates=None if body.feature_gates is None else tuple(body.feature_gates),
            if_match=states(if_match),
            validate=validate,
        )
    add_details(request, {"name": configuration.name})
    response.headers["ETag"] = version.etag
    return VersionDetail.with_yaml(version)


@router.post(
    f"{_VERSION}/publish",
    response_model_exclude_unset=True,
    **recorded("version.published", 409, 412),
)
def publish_version(
    configuration_id: ConfigurationId,
    n: VersionNumber,
    caller: Writer,
    request: Request,
    response: Response,
    if_tests_pass: IfTestsPass = False,
    if_match: IfMatch = None,
) -> VersionDetail:
    """Publish a version. Publishing it again returns the same result.

    With `If-Match` nothing is published but the draft with that ETag: 412 `version_changed` if it was changed since. If
    the organization requires policies (`PUT /policies`), a version that breaks one is 409 `publish_requirements`, whose
    `errors` list what counts; so is one whose tests did not pass, with `if_tests_pass=true`. 503 if that could not be
    checked. Nothing is published then.
    """
    configuration, version = configurations.publish(
        caller, configuration_id, n, states(if_match), if_tests_pass=if_tests_pass
    )
    add_details(request, {"name": configuration.name})
    response.headers["ETag"] = version.etag
    return VersionDetail.with_yaml(version)


@router.get(f"{_VERSION}/suppressions")
def list_suppressions(configuration_id: ConfigurationId, n: VersionNumber, caller: Reader) -> Suppressions:
    """The comments in a version that suppress findings of policies, in the order of the text, by its collector.

    `problem` says why a comment does not do what it says. 503 means that the collector could not be asked.
    """
    with checks.under_way(caller):
        return Suppressions(items=configurations.suppressions(caller, configuration_id, n))


@router.post(f"{_VERSION}/upgrade-check")
def check_version_upgrade(
    configuration_id: ConfigurationId, n: VersionNumber, body: CheckUpgrade, caller: Reader
) -> UpgradeReport:
    """Compare a version's collector version with another, by dry runs on both. Nothing is saved.

    503 means that one of the collectors could not be asked.
    """
    with checks.under_way(caller):
        version = configurations.get_version(caller, configuration_id, n)
        text = body.text_of(version.yaml, version.collector_version, ("path", "n"), version.feature_gates)
        return upgrades.check(text, body.to, body.source, asker=Asker.of(caller))

"""The kinds of records that an archive may hold: where each belongs by its content, and what its attributes may be.

The attributes are those of docs/data.md. What is not listed here is not imported: an attribute that an index reads
could place an item among those of another organization.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from headgate.audit import keys as audit_keys
from headgate.backup import checks, places
from headgate.backup.archive import TableName
from headgate.backup.checks import an_id, one_of, text
from headgate.backup.kind import NAME, Kind, named
from headgate.backup.places import beside_version, in_fleet, in_organization
from headgate.configurations import keys as configuration_keys
from headgate.configurations import mapping as configurations
from headgate.deployments import mapping as deployments
from headgate.fleets import keys as fleet_keys
from headgate.fleets import mapping as fleets
from headgate.identity import keys
from headgate.instances import mapping as instances
from headgate.policies import keys as policy_keys
from headgate.storage.items import Item
from headgate.version_tests import keys as test_keys

_of_version: Final = partial(Kind, "versions", "cfg_")
_of_identity: Final = partial(Kind, "identity", "organization#")
_of_organization: Final = partial(Kind, "fleets", "organization#")
_of_fleet: Final = partial(Kind, "fleets", "fleet#")
_of_history: Final = partial(Kind, "fleets", "history#")

_TOKEN: Final = named(
    *("organization_id", "service_account_id", "access", "created_at"), token_id=an_id("tok"), name=NAME
)
_BEHIND: Final = named("expires", "expires_at", "created_by", "owner")
_RULES: Final = named(
    *("pipeline", "revision", "rules"), name=NAME, signal_type=one_of("logs", "traces", "metrics", "profiles")
)
_MEMBER: Final = named(
    *("principal_id", "created_at"),
    kind=one_of("user", "service_account"),
    name=NAME,
    role=one_of("contributor", "admin"),
    status=one_of("active", "invited"),
)
_AUDIT: Final = named(
    *("audit_id", "organization_id"),
    **dict.fromkeys(("credential_id", "credential_name", "action", "target"), NAME),
    at=checks.time,
    actor=checks.actor,
    details=checks.texts,
)
_WEBHOOK: Final = named(
    *("webhook_id", "organization_id", "created_by", "created_at", "updated_at", "revision"),
    name=NAME,
    host=NAME,
    format=one_of("cloudevents", "slack", "pagerduty"),
    types=checks.names,
    fleet_ids=checks.names,
    enabled=checks.flag,
    target=checks.packed,
    secret=checks.packed,
)

KINDS: Final = (
    Kind(
        "configurations",
        "org_",
        "Configuration",
        "",
        places.configuration,
        {"own": NAME, "by_update": NAME},
        {"published": NAME},
    ).storing(configurations.CONFIGURATIONS),
    _of_version("Version", configuration_keys.VERSIONS, places.version, {}, named("published_of")).storing(
        configurations.VERSIONS
    ),
    _of_version(
        "Text of a version",
        "yaml#",
        beside_version(configuration_keys.yaml, "yaml#"),
        optional=named("content", "content_key", "components"),
    ),
    _of_version("Rule set of a pipeline", configuration_keys.RULES, places.rules, _RULES),
    _of_version("Tests of a version", "tests#", beside_version(test_keys.tests, "tests#"), named("revision", "tests")),
    Kind(
        "versions",
        "evidence#",
        "Evidence of a version's tests",
        "evidence#",
        beside_version(test_keys.evidence, "evidence#"),
        named("revision", "evidence"),
    ),
    _of_identity(
        "Organization",
        "organization",
        in_organization(keys.organization),
        named("organization_id", "created_at", "admins", name=NAME),
    ),
    _of_identity("Member", keys.MEMBERS, places.member, _MEMBER),
    _of_identity(
        "Service account",
        keys.SERVICE_ACCOUNTS,
        in_organization(keys.service_account, "service_account_id"),
        named("service_account_id", "created_at", name=NAME),
        named("created_by", revision=checks.number),
    ),
    _of_identity("Token in a list", keys.TOKENS, places.token_listing, {**_TOKEN, **named("value_hash")}, _BEHIND),
    Kind(
        "identity",
        "token#",
        "Token",
        "token",
        places.token,
        {**_TOKEN, "organization_name": NAME, "service_account_name": NAME},
        {**_BEHIND, "account_created_by": checks.principal},
    ),
    Kind(
        "identity",
        "user#",
        "Person",
        "user",
        places.person,
        named("user_id", "email", "created_at"),
        {"sessions_ended_at": checks.past},
    ),
    Kind("identity", "user#", "Membership of a person", keys.MEMBERS, places.membership, named("organization_id")),
    Kind("identity", "audit#", "Audit record", "", in_organization(audit_keys.record, "at", "audit_id"), _AUDIT),
    Kind(
        "identity",
        "policies#",
        "Policies",
        "policies",
        in_organization(policy_keys.policies),
        named("revision", "updated_at", settings=text(), updated_by=checks.principal),
    ),
    _of_organization("Fleet", fleet_keys.FLEETS, in_organization(fleet_keys.fleet, "fleet_id")).storing(fleets.FLEETS),
    _of_organization("Label of a fleet", "label#", places.label, named("fleet_id")),
    _of_organization("Number of fleets", "count", in_organization(fleet_keys.count), named("fleets")),
    _of_organization(
        "What samples leave out",
        "redaction",
        in_organization(fleet_keys.redaction),
        named("kinds", "patterns", "keys", "revision"),
    ),
    _of_organization(
        "Prices of destinations",
        "prices",
        in_organization(fleet_keys.prices),
        named("currency", "revision", prices=checks.entries),
        named("updated_at", updated_by=checks.principal),
    ),
    Kind("fleets", "token#", "Fleet token", "token", places.fleet_token).storing(fleets.TOKENS),
    _of_fleet("Deployment", fleet_keys.DEPLOYMENTS, places.group, named("revision")).storing(
        deployments.GROUPS, "volume_mounts"
    ),
    _of_fleet(
        "Variables of a deployment",
        "env#",
        in_fleet(fleet_keys.env, "deployment_id"),
        named("fleet_id", "deployment_id", "revision"),
    ).storing(deployments.ENVIRONMENTS, "variables"),
    _of_fleet(
        "Revision of a deployment's variables",
        fleet_keys.ENV_REVISIONS,
        places.env_revision,
        named("fleet_id", "deployment_id", "revision"),
    ).storing(deployments.ENVIRONMENTS, "variables"),
    _of_fleet(
        "Labels that select hosts", "selectors", in_fleet(fleet_keys.selectors), named("fleet_id", "revision")
    ).storing(deployments.SELECTORS, "selectors"),
    _of_fleet("Name of a deployment", fleet_keys.NAMES, places.name_marker, named("deployment_id")),
    _of_history(
        "Event of a deployment", fleet_keys.DEPLOYMENT_EVENTS, places.deployment_event, named("expires")
    ).storing(deployments.EVENTS),
    _of_fleet(
        "Instance",
        fleet_keys.INSTANCES,
        in_fleet(fleet_keys.instance, "instance_id"),
        named("revision", state=NAME),
        named("expires"),
    ).storing(instances.INSTANCES, "judged", "told_seconds", "accepts_config", "outcomes", "reported_status"),
    _of_fleet(
        "Components of a fleet's collectors",
        "components",
        in_fleet(fleet_keys.components),
        named("revision", lists=checks.mapping),
    ),
    _of_fleet(
        "Configuration of observed collectors",
        fleet_keys.EFFECTIVE,
        in_fleet(fleet_keys.effective, "sha256"),
        named("sha256", "expires", text=checks.packed, stored_at=checks.time),
    ),
    _of_fleet(
        "Health of a collector's parts",
        fleet_keys.HEALTH,
        in_fleet(fleet_keys.health, "instance_id"),
        named("instance_id", "expires", tree=checks.packed),
    ),
    _of_history(
        "Event of an instance",
        fleet_keys.INSTANCE_EVENTS,
        places.instance_event,
        named("expires", event=NAME, state=NAME),
    ).storing(instances.EVENTS),
    Kind(
        "fleets",
        "rollouts#dep_",
        "Rollout",
        fleet_keys.ROLLOUTS,
        places.rollout,
        named("revision", rollout=text()),
        named("expires"),
    ),
    Kind(
        "events",
        "organization#",
        "Webhook",
        places.WEBHOOKS,
        places.webhook,
        _WEBHOOK,
        {"previous_secret": checks.packed, "previous_until": checks.time},
    ),
    Kind(
        "events", "organization#", "Number of webhooks", "count", in_organization(fleet_keys.count), named("webhooks")
    ),
)


def kind_of(table: TableName, item: Item) -> Kind | None:
    """The kind whose keys have the form of the item's, None if no kind has."""
    return next((kind for kind in KINDS if kind.table == table and kind.has(item)), None)

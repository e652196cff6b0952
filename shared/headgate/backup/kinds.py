"""The kinds of records that an archive may hold: where each belongs by its content, and what its attributes may be.

The attributes are those of docs/data.md. What is not listed here is not imported: an attribute that an index reads
could place an item among those of another organization.
"""

from __future__ import annotations

from typing import Final

from headgate.audit import keys as audit_keys
from headgate.backup import checks, places
from headgate.backup.archive import TableName
from headgate.backup.checks import an_id, one_of, text
from headgate.backup.kind import NAME, Kind, named
from headgate.backup.kinds_of_fleets import KINDS_OF_FLEETS
from headgate.configurations import keys as configuration_keys
from headgate.configurations import mapping as configurations
from headgate.fleets import keys as fleet_keys
from headgate.identity import keys
from headgate.policies import keys as policy_keys
from headgate.storage import items
from headgate.storage.items import Item
from headgate.version_tests import keys as test_keys

_TOKEN: Final = named(
    *("organization_id", "service_account_id", "access", "created_at"), token_id=an_id("tok"), name=NAME
)
_BEHIND: Final = named("expires", "expires_at", "created_by", "owner")

KINDS: Final = (
    Kind(
        "Configuration",
        "configurations",
        "org_",
        "",
        places.configuration,
        {"own": NAME, "by_update": NAME},
        {"published": NAME},
    ).storing(configurations.CONFIGURATIONS),
    Kind(
        "Version",
        "versions",
        "cfg_",
        configuration_keys.VERSIONS,
        places.version,
        {},
        named("published_of"),
    ).storing(configurations.VERSIONS),
    Kind(
        "Text of a version",
        "versions",
        "cfg_",
        "yaml#",
        lambda index, item: configuration_keys.yaml(*places.version_of(index, item, "yaml#")),
        {},
        named("content", "content_key", "components"),
    ),
    Kind(
        "Rule set of a pipeline",
        "versions",
        "cfg_",
        configuration_keys.RULES,
        lambda index, item: configuration_keys.rules(
            *places.version_of(index, item, configuration_keys.RULES), items.text(item, "pipeline")
        ),
        named(
            *("pipeline", "revision", "rules"), name=NAME, signal_type=one_of("logs", "traces", "metrics", "profiles")
        ),
    ),
    Kind(
        "Tests of a version",
        "versions",
        "cfg_",
        "tests#",
        lambda index, item: test_keys.tests(*places.version_of(index, item, "tests#")),
        named("revision", "tests"),
    ),
    Kind(
        "Evidence of a version's tests",
        "versions",
        "evidence#",
        "evidence#",
        lambda index, item: test_keys.evidence(*places.version_of(index, item, "evidence#")),
        named("revision", "evidence"),
    ),
    Kind(
        "Organization",
        "identity",
        "organization#",
        "organization",
        lambda index, _: keys.organization(index.organization_id),
        named("organization_id", "created_at", "admins", name=NAME),
    ),
    Kind(
        "Member",
        "identity",
        "organization#",
        keys.MEMBERS,
        places.member,
        named(
            *("principal_id", "created_at"),
            kind=one_of("user", "service_account"),
            name=NAME,
            role=one_of("contributor", "admin"),
            status=one_of("active", "invited"),
        ),
    ),
    Kind(
        "Service account",
        "identity",
        "organization#",
        keys.SERVICE_ACCOUNTS,
        lambda index, item: keys.service_account(index.organization_id, items.text(item, "service_account_id")),
        named("service_account_id", "created_at", name=NAME),
        named("created_by", revision=checks.number),
    ),
    Kind(
        "Token in a list",
        "identity",
        "organization#",
        keys.TOKENS,
        places.token_listing,
        {**_TOKEN, **named("value_hash")},
        _BEHIND,
    ),
    Kind(
        "Token",
        "identity",
        "token#",
        "token",
        places.token,
        {**_TOKEN, "organization_name": NAME, "service_account_name": NAME},
        {**_BEHIND, "account_created_by": checks.principal},
    ),
    Kind(
        "Person",
        "identity",
        "user#",
        "user",
        places.person,
        named("user_id", "email", "created_at"),
        {"sessions_ended_at": checks.past},
    ),
    Kind(
        "Membership of a person",
        "identity",
        "user#",
        keys.MEMBERS,
        places.membership,
        named("organization_id"),
    ),
    Kind(
        "Audit record",
        "identity",
        "audit#",
        "",
        lambda index, item: audit_keys.record(
            index.organization_id, items.text(item, "at"), items.text(item, "audit_id")
        ),
        named(
            *("audit_id", "organization_id"),
            at=checks.time,
            actor=checks.actor,
            credential_id=NAME,
            credential_name=NAME,
            action=NAME,
            target=NAME,
            details=checks.texts,
        ),
    ),
    Kind(
        "Policies",
        "identity",
        "policies#",
        "policies",
        lambda index, _: policy_keys.policies(index.organization_id),
        named("revision", "updated_at", settings=text(), updated_by=checks.principal),
    ),
    *KINDS_OF_FLEETS,
    Kind(
        "Webhook",
        "events",
        "organization#",
        places.WEBHOOKS,
        places.webhook,
        named(
            *("webhook_id", "organization_id", "created_by", "created_at", "updated_at", "revision"),
            name=NAME,
            host=NAME,
            format=one_of("cloudevents", "slack", "pagerduty"),
            types=checks.names,
            fleet_ids=checks.names,
            enabled=checks.flag,
            target=checks.packed,
            secret=checks.packed,
        ),
        {"previous_secret": checks.packed, "previous_until": checks.time},
    ),
    Kind(
        "Number of webhooks",
        "events",
        "organization#",
        "count",
        lambda index, _: fleet_keys.count(index.organization_id),
        named("webhooks"),
    ),
)


def kind_of(table: TableName, item: Item) -> Kind | None:
    """The kind whose keys have the form of the item's, None if no kind has."""
    return next((kind for kind in KINDS if kind.table == table and kind.has(item)), None)

"""The kinds of records that an archive may hold: where each belongs by its content, and what its attributes may be.

The attributes are those of docs/data.md. What is not listed here is not imported: an attribute that an index reads
could place an item among those of another organization.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate.audit import keys as audit_keys
from headgate.backup import checks, places
from headgate.backup.archive import TableName
from headgate.backup.checks import Check, an_id, one_of, text
from headgate.backup.kind import LONG, NAME, Kind
from headgate.backup.kinds_of_fleets import KINDS_OF_FLEETS
from headgate.configurations import keys as configuration_keys
from headgate.fleets import keys as fleet_keys
from headgate.identity import keys
from headgate.policies import keys as policy_keys
from headgate.storage import items
from headgate.storage.items import Item
from headgate.version_tests import keys as test_keys

_EXPIRY: Final[Mapping[str, Check]] = {"expires": checks.number, "expires_at": checks.time}
_TOKEN: Final[Mapping[str, Check]] = {
    "token_id": an_id("tok"),
    "organization_id": an_id("org"),
    "service_account_id": an_id("sva"),
    "name": NAME,
    "access": one_of("read", "read_write"),
    "created_at": checks.time,
}
_CONTENT: Final[Mapping[str, Check]] = {"content": checks.packed, "content_key": text(100), "components": text()}
_CREATED_BY: Final[Mapping[str, Check]] = {"created_by": checks.principal}
_BEHIND: Final[Mapping[str, Check]] = {**_CREATED_BY, "owner": checks.principal}

KINDS: Final = (
    Kind(
        "Configuration",
        "configurations",
        "org_",
        "",
        places.configuration,
        {
            "name": NAME,
            "collector_distribution": NAME,
            "owner": checks.principal,
            "latest_version": checks.number,
            "created_at": checks.time,
            "updated_at": checks.time,
            "own": NAME,
            "by_update": NAME,
        },
        {
            "description": LONG,
            "published_version": checks.number,
            "published": NAME,
            "archived_at": checks.time,
            "assigned": checks.number,
            "managed_by": NAME,
        },
    ),
    Kind(
        "Version",
        "versions",
        "cfg_",
        configuration_keys.VERSIONS,
        places.version,
        {
            "n": checks.number,
            "status": one_of("draft", "published"),
            "collector_version": NAME,
            "collector_distribution": NAME,
            "created_by": checks.principal,
            "created_at": checks.time,
            "updated_at": checks.time,
            "revision": checks.number,
        },
        {
            "description": LONG,
            "published_at": checks.time,
            "published_of": an_id("cfg"),
            "feature_gates": checks.names,
        },
    ),
    Kind(
        "Text of a version",
        "versions",
        "cfg_",
        "yaml#",
        lambda index, item: configuration_keys.yaml(*places.version_of(index, item, "yaml#")),
        {},
        _CONTENT,
    ),
    Kind(
        "Rule set of a pipeline",
        "versions",
        "cfg_",
        configuration_keys.RULES,
        lambda index, item: configuration_keys.rules(
            *places.version_of(index, item, configuration_keys.RULES), items.text(item, "pipeline")
        ),
        {
            "pipeline": LONG,
            "name": NAME,
            "signal_type": one_of("logs", "traces", "metrics", "profiles"),
            "revision": checks.number,
            "rules": checks.entries,
        },
    ),
    Kind(
        "Tests of a version",
        "versions",
        "cfg_",
        "tests#",
        lambda index, item: test_keys.tests(*places.version_of(index, item, "tests#")),
        {"revision": checks.number, "tests": checks.entries},
    ),
    Kind(
        "Evidence of a version's tests",
        "versions",
        "evidence#",
        "evidence#",
        lambda index, item: test_keys.evidence(*places.version_of(index, item, "evidence#")),
        {"revision": checks.number, "evidence": checks.entries},
    ),
    Kind(
        "Organization",
        "identity",
        "organization#",
        "organization",
        lambda index, _: keys.organization(index.organization_id),
        {"organization_id": an_id("org"), "name": NAME, "created_at": checks.time, "admins": checks.number},
    ),
    Kind(
        "Member",
        "identity",
        "organization#",
        keys.MEMBERS,
        places.member,
        {
            "principal_id": an_id("usr", "sva"),
            "kind": one_of("user", "service_account"),
            "name": NAME,
            "role": one_of("contributor", "admin"),
            "status": one_of("active", "invited"),
            "created_at": checks.time,
        },
    ),
    Kind(
        "Service account",
        "identity",
        "organization#",
        keys.SERVICE_ACCOUNTS,
        lambda index, item: keys.service_account(index.organization_id, items.text(item, "service_account_id")),
        {"service_account_id": an_id("sva"), "name": NAME, "created_at": checks.time},
        {"revision": checks.number, **_CREATED_BY},
    ),
    Kind(
        "Token in a list",
        "identity",
        "organization#",
        keys.TOKENS,
        places.token_listing,
        {**_TOKEN, "value_hash": checks.digest},
        {**_EXPIRY, **_BEHIND},
    ),
    Kind(
        "Token",
        "identity",
        "token#",
        "token",
        places.token,
        {**_TOKEN, "organization_name": NAME, "service_account_name": NAME},
        {**_EXPIRY, **_BEHIND, "account_created_by": checks.principal},
    ),
    Kind(
        "Person",
        "identity",
        "user#",
        "user",
        places.person,
        {"user_id": an_id("usr"), "email": text(320), "created_at": checks.time},
        {"sessions_ended_at": checks.past},
    ),
    Kind(
        "Membership of a person",
        "identity",
        "user#",
        keys.MEMBERS,
        places.membership,
        {"organization_id": an_id("org")},
    ),
    Kind(
        "Audit record",
        "identity",
        "audit#",
        "",
        lambda index, item: audit_keys.record(
            index.organization_id, items.text(item, "at"), items.text(item, "audit_id")
        ),
        {
            "audit_id": an_id("aud"),
            "organization_id": an_id("org"),
            "at": checks.time,
            "actor": checks.actor,
            "credential_id": NAME,
            "credential_name": NAME,
            "action": NAME,
            "target": NAME,
            "details": checks.texts,
        },
    ),
    Kind(
        "Policies",
        "identity",
        "policies#",
        "policies",
        lambda index, _: policy_keys.policies(index.organization_id),
        {
            "settings": text(),
            "revision": checks.counted,
            "updated_at": checks.time,
            "updated_by": checks.principal,
        },
    ),
    *KINDS_OF_FLEETS,
    Kind(
        "Webhook",
        "events",
        "organization#",
        places.WEBHOOKS,
        places.webhook,
        {
            "webhook_id": an_id("whk"),
            "organization_id": an_id("org"),
            "name": NAME,
            "host": NAME,
            "format": one_of("cloudevents", "slack", "pagerduty"),
            "types": checks.names,
            "fleet_ids": checks.names,
            "enabled": checks.flag,
            "target": checks.packed,
            "secret": checks.packed,
            "created_by": checks.principal,
            "created_at": checks.time,
            "updated_at": checks.time,
            "revision": checks.counted,
        },
        {"previous_secret": checks.packed, "previous_until": checks.time},
    ),
    Kind(
        "Number of webhooks",
        "events",
        "organization#",
        "count",
        lambda index, _: fleet_keys.count(index.organization_id),
        {"webhooks": checks.number},
    ),
)


def kind_of(table: TableName, item: Item) -> Kind | None:
    """The kind whose keys have the form of the item's, None if no kind has."""
    return next((kind for kind in KINDS if kind.table == table and kind.has(item)), None)

"""The kinds of records that an archive may hold: where each belongs by its content, and what its attributes may be.

The attributes are those of docs/data.md. What is not listed here is not imported: an attribute that an index reads
could place an item among those of another organization.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from headgate.audit import keys as audit_keys
from headgate.backup import checks, places
from headgate.backup.archive import TableName
from headgate.backup.checks import Check, an_id, one_of, text
from headgate.backup.places import Index
from headgate.configurations import keys as configuration_keys
from headgate.fleets import keys as fleet_keys
from headgate.identity import keys
from headgate.policies import keys as policy_keys
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.table import Key
from headgate.version_tests import keys as test_keys

_NAME: Final = text(1_000)
_LONG: Final = text(20_000)


@dataclass(frozen=True, slots=True)
class Kind:
    """`key` is the key that follows from an item and the index. It raises KeyError if the archive lacks what the item
    belongs to. `required` are the attributes without which the item is refused."""

    title: str
    table: TableName
    partition: str
    sort: str
    key: Callable[[Index, Item], Key]
    required: Mapping[str, Check]
    optional: Mapping[str, Check] = field(default_factory=dict)

    def has(self, item: Item) -> bool:
        """Whether an item has the form of this kind's keys; it says nothing of what they name."""
        partition, sort = PLACES[self.table]
        return str(item.get(partition)).startswith(self.partition) and _begins(str(item.get(sort)), self.sort)


PLACES: Final[Mapping[TableName, tuple[str, str]]] = {
    "configurations": ("organization_id", "configuration_id"),
    "versions": ("configuration_id", "item"),
    "fleets": ("pk", "sk"),
    "events": ("pk", "sk"),
    "identity": ("pk", "sk"),
}


def _begins(sort: str, start: str) -> bool:
    """A sort key without a `#` has no more than that; `""` is the start of every one."""
    return sort.startswith(start) if start.endswith("#") or not start else sort == start


_EXPIRY: Final[Mapping[str, Check]] = {"expires": checks.number, "expires_at": checks.time}
# Earlier releases counted the use of a credential in its own item.
_PASSING: Final[Mapping[str, Check]] = {"rate_minute": checks.number, "rate_used": checks.number}
_TOKEN: Final[Mapping[str, Check]] = {
    "token_id": an_id("tok"),
    "organization_id": an_id("org"),
    "service_account_id": an_id("sva"),
    "name": _NAME,
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
            "name": _NAME,
            "collector_distribution": _NAME,
            "owner": checks.principal,
            "latest_version": checks.number,
            "created_at": checks.time,
            "updated_at": checks.time,
            "own": _NAME,
            "by_update": _NAME,
        },
        {
            "description": _LONG,
            "published_version": checks.number,
            "published": _NAME,
            "archived_at": checks.time,
            "assigned": checks.number,
            "managed_by": _NAME,
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
            "collector_version": _NAME,
            "collector_distribution": _NAME,
            "created_by": checks.principal,
            "created_at": checks.time,
            "updated_at": checks.time,
            "revision": checks.number,
        },
        {
            "description": _LONG,
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
            "pipeline": _LONG,
            "name": _NAME,
            "signal_type": one_of("logs", "traces", "metrics"),
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
        {"organization_id": an_id("org"), "name": _NAME, "created_at": checks.time, "admins": checks.number},
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
            "name": _NAME,
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
        {"service_account_id": an_id("sva"), "name": _NAME, "created_at": checks.time},
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
        {**_TOKEN, "organization_name": _NAME, "service_account_name": _NAME},
        {**_EXPIRY, **_PASSING, **_BEHIND, "account_created_by": checks.principal},
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
            "actor": checks.principal,
            "credential_id": _NAME,
            "credential_name": _NAME,
            "action": _NAME,
            "target": _NAME,
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
    Kind(
        "Fleet",
        "fleets",
        "organization#",
        fleet_keys.FLEETS,
        lambda index, item: fleet_keys.fleet(index.organization_id, items.text(item, "fleet_id")),
        {
            "fleet_id": an_id("flt"),
            "organization_id": an_id("org"),
            "label": _NAME,
            "type": one_of("server-supervisor", "kubernetes-supervisor"),
            "expires_in": one_of("180d", "1y", "2y", "never"),
            "token_generation": checks.generation,
            "created_by": checks.principal,
            "created_at": checks.time,
        },
        {
            "token_expires_at": checks.time,
            "default_deployment_id": an_id("dep"),
            "groups_added": checks.number,
            "managed_by": _NAME,
            "previous_token_ends_at": checks.time,
            "mode": one_of("managed", "observed"),
        },
    ),
    Kind(
        "Label of a fleet",
        "fleets",
        "organization#",
        "label#",
        lambda index, item: fleet_keys.label(index.organization_id, index.fleets[items.text(item, "fleet_id")]),
        {"fleet_id": an_id("flt")},
    ),
    Kind(
        "Number of fleets",
        "fleets",
        "organization#",
        "count",
        lambda index, _: fleet_keys.count(index.organization_id),
        {"fleets": checks.number},
    ),
    Kind(
        "What samples leave out",
        "fleets",
        "organization#",
        "redaction",
        lambda index, _: fleet_keys.redaction(index.organization_id),
        {"kinds": checks.entries, "patterns": checks.entries, "keys": checks.entries, "revision": checks.number},
    ),
    Kind(
        "Prices of destinations",
        "fleets",
        "organization#",
        "prices",
        lambda index, _: fleet_keys.prices(index.organization_id),
        {"currency": text(3), "prices": checks.entries, "revision": checks.counted},
        {"updated_at": checks.time, "updated_by": checks.principal},
    ),
    Kind(
        "Fleet token",
        "fleets",
        "token#",
        "token",
        places.fleet_token,
        {"fleet_id": an_id("flt"), "organization_id": an_id("org")},
        {"expires_at": checks.time, "deployment_id": an_id("dep")},
    ),
    Kind(
        "Deployment",
        "fleets",
        "fleet#",
        fleet_keys.DEPLOYMENTS,
        places.group,
        {
            "deployment_id": an_id("dep"),
            "fleet_id": an_id("flt"),
            "name": _NAME,
            "is_default": checks.flag,
            "volume_mounts": checks.entries,
            "created_at": checks.time,
            "updated_at": checks.time,
            "revision": checks.number,
        },
        {
            "role": one_of("node", "cluster", "gateway"),
            "replicas": checks.number,
            "namespace": _NAME,
            "configuration_id": an_id("cfg"),
            "version_number": checks.number,
            "assigned_revision": checks.number,
            "assigned_at": checks.time,
            "selector": checks.texts,
            "token_generation": checks.generation,
            "token_expires_at": checks.time,
            "previous_token_ends_at": checks.time,
            "captures_allowed": checks.flag,
            "observed": checks.flag,
            "proven_revision": checks.number,
            "healthy_versions": checks.entries,
            "taken_back": checks.entries,
            "cleared_revision": checks.number,
            "managed_by": _NAME,
            "rollout": checks.mapping,
            "collector": checks.mapping,
        },
    ),
    Kind(
        "Variables of a deployment",
        "fleets",
        "fleet#",
        "env#",
        lambda index, item: fleet_keys.env(places.fleet_of(index, item), items.text(item, "deployment_id")),
        {
            "fleet_id": an_id("flt"),
            "deployment_id": an_id("dep"),
            "variables": checks.mapping,
            "revision": checks.number,
        },
    ),
    Kind(
        "Labels that select hosts",
        "fleets",
        "fleet#",
        "selectors",
        lambda index, item: fleet_keys.selectors(places.fleet_of(index, item)),
        {"fleet_id": an_id("flt"), "selectors": checks.mapping, "revision": checks.number},
    ),
    Kind(
        "Name of a deployment",
        "fleets",
        "fleet#",
        fleet_keys.NAMES,
        places.name_marker,
        {"deployment_id": an_id("dep")},
    ),
    Kind(
        "Event of a deployment",
        "fleets",
        "history#",
        fleet_keys.DEPLOYMENT_EVENTS,
        places.deployment_event,
        {
            "at": checks.time,
            "event": one_of("created", "assigned", "cleared", "deleted"),
            "fleet_id": an_id("flt"),
            "deployment_id": an_id("dep"),
            "number": checks.number,
            "actor": checks.principal,
            "expires": checks.number,
        },
        {
            "message": _LONG,
            "before": checks.mapping,
            "assigned": checks.mapping,
            "before_since": checks.time,
        },
    ),
    Kind(
        "Instance",
        "fleets",
        "fleet#",
        fleet_keys.INSTANCES,
        lambda index, item: fleet_keys.instance(places.fleet_of(index, item), items.text(item, "instance_id")),
        {
            "instance_id": an_id("ins"),
            "fleet_id": an_id("flt"),
            "deployment_id": an_id("dep"),
            "sequence_num": checks.number,
            "first_seen_at": checks.time,
            "last_seen_at": checks.time,
            "full_state_at": checks.time,
            "accepts_config": checks.flag,
            "reported_status": one_of("unset", "applying", "applied", "failed"),
            "outcomes": checks.entries,
            "state": _NAME,
            "judged": checks.number,
            "told_seconds": checks.number,
            "revision": checks.number,
        },
        {
            "host_name": _LONG,
            "os": _LONG,
            "arch": _LONG,
            "collector_version": _LONG,
            "healthy": checks.flag,
            "health_error": _LONG,
            "reported_hash": _LONG,
            "reported_message": _LONG,
            "applying_since": checks.time,
            "state_message": _LONG,
            "stopped": checks.flag,
            "noted": checks.mapping,
            "orders": checks.entries,
            "override": checks.mapping,
            "capture": checks.mapping,
            "conflicts": checks.number,
            "token_id": _NAME,
            "scope": an_id("flt", "dep"),
            "key": checks.host_key,
            "move_until": checks.time,
            "host": checks.mapping,
            "totals": checks.packed,
            "watch": checks.mapping,
            "departures": checks.entries,
            "healthy_versions": checks.entries,
            "uninstalled": checks.flag,
            "well_since": checks.time,
            "expires": checks.number,
        },
    ),
    Kind(
        "Components of a fleet's collectors",
        "fleets",
        "fleet#",
        "components",
        lambda index, item: fleet_keys.components(places.fleet_of(index, item)),
        {"lists": checks.mapping, "revision": checks.number},
    ),
    Kind(
        "Event of an instance",
        "fleets",
        "history#",
        fleet_keys.INSTANCE_EVENTS,
        places.instance_event,
        {"at": checks.time, "event": _NAME, "state": _NAME, "expires": checks.number},
        {
            "running": checks.mapping,
            "version": checks.mapping,
            "reason": _LONG,
            "drifted": checks.entries,
            "exits": checks.number,
            "deployment_id": an_id("dep"),
            "until": checks.time,
            "actor": checks.principal,
            "message": _LONG,
            "left_out": checks.number,
            "program_version": _NAME,
        },
    ),
    Kind(
        "Rollout",
        "fleets",
        "rollouts#dep_",
        fleet_keys.ROLLOUTS,
        places.rollout,
        {"rollout": text(), "revision": checks.number},
        {"expires": checks.number},
    ),
    Kind(
        "Webhook",
        "events",
        "organization#",
        places.WEBHOOKS,
        places.webhook,
        {
            "webhook_id": an_id("whk"),
            "organization_id": an_id("org"),
            "name": _NAME,
            "host": _NAME,
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

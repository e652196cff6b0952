"""What each function may do in each table, by partition keys: what is not in these tables must not be allowed."""

from collections.abc import Mapping
from typing import Final

Rights = Mapping[str, str]
"""The partition keys on which each action may be carried out."""
MEMBER: Final = {"BatchGetItem": "organization#"}
COUNTS: Final = {"GetItem": "token# session#", **MEMBER, "UpdateItem": "rate#"}
READS_LISTS: Final = {**COUNTS, "GetItem": "token# session# signing_key"}
RECORDS: Final = {
    **READS_LISTS,
    "PutItem": "audit# idempotency# signing_key",
    "UpdateItem": "rate# checks# idempotency#",
    "DeleteItem": "idempotency#",
}
_PEOPLE: Final = "organization# token# user# email# session# login# user_code#"
IDENTITY: Final[Mapping[str, Rights]] = {
    "IdentityFunction": COUNTS,
    "ValidationFunction": {
        **READS_LISTS,
        "GetItem": "token# session# policies# signing_key",
        "UpdateItem": "rate# checks#",
        "PutItem": "signing_key",
    },
    "ComponentsFunction": {**READS_LISTS, "PutItem": "signing_key"},
    "FlowsFunction": {**READS_LISTS, "PutItem": "signing_key"},
    "ConfigurationsFunction": {
        **RECORDS,
        "GetItem": "token# session# policies# signing_key",
        "ConditionCheckItem": "policies#",
        "PutItem": "audit# policies# idempotency# signing_key",
    },
    "FleetsFunction": {**RECORDS, "GetItem": "token# session# policies# signing_key"},
    "TestingFunction": RECORDS,
    "WebhooksFunction": {**RECORDS, "UpdateItem": "rate# idempotency#"},
    # Links to collectors are signed, and the first secrets that a host is sent are recorded.
    "OpampFunction": {"GetItem": "signing_key", "PutItem": "audit#"},
    "ApplicationFunction": {
        "GetItem": f"{_PEOPLE} signing_key",
        **MEMBER,
        "Query": "organization# user# email# audit#",
        "ConditionCheckItem": "organization# token# user# email# session# login# audit#",
        "PutItem": f"{_PEOPLE} audit# idempotency# signing_key",
        "UpdateItem": "organization# token# user# email# login# user_code# rate# attempts#",
        "DeleteItem": "organization# token# user# email# session# login# user_code# attempts# idempotency#",
    },
    "ExportsFunction": {
        "GetItem": "organization# user# token# policies# signing_key",
        "Query": "organization# audit#",
        "PutItem": "signing_key",
    },
    "FirstOrganizationFunction": {
        "GetItem": "first_organization email# user#",
        "PutItem": "first_organization organization# email# user#",
    },
    # It records each delivery of secrets.
    "InstallFunction": {"GetItem": "signing_key", "PutItem": "audit#"},
}
_OF_FLEETS: Final = "organization# fleet# token# history# census#"
FLEETS: Final[Mapping[str, Rights]] = {
    "FleetsFunction": {
        "GetItem": "organization# fleet# census# rollouts#",
        **dict.fromkeys(("UpdateItem", "DeleteItem"), _OF_FLEETS),
        "ConditionCheckItem": f"{_OF_FLEETS} rollouts#",
        "PutItem": f"{_OF_FLEETS} rollouts# install#",
        "BatchGetItem": "fleet# rollouts# series#",
        "Query": "organization# fleet# census# history# rollouts# series#",
    },
    "ConfigurationsFunction": {
        "Query": "organization# fleet# census# history# series#",
        "GetItem": "organization# fleet#",
        "BatchGetItem": "fleet#",
    },
    "OpampFunction": {
        "BatchGetItem": "token# fleet# census#",
        # A message that names no group belongs to the Default group of its token's fleet.
        "GetItem": "organization# token# census# fleet#",
        **dict.fromkeys(("PutItem", "ConditionCheckItem", "UpdateItem"), "fleet# census# history#"),
    },
    "InstallFunction": {"GetItem": "organization# fleet# token# install#", "UpdateItem": "install#"},
    "NotifyFunction": {
        "GetItem": "organization# fleet#",
        "Query": "fleet# census#",
        # A token that no host uses any more ends.
        "PutItem": "fleet# token#",
        "UpdateItem": "organization# fleet# token#",
    },
    "ExportsFunction": {"Query": "organization# fleet# rollouts# history#", "GetItem": "fleet# token#"},
    "SeriesFunction": dict.fromkeys(("BatchGetItem", "PutItem"), "series#"),
    "WebhooksFunction": dict.fromkeys(("GetItem", "Query"), "organization#"),
    "RolloutStepsFunction": {
        "GetItem": "fleet# rollouts# census#",
        **dict.fromkeys(("Query", "ConditionCheckItem"), "fleet# rollouts#"),
        "PutItem": "fleet# rollouts# history#",
        **dict.fromkeys(("UpdateItem", "DeleteItem"), "rollouts#"),
    },
}
RUNS: Final[Mapping[str, Rights]] = {
    "TestingFunction": {**dict.fromkeys(("GetItem", "PutItem"), "run_ queue#"), "DeleteItem": "run_"},
    "RunStepsFunction": dict.fromkeys(("GetItem", "PutItem"), "run_ queue#"),
}
EVENTS: Final[Mapping[str, Rights]] = {
    "NotifyFunction": {
        "Query": "outbox# near organization#",
        "PutItem": "outbox# near deliveries#",
        "DeleteItem": "outbox# near",
        "UpdateItem": "sweep",
    },
    "DeliverFunction": {"GetItem": "organization# deliveries#", "PutItem": "deliveries#"},
    "WebhooksFunction": {
        **dict.fromkeys(("GetItem", "Query", "PutItem"), "organization# deliveries#"),
        **dict.fromkeys(("UpdateItem", "DeleteItem"), "organization#"),
    },
    "ExportsFunction": {"Query": "organization#"},
    "ConfigurationsFunction": {"PutItem": "outbox#"},
    "FleetsFunction": {"PutItem": "outbox#"},
    "RolloutStepsFunction": {"PutItem": "outbox#"},
    "RunStepsFunction": {"PutItem": "outbox#"},
    "OpampFunction": {"PutItem": "outbox#"},
}
SCANS: Final = {("ExportsFunction", "IdentityTable")}
"""What lists all organizations. A condition on keys does not hold a scan back."""
TABLES: Final = {"IdentityTable": IDENTITY, "FleetsTable": FLEETS, "RunsTable": RUNS, "EventsTable": EVENTS}

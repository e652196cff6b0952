"""What each function's role allows on the tables, key by key: IAM's evaluation of the template as SAM transforms it.

tests/support/policy_rows.py has the rows.
"""

import inspect
import json
import re
from collections.abc import Mapping
from itertools import product
from typing import Any, Final

import pytest

from headgate.audit import keys as audit_keys
from headgate.events import keys as event_keys
from headgate.fleets import keys as fleet_keys
from headgate.http import keys as request_keys
from headgate.identity import keys as identity_keys
from headgate.policies import keys as policy_keys
from headgate.webhooks import keys as webhook_keys
from headgate.webhooks.notifications import keys as notification_keys
from tests.support.aws import read_template
from tests.support.iam import Decision, Request, Statement, decide
from tests.support.policies import CONTEXT_KEYS, LEADING_KEYS, statement
from tests.support.policy_rows import IDENTITY, SCANS, TABLES
from tests.support.transformed_template import document, resources, states

__all__ = ["document", "resources", "states"]

OURS = read_template()


# Every action on items that IAM knows, and some on tables.
ACTIONS: Final = (
    *("GetItem", "BatchGetItem", "Query", "Scan", "ConditionCheckItem"),
    *("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"),
    *("PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete"),
    *("DeleteTable", "UpdateTable", "UpdateTimeToLive", "ExportTableToPointInTime", "RestoreTableToPointInTime"),
)
FUNCTIONS: Final = [name for name, _ in OURS.of_type("AWS::Serverless::Function")]


def keys_of(*modules: object) -> set[str]:
    """What the partition keys that the modules build begin with."""
    found = set()
    for name, build in (each for module in modules for each in inspect.getmembers(module, inspect.isfunction)):
        if name in ("key_of_each", "key_of_one") or name.startswith("_"):
            continue
        made = build(*(0 if one.annotation is int else "x" for one in inspect.signature(build).parameters.values()))
        key = made["pk"] if isinstance(made, dict) else made
        found.add("".join(str(key).partition("#")[:2]))
    # Only those that build the beginning of a sort key.
    return {key for key in found if key.endswith("#") or "_" in key}


KEYS: Final = {
    "IdentityTable": keys_of(identity_keys, audit_keys, request_keys, policy_keys),
    "FleetsTable": keys_of(fleet_keys),
    "RunsTable": {"run_", "queue#"},
    "EventsTable": keys_of(event_keys, webhook_keys, notification_keys) | {"near", "sweep"},
}


def role_of(resources: Mapping[str, Any], function: str) -> dict[str, Any]:
    """The properties of the role that a function runs with: SAM's, or one of the template."""
    role, _ = resources[function]["Properties"]["Role"]["Fn::GetAtt"]
    properties: dict[str, Any] = resources[role]["Properties"]
    return properties


def roles(resources: Mapping[str, Any]) -> dict[str, list[Statement]]:
    """The statements of each function's role."""
    return {
        name: [
            statement(OURS, one)
            for policy in role_of(resources, name).get("Policies", [])
            for one in policy["PolicyDocument"]["Statement"]
        ]
        for name in FUNCTIONS
    }


@pytest.fixture(scope="module")
def given_roles(resources: dict[str, Any]) -> dict[str, list[Statement]]:
    return roles(resources)


def decided(statements: list[Statement], action: str, table: str, *keys: str) -> Decision:
    whole = tuple(f"{key}x" if key.endswith(("#", "_")) else key for key in keys)
    context = {LEADING_KEYS: whole} if whole else {}
    return decide(statements, Request(f"dynamodb:{action}", f"dynamodb:::{OURS.name_of(table)}", context))


def test_a_function_gets_rights_of_the_template_alone(resources: dict[str, Any]) -> None:
    """Besides those on its log and traces, which SAM adds."""
    managed = {
        re.findall(r"[A-Za-z]+", json.dumps(arn))[-1]
        for name in FUNCTIONS
        for arn in role_of(resources, name).get("ManagedPolicyArns", [])
    }

    assert managed == {"AWSLambdaBasicExecutionRole", "AWSXrayWriteOnlyAccess"}


def test_a_role_keeps_within_what_iam_takes(resources: dict[str, Any]) -> None:
    """10,240 characters for all policies within a role; ARNs are longer than what refers to them."""
    for name in FUNCTIONS:
        text = json.dumps(role_of(resources, name).get("Policies", []), separators=(",", ":"))
        assert len(text) < 8_000, name


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_what_its_row_says_and_nothing_else(
    function: str, table: str, given_roles: dict[str, list[Statement]]
) -> None:
    row = TABLES[table].get(function, {})
    tried = KEYS[table] | {"of-another-kind#", ""}
    wanted = {(action, key) for action, keys in row.items() for key in keys.split()}
    wanted |= {("Scan", key) for key in tried if (function, table) in SCANS}

    allowed = {
        (action, key)
        for action, key in product(ACTIONS, tried)
        if decided(given_roles[function], action, table, *([key] if key else [])) == "allowed"
    }

    assert allowed == wanted


@pytest.mark.parametrize("table", TABLES)
def test_every_key_of_a_table_stands_in_a_row(table: str) -> None:
    """A new key needs one: say above who may do what with it, and say so in template.yaml."""
    named = {key for row in TABLES[table].values() for keys in row.values() for key in keys.split()}

    assert named == KEYS[table]


HOSTILE: Final = {
    "Deliver changes a webhook": ("DeliverFunction", "PutItem", "organization#"),
    "Deliver reads a session": ("DeliverFunction", "GetItem", "session#"),
    "Deliver reads a fleet's token": ("DeliverFunction", "GetItem", "token#"),
    "Deliver writes an event": ("DeliverFunction", "PutItem", "outbox#"),
    "Notify changes a webhook": ("NotifyFunction", "PutItem", "organization#"),
    "Notify reads a session": ("NotifyFunction", "GetItem", "session#"),
    "Validation writes a token": ("ValidationFunction", "PutItem", "token#"),
    "Validation writes a session": ("ValidationFunction", "PutItem", "session#"),
    "Flows raises a token's access": ("FlowsFunction", "UpdateItem", "token#"),
    "Flows makes somebody an Admin": ("FlowsFunction", "UpdateItem", "organization#"),
    "Identity raises a token's access": ("IdentityFunction", "UpdateItem", "token#"),
    "Identity gives a credential another minute's uses": ("IdentityFunction", "DeleteItem", "rate#"),
    "Testing writes another's session": ("TestingFunction", "PutItem", "session#"),
    "Testing makes a member": ("TestingFunction", "PutItem", "organization#"),
    "Configurations makes a member": ("ConfigurationsFunction", "PutItem", "organization#"),
    "Fleets reads who has an address": ("FleetsFunction", "GetItem", "email#"),
    "Fleets lists an organization's tokens": ("FleetsFunction", "Query", "organization#"),
    "Configurations reads the record of changes": ("ConfigurationsFunction", "Query", "audit#"),
    "Identity writes a record": ("IdentityFunction", "PutItem", "audit#"),
    "Validation writes a record over another": ("ValidationFunction", "PutItem", "audit#"),
    "Validation changes what counts as an error": ("ValidationFunction", "PutItem", "policies#"),
    "Testing changes what counts as an error": ("TestingFunction", "PutItem", "policies#"),
    "Flows writes a record over another": ("FlowsFunction", "PutItem", "audit#"),
    "Opamp reads a token": ("OpampFunction", "GetItem", "token#"),
    "Install reads a session": ("InstallFunction", "GetItem", "session#"),
    "RunSteps counts a request": ("RunStepsFunction", "UpdateItem", "rate#"),
    "RolloutSteps writes a record": ("RolloutStepsFunction", "PutItem", "audit#"),
    "RolloutSteps reads a session": ("RolloutStepsFunction", "GetItem", "session#"),
    "Application changes a session": ("ApplicationFunction", "UpdateItem", "session#"),
    "FirstOrganization makes a token": ("FirstOrganizationFunction", "PutItem", "token#"),
}


@pytest.mark.parametrize(("function", "action", "key"), HOSTILE.values(), ids=HOSTILE)
def test_an_attempt_is_not_allowed(
    function: str, action: str, key: str, given_roles: dict[str, list[Statement]]
) -> None:
    assert decided(given_roles[function], action, "IdentityTable", key) != "allowed"


@pytest.mark.parametrize("action", ["UpdateItem", "DeleteItem"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_nobody_changes_a_record_of_changes(
    function: str, action: str, given_roles: dict[str, list[Statement]]
) -> None:
    writes = {"PutItem", "UpdateItem", "DeleteItem"} & IDENTITY.get(function, {}).keys()
    expected = "denied" if "UpdateItem" in writes else "not allowed"

    assert decided(given_roles[function], action, "IdentityTable", "audit#") == expected


@pytest.mark.parametrize("table", ["ConfigurationsTable", "VersionsTable", *TABLES])
@pytest.mark.parametrize("action", ["Scan", "BatchWriteItem", *(one for one in ACTIONS if one.startswith("PartiQL"))])
def test_nobody_has_the_actions_that_go_around_keys(
    action: str, table: str, given_roles: dict[str, list[Statement]]
) -> None:
    """A scan and a statement of PartiQL may come without a leading key, or with any."""
    keys: list[tuple[str, ...]] = [(), ("rate#",), ("fleet#",), ("run_",), ("org_",), ("cfg_",)]

    assert {
        (function, key): found
        for function, key in product(FUNCTIONS, keys)
        if action != "Scan" or (function, table) not in SCANS
        if (found := decided(given_roles[function], action, table, *key)) == "allowed"
    } == {}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_right_on_these_tables_is_without_its_keys(
    function: str, table: str, given_roles: dict[str, list[Statement]]
) -> None:
    """A request without a leading key is not allowed, whatever IAM makes of a list of none."""
    name = f"dynamodb:::{OURS.name_of(table)}"
    about = [
        one
        for one in given_roles[function]
        if (function, table) not in SCANS or one.actions != ("dynamodb:Scan",)
        # An index holds things of one kind. A stream is read whole, by one function.
        if any(resource.startswith(name) and not re.search("/(index|stream)/", resource) for resource in one.resources)
    ]

    assert [one for one in about if ("Null", LEADING_KEYS, ("false",)) not in one.conditions] == []
    streams = [one for one in given_roles[function] if any("/stream/" in resource for resource in one.resources)]
    assert bool(streams) == (function == "SeriesFunction")


@pytest.mark.parametrize(("table", "index"), [("IdentityTable", "expiring"), ("FleetsTable", "of_type")])
def test_what_goes_through_all_organizations_is_read_by_the_sweep_alone(
    table: str, index: str, given_roles: dict[str, list[Statement]]
) -> None:
    resource = f"dynamodb:::{OURS.name_of(table)}/index/{index}"
    reading = [
        (function, action)
        for function, action in product(FUNCTIONS, ACTIONS)
        if decide(given_roles[function], Request(f"dynamodb:{action}", resource, {})) == "allowed"
    ]

    assert reading == [("NotifyFunction", "Query")]


def test_one_allowed_key_does_not_take_another_along(given_roles: dict[str, list[Statement]]) -> None:
    """As a batch read asks, and perhaps a transaction."""
    members, both = ("organization#",), ("organization#", "token#")
    flows = given_roles["FlowsFunction"]
    assert decided(flows, "BatchGetItem", "IdentityTable", *members) == "allowed"
    assert decided(flows, "BatchGetItem", "IdentityTable", *both) == "not allowed"
    assert decided(flows, "UpdateItem", "IdentityTable", "rate#", "token#") == "not allowed"


def test_a_change_with_its_record_is_allowed_in_whichever_way_iam_is_asked(
    given_roles: dict[str, list[Statement]],
) -> None:
    """Removing a member: of each entry with its own key, or of each action with the keys of all."""
    application = given_roles["ApplicationFunction"]
    together = ("organization#", "user#", "audit#")
    entries = {"DeleteItem": ("organization#", "user#"), "UpdateItem": ("organization#",), "PutItem": ("audit#",)}

    for action, own in entries.items():
        assert [decided(application, action, "IdentityTable", key) for key in own] == ["allowed"] * len(own)
        assert decided(application, action, "IdentityTable", *together) == "allowed"


def test_the_tables_whose_keys_tell_nothing_are_limited_by_action(given_roles: dict[str, list[Statement]]) -> None:
    """Their partition keys are ids of organizations and of configurations."""
    allowed = {
        (function.removesuffix("Function"), action, table)
        for function, action, table in product(FUNCTIONS, ACTIONS, ("ConfigurationsTable", "VersionsTable"))
        if decided(given_roles[function], action, table, "org_") == "allowed"
    }

    assert allowed == {
        *product(["Configurations"], ["GetItem", "PutItem", "UpdateItem", "DeleteItem"], ["ConfigurationsTable"]),
        *product(["Configurations"], ["GetItem", "BatchGetItem", "PutItem", "DeleteItem"], ["VersionsTable"]),
        *product(["Configurations"], ["Query", "ConditionCheckItem"], ["VersionsTable"]),
        *product(["Fleets"], ["UpdateItem", "BatchGetItem"], ["ConfigurationsTable"]),
        ("Fleets", "BatchGetItem", "VersionsTable"),
        *product(["Fleets", "Testing"], ["GetItem"], ["ConfigurationsTable", "VersionsTable"]),
        *product(["Testing"], ["PutItem", "Query", "ConditionCheckItem"], ["VersionsTable"]),
        *product(["Testing"], ["UpdateItem", "BatchGetItem"], ["ConfigurationsTable"]),
        ("Opamp", "GetItem", "VersionsTable"),
        ("Notify", "GetItem", "ConfigurationsTable"),
        *product(["Exports"], ["GetItem", "Query"], ["ConfigurationsTable"]),
        ("Exports", "Query", "VersionsTable"),
    }
    roles = {function.removesuffix("Function"): given_roles[function] for function in FUNCTIONS}
    of_evidence = {
        (function, action)
        for function, action in product(roles, ACTIONS)
        if decided(roles[function], action, "VersionsTable", "evidence#") == "allowed"
    }
    assert of_evidence - {(function, action) for function, action, table in allowed if table == "VersionsTable"} == {
        ("RunSteps", "GetItem"),
        ("RunSteps", "PutItem"),
    }


@pytest.mark.parametrize("function", FUNCTIONS)
def test_published_collectors_are_read_by_who_asks_and_written_by_nobody(
    function: str, given_roles: dict[str, list[Statement]]
) -> None:
    """The checker's function, which runs them, has no right on them, and neither has anybody else in the stack."""
    at = f"s3:::{OURS.name_of('Bucket')}/collectors/0.158.0/x86_64/otelcol-contrib.zst"
    actions = ("GetObject", "GetObjectVersion", "PutObject", "DeleteObject", "PutObjectAcl")
    names = ("Configurations", "Validation", "Components", "Fleets", "Testing", "RunSteps")
    asking = {f"{name}Function" for name in names}

    allowed = {one for one in actions if decide(given_roles[function], Request(f"s3:{one}", at, {})) == "allowed"}

    assert allowed == ({"GetObject"} if function in asking else set())


QUEUES: Final = {
    "NotifyFunction": {("DeliveriesQueue", "SendMessage")},
    "WebhooksFunction": {("DeliveriesQueue", "SendMessage")},
    "DeliverFunction": {
        *product(
            ["DeliveriesQueue"], ["ReceiveMessage", "DeleteMessage", "GetQueueAttributes", "ChangeMessageVisibility"]
        ),
        ("DeadDeliveriesQueue", "SendMessage"),
    },
    "SeriesFunction": {("DeadSeriesQueue", "SendMessage")},
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_who_may_do_what_with_the_queues(function: str, given_roles: dict[str, list[Statement]]) -> None:
    actions = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes", "ChangeMessageVisibility", "SendMessage")
    allowed = {
        (queue, action)
        for queue, action in product(
            ("DeliveriesQueue", "DeadDeliveriesQueue", "DeadSeriesQueue"), (*actions, "PurgeQueue")
        )
        if decide(given_roles[function], Request(f"sqs:{action}", f"sqs:::{OURS.name_of(queue)}", {})) == "allowed"
    }

    assert allowed == QUEUES.get(function, set())


@pytest.mark.parametrize(
    ("function", "action", "context"),
    [
        ("WebhooksFunction", "Encrypt", "webhook_id"),
        ("DeliverFunction", "Decrypt", "webhook_id"),
        ("ExportsFunction", "Decrypt", "webhook_id"),
    ],
)
def test_secrets_of_webhooks_are_sealed_by_one_function_and_opened_by_another(
    function: str, action: str, context: str, given_roles: dict[str, list[Statement]]
) -> None:
    """Under the context of a webhook alone: whoever takes over the sender opens nothing else."""
    key = f"kms:::{OURS.name_of('SecretsKey')}"
    names = ("webhook_id", "deployment_id", "")
    allowed = {
        (name, asked)
        for name, asked in product(names, ("Encrypt", "Decrypt", "GenerateDataKey", "ScheduleKeyDeletion"))
        if decide(given_roles[function], Request(f"kms:{asked}", key, {CONTEXT_KEYS: (name,)} if name else {}))
        == "allowed"
    }

    assert allowed == {(context, action)}

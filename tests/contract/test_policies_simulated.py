"""What each function's role allows on the tables, key by key: IAM's evaluation of the template as SAM transforms it.

Each table below is complete: what is not in it must not be allowed.
"""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.iam.access_control import IAMPolicy, PermissionResult

from headgate.audit import keys as audit_keys
from headgate.fleets import keys as fleet_keys
from headgate.http import keys as request_keys
from headgate.identity import keys as identity_keys
from headgate.policies import keys as policy_keys
from headgate_local import template
from tests.support.iam import Decision, Request, Statement, decide
from tests.support.policies import LEADING_KEYS, statement
from tests.support.transformed_template import document, resources, states

__all__ = ["document", "resources", "states"]

OURS = template.read()
Rights = Mapping[str, str]
"""Of an action, the partition keys that it may be carried out on."""

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
    "FleetsFunction": RECORDS,
    "TestingFunction": RECORDS,
    "ApplicationFunction": {
        "GetItem": f"{_PEOPLE} signing_key",
        **MEMBER,
        "Query": "organization# user# email# audit#",
        "ConditionCheckItem": "organization# token# user# email# session# login# audit#",
        "PutItem": f"{_PEOPLE} audit# signing_key",
        "UpdateItem": "organization# token# user# email# login# user_code# rate# attempts#",
        "DeleteItem": "organization# token# user# email# session# login# user_code# attempts#",
    },
    "FirstOrganizationFunction": {
        "GetItem": "first_organization email# user#",
        "PutItem": "first_organization organization# email# user#",
    },
    "InstallFunction": {"GetItem": "signing_key"},
}
FLEETS: Final[Mapping[str, Rights]] = {
    "FleetsFunction": {
        "GetItem": "organization# fleet#",
        **dict.fromkeys(("PutItem", "UpdateItem", "DeleteItem"), "organization# fleet# token#"),
        "BatchGetItem": "fleet#",
        "Query": "organization# fleet# census#",
    },
    "OpampFunction": {
        "BatchGetItem": "token# fleet# census#",
        "GetItem": "token# census#",
        "PutItem": "fleet# census#",
        "UpdateItem": "fleet# census#",
    },
    "InstallFunction": {"GetItem": "organization# fleet#"},
}
RUNS: Final[Mapping[str, Rights]] = {
    "TestingFunction": {**dict.fromkeys(("GetItem", "PutItem"), "run_ queue#"), "DeleteItem": "run_"},
    "RunStepsFunction": dict.fromkeys(("GetItem", "PutItem"), "run_ queue#"),
}
TABLES: Final = {"IdentityTable": IDENTITY, "FleetsTable": FLEETS, "RunsTable": RUNS}

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
    for _, build in (each for module in modules for each in inspect.getmembers(module, inspect.isfunction)):
        made = build(*(0 if one.annotation is int else "x" for one in inspect.signature(build).parameters.values()))
        key = made["pk"] if isinstance(made, dict) else made
        found.add("".join(str(key).partition("#")[:2]))
    # Of those that build the beginning of a sort key.
    return {key for key in found if key.endswith("#") or "_" in key}


KEYS: Final = {
    "IdentityTable": keys_of(identity_keys, audit_keys, request_keys, policy_keys),
    "FleetsTable": keys_of(fleet_keys),
    "RunsTable": {"run_", "queue#"},
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
    wanted = {(action, key) for action, keys in row.items() for key in keys.split()}

    allowed = {
        (action, key)
        for action, key in product(ACTIONS, KEYS[table] | {"of-another-kind#", ""})
        if decided(given_roles[function], action, table, *([key] if key else [])) == "allowed"
    }

    assert allowed == wanted


@pytest.mark.parametrize("table", TABLES)
def test_every_key_of_a_table_stands_in_a_row(table: str) -> None:
    """A new key needs one: say above who may do what with it, and say so in template.yaml."""
    named = {key for row in TABLES[table].values() for keys in row.values() for key in keys.split()}

    assert named == KEYS[table]


HOSTILE: Final = {
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
        if (found := decided(given_roles[function], action, table, *key)) == "allowed"
    } == {}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_right_on_these_tables_is_without_its_keys(
    function: str, table: str, given_roles: dict[str, list[Statement]]
) -> None:
    """A request without a leading key is not allowed, whatever IAM makes of a list of none."""
    about = [
        one
        for one in given_roles[function]
        if any(resource.startswith(f"dynamodb:::{OURS.name_of(table)}") for resource in one.resources)
    ]

    assert [one for one in about if ("Null", LEADING_KEYS, ("false",)) not in one.conditions] == []


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
    """Removing a member: of each entry with its own key, or of each action with the keys of all (decision 46)."""
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
        *product(["Configurations"], ["GetItem", "PutItem", "UpdateItem"], ["ConfigurationsTable"]),
        *product(["Configurations"], ["GetItem", "PutItem", "Query", "ConditionCheckItem"], ["VersionsTable"]),
        *product(["Fleets", "Testing"], ["GetItem"], ["ConfigurationsTable", "VersionsTable"]),
        *product(["Testing"], ["PutItem", "Query", "ConditionCheckItem"], ["VersionsTable"]),
        ("Opamp", "GetItem", "VersionsTable"),
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


NAMES = st.sampled_from(["dynamodb:GetItem", "dynamodb:Get*", "dynamodb:*", "s3:GetObject", "s3:*", "*"])
PLACES = st.sampled_from(["table/one", "table/*", "table/one/index/*", "bucket/runs/*", "*"])
STATEMENTS = st.lists(
    st.builds(
        Statement,
        st.just("One"),
        st.sampled_from(["Allow", "Deny"]),
        st.lists(NAMES, min_size=1, max_size=2).map(tuple),
        st.lists(PLACES, min_size=1, max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=4,
)


@given(
    STATEMENTS,
    st.sampled_from(["dynamodb:GetItem", "dynamodb:PutItem", "s3:GetObject"]),
    st.sampled_from(["table/one", "table/two", "table/one/index/a", "bucket/runs/a"]),
)
def test_without_conditions_it_is_decided_as_by_moto(statements: list[Statement], action: str, resource: str) -> None:
    nodes = [{"Effect": one.effect, "Action": [*one.actions], "Resource": [*one.resources]} for one in statements]
    theirs = IAMPolicy({"policy_document": json.dumps({"Statement": nodes})}).is_action_permitted(action, resource)

    assert (
        decide(statements, Request(action, resource, {}))
        == {
            PermissionResult.PERMITTED: "allowed",
            PermissionResult.DENIED: "denied",
            PermissionResult.NEUTRAL: "not allowed",
        }[theirs]
    )


def conditions() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], bool]]:
    """What IAM's documentation says of its operators, moto knows none of these: operator, wanted, values, holds."""
    yield "StringLike", ("a#*",), ("a#1",), True
    yield "StringLike", ("a#*",), ("b#1",), False
    yield "StringLike", ("a#*",), ("A#1",), False
    yield "StringLike", ("a?",), ("a1",), True
    yield "StringLike", ("a[1]",), ("a1",), False
    yield "StringLike", ("a#*",), (), False
    yield "StringNotLike", ("a#*",), ("b#1",), True
    yield "StringEquals", ("a*",), ("a1",), False
    yield "ForAllValues:StringLike", ("a#*", "b#*"), ("a#1", "b#1"), True
    yield "ForAllValues:StringLike", ("a#*",), ("a#1", "b#1"), False
    # The reason for `Null: false` beside it.
    yield "ForAllValues:StringLike", ("a#*",), (), True
    yield "ForAnyValue:StringLike", ("a#*",), ("a#1", "b#1"), True
    yield "ForAnyValue:StringLike", ("a#*",), ("b#1",), False
    yield "ForAnyValue:StringLike", ("a#*",), (), False
    yield "Null", ("false",), ("a#1",), True
    yield "Null", ("false",), (), False
    yield "Null", ("true",), (), True


@pytest.mark.parametrize(("operator", "wanted", "values", "holds"), [*conditions()])
def test_a_condition_holds_as_documented(
    operator: str, wanted: tuple[str, ...], values: tuple[str, ...], holds: bool
) -> None:
    allow = Statement("One", "Allow", ("*",), ("*",), ((operator, "key", wanted),))
    request = Request("dynamodb:GetItem", "table/one", {"key": values} if values else {})

    assert (decide([allow], request) == "allowed") is holds


def test_what_is_not_understood_is_not_passed_over() -> None:
    odd = Statement("One", "Allow", ("*",), ("*",), (("ForSomeValues:StringLike", "key", ("a",)),))

    with pytest.raises(AssertionError, match=re.escape("ForSomeValues:StringLike")):
        decide([odd], Request("a", "b", {"key": ("a",)}))

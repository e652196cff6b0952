"""Every endpoint of the API, once, with what the tests that go through all endpoints know of it.

Whoever adds an endpoint enters it here, and nowhere else. api/test_endpoints.py holds the table to the routes. What
goes through it: credentials (api/test_credentials_matrix.py), isolation (api/test_isolation.py), the record of changes
(api/test_audit.py), and faults of AWS (trust/test_faults.py, trust/test_socket_faults.py).
"""

from random import Random
from typing import Final

from headgate.installs.releases import CHART
from headgate.settings import settings
from tests.support.endpoint import Body, endpoint, right
from tests.support.faults.rows import ONCE, new_address
from tests.support.world import A_TEST, APP, PUBLIC, RULES, YAML, World

INSTALL: Final = "/api/v1/fleet-install/{platform}/{deployment_id}"
CONFIGURATION: Final = f"{PUBLIC}/configurations/{{configuration_id}}"
VERSION: Final = f"{CONFIGURATION}/versions/{{n}}"
TEST: Final = f"{VERSION}/tests/{{test_name}}"
FLEET: Final = f"{PUBLIC}/fleets/{{fleet_id}}"
DEPLOYMENT: Final = f"{FLEET}/deployments/{{deployment_id}}"
ACCOUNT: Final = f"{APP}/service-accounts/{{service_account_id}}"
# Too large for an item of a table, and of random letters, so that compression does not change that.
LARGE: Final = f"{YAML}# {''.join(Random(1).choices('abcdefghijklmnopqrstuvwxyz0123456789', k=600_000))}\n"
A_TEST_OF_RULES: Final = {"target_pipeline": "logs", "sample": "a line", "rules": RULES}
LARGE_TEST: Final = {"n": "2", "test_name": "large"}
RUN: Final = {"sample": "a line", "signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1}
SUITE: Final = {"yaml": YAML, "tests": [{"name": "a", "sample": "a line", "target_pipeline": "logs", "rules": RULES}]}
COMPARISON: Final = {
    "left": {"yaml": YAML},
    "right": {"yaml": YAML},
    "tests": [{"name": "a", "sample": "a line", "target_pipeline": "logs"}],
}
POLICIES: Final = {
    "severities": {"insecure_tls": "error"},
    "not_suppressible": [],
    "rules": [
        {
            "name": "never",
            "expression": "false",
            "message": "It is never broken",
            "examples": [{"yaml": "exporters: {debug: {}}", "violated": False}],
        }
    ],
    "publish_requires": [],
}
DEFAULT_VERSION: Final = settings().collector_version
INVITING: Final = {"organization_id": "inviting_id"}
ON_KUBERNETES: Final = {
    "platform": "kubernetes",
    "fleet_id": "kubernetes_id",
    "deployment_id": "kubernetes_deployment_id",
}


def _group(world: World) -> Body:
    return {"name": "New", "configuration_id": world.ids["configuration_id"], "version_number": 1}


def _suite_of_version(world: World) -> Body:
    return {"configuration_id": world.ids["configuration_id"], "version_number": 2, "tests": [A_TEST]}


def _saved_run(world: World) -> Body:
    version = {"configuration_id": world.ids["configuration_id"], "version_number": 1}
    return {**RUN, **version, "use_saved_rules": True}


def _device_grant(world: World) -> Body:
    code = world.ids["device_code"]
    return {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code}


_NEW: Final = {"name": "New", "yaml": YAML}
_RULE_SET: Final = {"signal_type": "logs", "rules": RULES}
_READS: Final = "changes nothing: reads only"
_PERSONS: Final = "api/test_invitations.py"
_LINKS: Final = "api/test_isolation.py, test_an_install_link_is_good_for_one_group_only"

ENDPOINTS: Final = [
    endpoint(f"GET {PUBLIC}/identity", "read", 200, right(200)),
    # Configurations, versions and rules
    endpoint(f"GET {PUBLIC}/configurations", "read", 200, right(200)),
    endpoint(
        f"POST {PUBLIC}/configurations",
        "write",
        422,
        right(201, _NEW),
        right(201, {"name": "New", "yaml": LARGE}, name="large"),
        right(201, _NEW, headers=ONCE, name="with a key"),
        action="configuration.created",
        target="configurations/{id}",
    ),
    endpoint(
        f"GET {CONFIGURATION}", "read", 404, right(200), right(200, ids={"configuration_id": "large_id"}, name="large")
    ),
    endpoint(
        f"PATCH {CONFIGURATION}",
        "write",
        422,
        right(200, {"name": "Renamed", "description": None}),
        action="configuration.changed",
        target="configurations/{configuration_id}",
    ),
    endpoint(f"GET {CONFIGURATION}/versions", "read", 404, right(200)),
    endpoint(
        f"POST {CONFIGURATION}/versions",
        "write",
        422,
        right(201, {"yaml": "a: 1"}),
        right(201, {"yaml": "a: 1"}, headers=ONCE, name="with a key"),
        action="version.created",
        target="configurations/{configuration_id}/versions/{n}",
    ),
    endpoint(f"GET {VERSION}", "read", 404, right(200)),
    endpoint(
        f"PATCH {VERSION}",
        "write",
        422,
        right(200, {"yaml": "a: 1"}, ids={"n": "2"}),
        right(200, {"yaml": YAML + "# b"}, ids={"n": "2"}, query="?validate=true", name="validated"),
        action="version.changed",
        target="configurations/{configuration_id}/versions/2",
    ),
    endpoint(
        f"POST {VERSION}/publish",
        "write",
        404,
        right(200, ids={"n": "2"}),
        action="version.published",
        target="configurations/{configuration_id}/versions/2/publish",
    ),
    endpoint(f"GET {VERSION}/suppressions", "read", 404, right(200)),
    endpoint(f"POST {VERSION}/upgrade-check", "read", 422, right(200, {"to": DEFAULT_VERSION}), recorded=_READS),
    endpoint(f"GET {VERSION}/validation-pipelines", "read", 404, right(200)),
    endpoint(
        f"PUT {VERSION}/validation-pipelines/{{pipeline}}",
        "write",
        422,
        right(200, _RULE_SET),
        action="rules.saved",
        target="configurations/{configuration_id}/versions/1/validation-pipelines/logs",
    ),
    endpoint(
        f"PUT {APP}{VERSION.removeprefix(PUBLIC)}/validation-pipelines/{{pipeline}}",
        "member",
        422,
        right(200, {"signal_type": "logs", "rules": [{"name": "by hand", "condition": "true"}]}),
        action="rules_by_hand.saved",
        target="configurations/{configuration_id}/versions/1",
    ),
    endpoint(f"GET {VERSION}/tests", "read", 404, right(200, ids={"n": "2"})),
    endpoint(f"GET {TEST}", "read", 404, right(200, ids={"n": "2"}), right(200, ids=LARGE_TEST, name="large")),
    endpoint(
        f"PUT {TEST}",
        "write",
        422,
        right(200, A_TEST_OF_RULES, ids={"n": "2", "test_name": "new"}),
        right(200, {**A_TEST_OF_RULES, "sample": LARGE}, ids={"n": "2"}, name="large"),
        action="test.saved",
        target="configurations/{configuration_id}/versions/2/tests/new",
    ),
    endpoint(
        f"DELETE {TEST}",
        "write",
        404,
        right(204, ids={"n": "2"}, repeated=(404,)),
        action="test.deleted",
        target=f"configurations/{{configuration_id}}/versions/2/tests/{A_TEST}",
    ),
    # Checks, test runs and flows
    endpoint(
        f"POST {PUBLIC}/validate",
        "read",
        422,
        right(200, {"yaml": YAML}),
        right(200, {"yaml": YAML}, query="?lint=true&policies=true", name="with all parts"),
        recorded=_READS,
    ),
    endpoint(
        f"POST {PUBLIC}/validate/upgrade-check",
        "read",
        422,
        right(200, {"yaml": YAML, "to": DEFAULT_VERSION}),
        recorded=_READS,
    ),
    endpoint(f"POST {PUBLIC}/ottl/lint", "read", 422, right(200, {"yaml": YAML}), recorded=_READS),
    endpoint(f"GET {PUBLIC}/policies", "read", 200, right(200)),
    endpoint(
        f"PUT {PUBLIC}/policies",
        "admin",
        422,
        right(200, POLICIES),
        action="policies.changed",
        target="policies",
    ),
    endpoint(f"GET {PUBLIC}/collector-versions", "read", 200, right(200)),
    endpoint(
        f"POST {PUBLIC}/testing/runs",
        "write",
        422,
        right(202, {**RUN, "yaml": YAML, "rules": RULES, "env": {"TOKEN": "a value"}}),
        right(202, _saved_run, headers=ONCE, name="saved, with a key"),
        right(202, {**RUN, "yaml": YAML, "collector_version": "0.1.0"}, name="refused"),
        action="run.started",
        target="testing/runs/{id}",
        ids_in_body=("configuration_id",),
        beside_ids={**RUN, "version_number": 1},
    ),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}", "read", 404, right(200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/output", "read", 404, right(200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/stderr", "read", 404, right(200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/steps", "read", 404, right(200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/steps/{{n}}", "read", 404, right(200)),
    endpoint(
        f"POST {PUBLIC}/testing/suites",
        "write",
        422,
        right(201, SUITE),
        right(201, _suite_of_version, headers=ONCE, name="of a version, with a key"),
        action="suite.started",
        target="testing/suites/{id}",
        ids_in_body=("configuration_id",),
        beside_ids={"version_number": 1},
    ),
    endpoint(f"GET {PUBLIC}/testing/suites/{{suite_id}}", "read", 404, right(200)),
    endpoint(
        f"POST {PUBLIC}/testing/comparisons",
        "write",
        422,
        right(201, COMPARISON),
        right(201, COMPARISON, headers=ONCE, name="with a key"),
        action="comparison.started",
        target="testing/comparisons/{id}",
    ),
    endpoint(f"GET {PUBLIC}/testing/comparisons/{{comparison_id}}", "read", 404, right(200)),
    endpoint(
        f"POST {PUBLIC}/testing/coverage",
        "write",
        422,
        right(201, SUITE),
        right(201, _suite_of_version, headers=ONCE, name="of a version, with a key"),
        action="coverage.started",
        target="testing/coverage/{id}",
        ids_in_body=("configuration_id",),
        beside_ids={"version_number": 1},
    ),
    endpoint(f"GET {PUBLIC}/testing/coverage/{{coverage_id}}", "read", 404, right(200)),
    # No gallery is published where `unfilled` is tried.
    endpoint(f"GET {PUBLIC}/flows", "read", 503, right(200)),
    endpoint(f"GET {PUBLIC}/flows/{{slug}}", "read", 404, right(200, denied=404), isolated="of no organization"),
    # The reference of the collector
    endpoint(f"GET {PUBLIC}/components", "read", 200, right(200)),
    endpoint(f"GET {PUBLIC}/components/schema.json", "nothing", 200, right(200), isolated="of no organization"),
    endpoint(
        f"GET {PUBLIC}/components/{{kind}}/{{type}}",
        "read",
        404,
        right(200, ids={"kind": "receiver", "type": "otlp"}),
        isolated="of no organization",
    ),
    endpoint(f"GET {PUBLIC}/ottl/reference", "read", 200, right(200)),
    # Fleets, deployments and installs
    endpoint(f"GET {PUBLIC}/fleets", "read", 200, right(200)),
    endpoint(
        f"POST {PUBLIC}/fleets",
        "write",
        422,
        right(
            201,
            {"label": "New", "type": "server-supervisor"},
            headers=ONCE,
            name="with a key",
            repeated=(409,),
        ),
        right(201, {"label": "N", "type": "kubernetes-supervisor"}, repeated=(409,)),
        action="fleet.created",
        target="fleets/{id}",
    ),
    endpoint(f"GET {FLEET}", "read", 404, right(200)),
    endpoint(f"GET {FLEET}/instances", "read", 404, right(200)),
    endpoint(f"GET {FLEET}/instances/{{instance_id}}", "read", 404, right(200)),
    # Its answer holds the fleet's token.
    endpoint(
        f"POST {FLEET}/install",
        "write",
        422,
        right(200, {"platform": "docker"}),
        action="install.composed",
        target="fleets/{fleet_id}/install",
        ids_in_body=("deployment_id",),
        beside_ids={"platform": "docker"},
    ),
    endpoint(f"GET {FLEET}/deployments", "read", 404, right(200)),
    endpoint(
        f"POST {FLEET}/deployments",
        "write",
        422,
        right(201, _group, repeated=(409,)),
        action="deployment.created",
        target="fleets/{fleet_id}/deployments/{id}",
        ids_in_body=("configuration_id",),
        beside_ids={"name": "mine", "version_number": 1},
    ),
    endpoint(f"GET {DEPLOYMENT}", "read", 404, right(200)),
    endpoint(
        f"PATCH {DEPLOYMENT}",
        "write",
        422,
        right(200, {"name": "Renamed", "configuration_id": None}),
        right(200, {"version_number": 1}, name="assigned"),
        action="deployment.changed",
        target="fleets/{fleet_id}/deployments/{deployment_id}",
        ids_in_body=("configuration_id",),
    ),
    endpoint(f"POST {DEPLOYMENT}/upgrade-check", "read", 422, right(200, {"to": DEFAULT_VERSION}), recorded=_READS),
    endpoint(
        f"PUT {DEPLOYMENT.replace(PUBLIC, APP)}/volume-mounts",
        "member",
        422,
        right(200, {"volume_mounts": [{"host_path": "/a", "mount_path": "/b"}]}),
        action="deployment.volume_mounts_changed",
        target="fleets/{fleet_id}/deployments/{deployment_id}",
    ),
    endpoint(
        f"POST {FLEET.replace(PUBLIC, APP)}/token",
        "admin",
        404,
        right(200, {"grace": "1d"}),
        right(200, {"grace": "none"}, name="at once"),
        action="fleet.token_renewed",
        target="fleets/{fleet_id}",
    ),
    # The link itself is what lets in; where `unfilled` is tried it has no signature.
    endpoint(
        f"GET {INSTALL}",
        "nothing",
        403,
        right(200, query="link", name="docker"),
        right(200, query="link", name="linux", ids={"platform": "linux"}),
        right(200, query="link", name="kubernetes", ids=ON_KUBERNETES),
        isolated=_LINKS,
    ),
    endpoint(
        f"GET {INSTALL}/{{name}}",
        "nothing",
        403,
        right(307, query="link"),
        right(200, query="link", name="chart", ids={**ON_KUBERNETES, "name": CHART}),
        isolated=_LINKS,
    ),
    # The application: a person's own, then their organization
    endpoint(f"GET {APP}/session", "person", 200, right(200)),
    endpoint(
        f"DELETE {APP}/session",
        "person",
        204,
        right(204, repeated=(401,)),
        recorded="changes nothing: ends the person's own session, which belongs to no organization",
        isolated="of no organization",
    ),
    endpoint(f"GET {APP}/invitations", "browser", 200, right(200), isolated=_PERSONS),
    endpoint(
        f"POST {APP}/invitations/{{organization_id}}/accept",
        "browser",
        404,
        right(200, ids=INVITING, repeated=(404,)),
        recorded=f"in the organization that invites: {_PERSONS}",
        isolated=_PERSONS,
    ),
    endpoint(
        f"DELETE {APP}/invitations/{{organization_id}}",
        "browser",
        404,
        right(204, ids=INVITING, repeated=(404,)),
        recorded=f"in the organization that invites: {_PERSONS}",
        isolated=_PERSONS,
    ),
    endpoint(
        f"POST {APP}/organizations",
        "admin",
        422,
        right(201, {"name": "Further"}),
        action="organization.created",
        target="{id}",
    ),
    endpoint(f"GET {APP}/organization", "member", 200, right(200)),
    endpoint(
        f"PATCH {APP}/organization",
        "admin",
        422,
        right(200, {"name": "Renamed"}, in_steps=True),
        action="organization.renamed",
        target="{organization_id}",
    ),
    endpoint(f"GET {APP}/members", "member", 200, right(200)),
    endpoint(
        f"POST {APP}/members",
        "admin",
        422,
        right(201, lambda _: {"email": new_address(), "role": "admin"}, repeated=(409,), in_steps=True),
        action="member.invited",
        target="{id}",
        ids_in_body=("service_account_id",),
    ),
    endpoint(
        f"PATCH {APP}/members/{{member_id}}",
        "admin",
        422,
        right(200, {"role": "admin"}),
        action="member.role_changed",
        target="{member_id}",
    ),
    endpoint(
        f"DELETE {APP}/members/{{member_id}}",
        "admin",
        404,
        right(204, repeated=(404,)),
        right(204, ids={"member_id": "service_account_id"}, name="an account", repeated=(404,)),
        action="member.removed",
        target="{member_id}",
    ),
    endpoint(f"GET {APP}/service-accounts", "admin", 200, right(200)),
    endpoint(
        f"POST {APP}/service-accounts",
        "admin",
        422,
        right(201, {"name": "New"}),
        action="service_account.created",
        target="{id}",
    ),
    endpoint(f"GET {ACCOUNT}", "admin", 404, right(200)),
    endpoint(
        f"DELETE {ACCOUNT}",
        "admin",
        404,
        right(204, repeated=(404,)),
        action="service_account.deleted",
        target="{service_account_id}",
    ),
    endpoint(f"GET {ACCOUNT}/tokens", "admin", 404, right(200)),
    endpoint(
        f"POST {ACCOUNT}/tokens", "admin", 422, right(201, {"name": "New"}), action="token.created", target="{id}"
    ),
    endpoint(
        f"DELETE {ACCOUNT}/tokens/{{token_id}}",
        "admin",
        404,
        right(204, repeated=(404,)),
        action="token.deleted",
        target="{token_id}",
    ),
    endpoint(f"GET {APP}/changes", "admin", 200, right(200)),
    # The login of a command line
    endpoint(
        f"POST {APP}/device_authorization",
        "nothing",
        200,
        right(200, {"client_id": "headgate"}, form=True),
        recorded="at the approval: end_to_end/test_audit.py, test_an_approved_login_is_recorded",
        isolated="of no organization",
    ),
    endpoint(
        f"POST {APP}/token",
        "nothing",
        422,
        # A place among the person's sessions, the session, and the look that the place is still there.
        right(200, _device_grant, form=True, repeated=(400,), in_steps=True, taken_back=True),
        recorded="at the approval: end_to_end/test_audit.py, test_an_approved_login_is_recorded",
        isolated="of no organization",
    ),
]
ROWS: Final = [request for each in ENDPOINTS for request in each.requests]

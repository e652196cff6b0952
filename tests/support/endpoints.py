"""Every endpoint of the API, once, with what the tests that go through all endpoints know of it.

Whoever adds an endpoint enters it here, and nowhere else. api/test_endpoints.py holds the table to the routes. What
goes through it: credentials (api/test_credentials_matrix.py), isolation (api/test_isolation.py), the record of changes
(api/test_audit.py), and faults of AWS (trust/test_faults.py, trust/test_socket_faults.py).
"""

from random import Random
from typing import Final

from headgate.foundation.settings import settings
from tests.support.application_endpoints import APPLICATION
from tests.support.endpoint import READS, Body, endpoint, right
from tests.support.faults.rows import ONCE
from tests.support.fleet_endpoints import FLEETS
from tests.support.webhook_endpoints import WEBHOOKS
from tests.support.world import A_TEST, APP, PUBLIC, RULES, YAML, World

CONFIGURATION: Final = f"{PUBLIC}/configurations/{{configuration_id}}"
VERSION: Final = f"{CONFIGURATION}/versions/{{n}}"
TEST: Final = f"{VERSION}/tests/{{test_name}}"
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


def _suite_of_version(world: World) -> Body:
    return {"configuration_id": world.ids["configuration_id"], "version_number": 2, "tests": [A_TEST]}


def _saved_run(world: World) -> Body:
    version = {"configuration_id": world.ids["configuration_id"], "version_number": 1}
    return {**RUN, **version, "use_saved_rules": True}


_NEW: Final = {"name": "New", "yaml": YAML}
_RULE_SET: Final = {"signal_type": "logs", "rules": RULES}

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
    endpoint(
        f"DELETE {CONFIGURATION}",
        "write",
        404,
        right(204, ids={"configuration_id": "draft_id"}, repeated=(404,)),
        action="configuration.deleted",
        target="configurations/{draft_id}",
    ),
    endpoint(
        f"POST {CONFIGURATION}/archive",
        "write",
        404,
        right(200, ids={"configuration_id": "draft_id"}),
        action="configuration.archived",
        target="configurations/{draft_id}/archive",
    ),
    endpoint(
        f"POST {CONFIGURATION}/restore",
        "write",
        404,
        right(200),
        action="configuration.restored",
        target="configurations/{configuration_id}/restore",
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
    endpoint(
        f"POST {VERSION}/upgrade-check", "read", 422, right(200, {"to": settings().collector_version}), recorded=READS
    ),
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
        right(200, {"yaml": YAML}, query="?lint=true&policies=true&graph=true", name="with all parts"),
        recorded=READS,
    ),
    endpoint(
        f"POST {PUBLIC}/validate/batch",
        "read",
        422,
        right(200, {"items": [{"yaml": YAML}]}),
        recorded=READS,
    ),
    endpoint(
        f"POST {PUBLIC}/validate/upgrade-check",
        "read",
        422,
        right(200, {"yaml": YAML, "to": settings().collector_version}),
        recorded=READS,
    ),
    endpoint(f"POST {PUBLIC}/ottl/lint", "read", 422, right(200, {"yaml": YAML}), recorded=READS),
    endpoint(f"GET {PUBLIC}/policies", "read", 200, right(200)),
    endpoint(
        f"PUT {PUBLIC}/policies",
        "admin",
        422,
        right(200, POLICIES),
        action="policies.changed",
        target="policies",
    ),
    # Without a release's object the list has no images.
    endpoint(f"GET {PUBLIC}/collector-versions", "read", 200, right(200, denied=200)),
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
    endpoint(f"GET {PUBLIC}/testing/runs", "read", 200, right(200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}", "read", 404, right(200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/output", "read", 404, right(200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/sample", "read", 404, right(200, denied=200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/stderr", "read", 404, right(200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/steps", "read", 404, right(200, denied=200)),
    endpoint(f"GET {PUBLIC}/testing/runs/{{run_id}}/steps/{{n}}", "read", 404, right(200, denied=404)),
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
        # Without the gallery's object it has no example.
        right(200, ids={"kind": "receiver", "type": "otlp"}, denied=200),
        isolated="of no organization",
    ),
    endpoint(f"GET {PUBLIC}/ottl/reference", "read", 200, right(200)),
    *FLEETS,
    *APPLICATION,
    *WEBHOOKS,
]
ROWS: Final = [request for each in ENDPOINTS for request in each.requests]

"""A right request for every endpoint of the API."""

from random import Random
from typing import Final

from headgate.installs.releases import CHART
from tests.support.faults.rows import ONCE, Row, always, new_address
from tests.support.world import APP, PUBLIC, RULES, YAML

# Too large for an item of a table, and of random letters, so that compression does not change that.
LARGE: Final = f"{YAML}# {''.join(Random(1).choices('abcdefghijklmnopqrstuvwxyz0123456789', k=600_000))}\n"

CONFIGURATION: Final = f"{PUBLIC}/configurations/{{configuration_id}}"
VERSION: Final = f"{CONFIGURATION}/versions/{{n}}"
FLEET: Final = f"{PUBLIC}/fleets/{{fleet_id}}"
RUN: Final = {"sample": "a line", "signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1}
INSTALL: Final = "/api/v1/fleet-install/{platform}/{deployment_id}"
ON_KUBERNETES: Final = {
    "platform": "kubernetes",
    "fleet_id": "kubernetes_id",
    "deployment_id": "kubernetes_deployment_id",
}

INVITING: Final = {"organization_id": "inviting_id"}
ROWS: Final = [
    Row(f"GET {PUBLIC}/identity", 200),
    Row(f"GET {PUBLIC}/configurations", 200),
    Row(f"POST {PUBLIC}/configurations", 201, always({"name": "New", "yaml": YAML})),
    Row(f"POST {PUBLIC}/configurations", 201, always({"name": "New", "yaml": LARGE}), name="large"),
    Row(f"POST {PUBLIC}/configurations", 201, always({"name": "New", "yaml": YAML}), headers=ONCE, name="with a key"),
    Row(f"GET {CONFIGURATION}", 200),
    Row(f"GET {CONFIGURATION}", 200, ids={"configuration_id": "large_id"}, name="large"),
    Row(f"PATCH {CONFIGURATION}", 200, always({"name": "Renamed", "description": None})),
    Row(f"GET {CONFIGURATION}/versions", 200),
    Row(f"POST {CONFIGURATION}/versions", 201, always({"yaml": "a: 1"})),
    Row(f"POST {CONFIGURATION}/versions", 201, always({"yaml": "a: 1"}), headers=ONCE, name="with a key"),
    Row(f"GET {VERSION}", 200),
    Row(f"PATCH {VERSION}", 200, always({"yaml": "a: 1"}), ids={"n": "2"}),
    Row(f"PATCH {VERSION}", 200, always({"yaml": YAML + "# b"}), {"n": "2"}, "?validate=true", name="validated"),
    Row(f"POST {VERSION}/publish", 200, ids={"n": "2"}),
    Row(f"GET {VERSION}/validation-pipelines", 200),
    Row(f"PUT {VERSION}/validation-pipelines/{{pipeline}}", 200, always({"signal_type": "logs", "rules": RULES})),
    Row(f"POST {PUBLIC}/validate", 200, always({"yaml": YAML})),
    Row(f"POST {PUBLIC}/ottl/lint", 200, always({"yaml": YAML})),
    Row(f"POST {PUBLIC}/testing/runs", 202, always({**RUN, "yaml": YAML, "rules": RULES})),
    Row(
        f"POST {PUBLIC}/testing/runs",
        202,
        lambda world: {
            **RUN,
            "configuration_id": world.ids["configuration_id"],
            "version_number": 1,
            "use_saved_rules": True,
        },
        headers=ONCE,
        name="saved, with a key",
    ),
    Row(
        f"POST {PUBLIC}/testing/runs", 202, always({**RUN, "yaml": YAML, "collector_version": "0.1.0"}), name="refused"
    ),
    Row(f"GET {PUBLIC}/testing/runs/{{run_id}}", 200),
    Row(f"GET {PUBLIC}/testing/runs/{{run_id}}/output", 200),
    Row(f"GET {PUBLIC}/fleets", 200),
    Row(
        f"POST {PUBLIC}/fleets",
        201,
        always({"label": "New", "type": "server-supervisor"}),
        headers=ONCE,
        name="with a key",
        repeated=(409,),
    ),
    Row(f"POST {PUBLIC}/fleets", 201, always({"label": "N", "type": "kubernetes-supervisor"}), repeated=(409,)),
    Row(f"GET {FLEET}", 200),
    Row(f"GET {FLEET}/instances", 200),
    Row(f"POST {FLEET}/install", 200, always({"platform": "docker"})),
    Row(f"GET {FLEET}/deployments", 200),
    Row(
        f"POST {FLEET}/deployments",
        201,
        lambda world: {"name": "New", "configuration_id": world.ids["configuration_id"], "version_number": 1},
        repeated=(409,),
    ),
    Row(f"GET {FLEET}/deployments/{{deployment_id}}", 200),
    Row(f"PATCH {FLEET}/deployments/{{deployment_id}}", 200, always({"name": "Renamed", "configuration_id": None})),
    Row(f"PATCH {FLEET}/deployments/{{deployment_id}}", 200, always({"version_number": 1}), name="assigned"),
    Row(
        f"PUT {APP}/fleets/{{fleet_id}}/deployments/{{deployment_id}}/volume-mounts",
        200,
        always({"volume_mounts": [{"host_path": "/a", "mount_path": "/b"}]}),
    ),
    Row(f"POST {APP}/fleets/{{fleet_id}}/token", 200, always({"grace": "1d"})),
    Row(f"POST {APP}/fleets/{{fleet_id}}/token", 200, always({"grace": "none"}), name="at once"),
    Row(f"GET {INSTALL}", 200, query="link", name="docker"),
    Row(f"GET {INSTALL}", 200, query="link", name="linux", ids={"platform": "linux"}),
    Row(f"GET {INSTALL}", 200, query="link", name="kubernetes", ids=ON_KUBERNETES),
    Row(f"GET {INSTALL}/{{name}}", 307, query="link"),
    Row(f"GET {INSTALL}/{{name}}", 200, query="link", name="chart", ids={**ON_KUBERNETES, "name": CHART}),
    Row(f"GET {PUBLIC}/flows", 200),
    Row(f"GET {PUBLIC}/flows/{{slug}}", 200, denied=404),
    Row(f"GET {APP}/session", 200),
    Row(f"DELETE {APP}/session", 204, repeated=(401,)),
    Row(f"POST {APP}/organizations", 201, always({"name": "Further"})),
    Row(f"GET {APP}/organization", 200),
    Row(f"PATCH {APP}/organization", 200, always({"name": "Renamed"}), in_steps=True),
    Row(f"GET {APP}/members", 200),
    Row(
        f"POST {APP}/members",
        201,
        lambda world: {"email": new_address(), "role": "admin"},
        repeated=(409,),
        in_steps=True,
    ),
    Row(f"GET {APP}/invitations", 200),
    Row(f"POST {APP}/invitations/{{organization_id}}/accept", 200, ids=INVITING, repeated=(404,)),
    Row(f"DELETE {APP}/invitations/{{organization_id}}", 204, ids=INVITING, repeated=(404,)),
    Row(f"PATCH {APP}/members/{{member_id}}", 200, always({"role": "admin"})),
    Row(f"DELETE {APP}/members/{{member_id}}", 204, repeated=(404,)),
    Row(
        f"DELETE {APP}/members/{{member_id}}",
        204,
        ids={"member_id": "service_account_id"},
        name="an account",
        repeated=(404,),
    ),
    Row(f"GET {APP}/service-accounts", 200),
    Row(f"POST {APP}/service-accounts", 201, always({"name": "New"})),
    Row(f"GET {APP}/service-accounts/{{service_account_id}}", 200),
    Row(f"DELETE {APP}/service-accounts/{{service_account_id}}", 204, repeated=(404,)),
    Row(f"GET {APP}/service-accounts/{{service_account_id}}/tokens", 200),
    Row(f"POST {APP}/service-accounts/{{service_account_id}}/tokens", 201, always({"name": "New"})),
    Row(f"DELETE {APP}/service-accounts/{{service_account_id}}/tokens/{{token_id}}", 204, repeated=(404,)),
    Row(f"GET {APP}/changes", 200),
    Row(
        f"PUT {APP}{VERSION.removeprefix(PUBLIC)}/validation-pipelines/{{pipeline}}",
        200,
        always({"signal_type": "logs", "rules": [{"name": "by hand", "condition": "true"}]}),
    ),
    Row(f"POST {APP}/device_authorization", 200, always({"client_id": "headgate"}), form=True),
    Row(
        f"POST {APP}/token",
        200,
        lambda world: {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            "device_code": world.ids["device_code"],
        },
        form=True,
        repeated=(400,),
        # A place among the person's sessions, the session, and the look that the place is still there.
        in_steps=True,
        taken_back=True,
    ),
]

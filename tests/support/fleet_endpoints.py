"""The endpoints of fleets, instances, deployments, rollouts and installs, for the table of endpoints (endpoints.py)."""

from datetime import timedelta
from typing import Final

from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.installs.releases import CHART
from tests.support.endpoint import READS, Body, Takes, endpoint, right
from tests.support.faults.rows import ONCE
from tests.support.world import APP, PUBLIC, World

INSTALL: Final = "/api/v1/fleet-install/{platform}/{deployment_id}"
FLEET: Final = f"{PUBLIC}/fleets/{{fleet_id}}"
INSTANCE: Final = f"{FLEET}/instances/{{instance_id}}"
DEPLOYMENT: Final = f"{FLEET}/deployments/{{deployment_id}}"
ROLLOUT: Final = f"{DEPLOYMENT}/rollouts/{{rollout_id}}"
ROLLING: Final = {"deployment_id": "rolling_group_id", "rollout_id": "rolling_id"}
PAUSED: Final = {"fleet_id": "kubernetes_id", "deployment_id": "kubernetes_deployment_id", "rollout_id": "paused_id"}
OBSERVED: Final = {"fleet_id": "observed_fleet_id", "instance_id": "observed_instance_id"}
CAPTURED: Final = {"fleet_id": "captured_fleet_id", "deployment_id": "captured_deployment_id"}
CAPTURES: Final = f"{FLEET}/captures"
CAPTURE: Final = f"{CAPTURES}/{{capture_id}}"
SECRETIVE: Final = {"deployment_id": "secretive_deployment_id"}
ON_KUBERNETES: Final = {
    "platform": "kubernetes",
    "fleet_id": "kubernetes_id",
    "deployment_id": "kubernetes_deployment_id",
}
_DEFAULT_VERSION: Final = settings().collector_version
PRICES: Final[Body] = {
    "currency": "USD",
    "prices": [{"exporter": "otlphttp", "per": "gigabyte", "amount": "0.25"}],
}
_LINKS: Final = "api/test_isolation.py, test_an_install_link_is_good_for_one_group_only"

# What is done to a rollout: its action, the credential, to which one, and the status of doing it twice.
ACTS: Final[tuple[tuple[str, str, Takes, dict[str, str], tuple[int, ...], str], ...]] = (
    ("pause", "paused", "write", ROLLING, (409,), "/pause"),
    ("resume", "resumed", "write", PAUSED, (409,), "/resume"),
    ("promote", "promoted", "write", ROLLING, (), "/promote"),
    ("approve", "approved", "member", {}, (409,), ""),
    ("abort", "aborted", "write", ROLLING, (), "/abort"),
    ("retry", "retried", "write", ROLLING, (), "/retry"),
)
# The orders to a host, each with the name that the record of changes has for it.
ORDERS: Final = (("restart", "restart"), ("retry", "retry"), ("upgrade-supervisor", "supervisor_upgrade"))


def _target(ids: dict[str, str]) -> str:
    """The path of a rollout with the names that the world has for these ids."""
    names = ("fleet_id", "deployment_id", "rollout_id")
    return ROLLOUT.removeprefix(f"{PUBLIC}/").format_map({name: f"{{{ids.get(name, name)}}}" for name in names})


def _tomorrow() -> str:
    return clock.rfc3339(clock.now() + timedelta(days=1))


def _capture(world: World) -> Body:
    return {"instance_id": world.ids["capturing_id"], "pipeline": "logs", "component": "batch"}


def _group(world: World) -> Body:
    return {"name": "New", "configuration_id": world.ids["configuration_id"], "version_number": 1}


FLEETS: Final = [
    # What needs somebody, of all that an organization has
    endpoint(f"GET {PUBLIC}/overview", "read", 200, right(200)),
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
    endpoint(
        f"DELETE {FLEET}",
        "write",
        404,
        right(204, ids={"fleet_id": "unused_fleet_id"}, repeated=(404,)),
        action="fleet.deleted",
        target="fleets/{unused_fleet_id}",
    ),
    endpoint(f"GET {FLEET}/instances", "read", 404, right(200)),
    endpoint(f"GET {INSTANCE}", "read", 404, right(200)),
    endpoint(
        f"PATCH {INSTANCE}",
        "write",
        422,
        right(200, {"labels": {"team": "shop"}}),
        action="instance.changed",
        target="fleets/{fleet_id}/instances/{instance_id}",
        ids_in_body=("deployment_id",),
    ),
    endpoint(f"GET {INSTANCE}/history", "read", 404, right(200)),
    *(endpoint(f"GET {one}/series", "read", 404, right(200)) for one in (FLEET, DEPLOYMENT, INSTANCE)),
    *(endpoint(f"GET {one}/states", "read", 404, right(200, timed=True)) for one in (FLEET, DEPLOYMENT)),
    *(
        endpoint(
            f"POST {INSTANCE}/{act}",
            "write",
            404,
            right(202),
            action=f"instance.{ordered}_ordered",
            target="fleets/{fleet_id}/instances/{instance_id}/orders/{id}",
        )
        for act, ordered in ORDERS
    ),
    endpoint(f"GET {INSTANCE}/orders/{{order_id}}", "read", 404, right(200, ids={"instance_id": "overridden_id"})),
    endpoint(
        f"PUT {INSTANCE}/override",
        "write",
        422,
        right(200, lambda _: {"version_number": 1, "until": _tomorrow()}),
        action="instance.overridden",
        target="fleets/{fleet_id}/instances/{instance_id}/override",
        ids_in_body=("configuration_id",),
        beside_ids={"version_number": 1, "until": _tomorrow()},
    ),
    endpoint(
        f"DELETE {INSTANCE}/override",
        "write",
        404,
        right(204, ids={"instance_id": "overridden_id"}, repeated=(404,)),
        action="instance.override_ended",
        target="fleets/{fleet_id}/instances/{overridden_id}/override",
    ),
    endpoint(
        f"POST {INSTANCE}/allow-move",
        "member",
        404,
        right(200),
        action="instance.move_allowed",
        target="fleets/{fleet_id}/instances/{instance_id}/allow-move",
    ),
    endpoint(
        f"POST {INSTANCE}/cut-off",
        "member",
        404,
        right(200),
        action="instance.cut_off",
        target="fleets/{fleet_id}/instances/{instance_id}/cut-off",
    ),
    endpoint(
        f"POST {INSTANCE}/let-in",
        "member",
        404,
        right(200),
        action="instance.let_in",
        target="fleets/{fleet_id}/instances/{instance_id}/let-in",
    ),
    endpoint(
        f"POST {INSTANCE}/replace",
        "write",
        404,
        right(200, {}, ids={"instance_id": "replaced_instance_id"}, repeated=(404,)),
        action="instance.replaced",
        target="fleets/{fleet_id}/instances/{replaced_instance_id}/replace",
    ),
    endpoint(
        f"DELETE {INSTANCE}",
        "write",
        404,
        right(204, ids={"instance_id": "gone_instance_id"}, repeated=(404,)),
        action="instance.deleted",
        target="fleets/{fleet_id}/instances/{gone_instance_id}",
    ),
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
    endpoint(
        f"POST {FLEET}/observe",
        "write",
        404,
        right(200, {"client": "extension"}, ids={"fleet_id": "observed_fleet_id"}),
        action="install.composed",
        target="fleets/{observed_fleet_id}/observe",
    ),
    *(
        endpoint(f"GET {FLEET}/{name}", "read", 404, right(200, ids={"fleet_id": "observed_fleet_id"}))
        for name in ("inventory", "inventory.csv", "configurations", "findings")
    ),
    *(
        endpoint(f"GET {INSTANCE}/{name}", "read", 404, right(200, ids=OBSERVED))
        for name in ("configuration", "findings", "adoption")
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
    endpoint(
        f"POST {DEPLOYMENT}/rollouts",
        "write",
        422,
        right(201, {"version_number": 1}),
        right(201, {"version_number": 1}, headers=ONCE, name="with a key"),
        action="rollout.started",
        target="fleets/{fleet_id}/deployments/{deployment_id}/rollouts/{id}",
        ids_in_body=("configuration_id",),
        beside_ids={"version_number": 1},
    ),
    endpoint(f"GET {DEPLOYMENT}/rollouts", "read", 404, right(200)),
    endpoint(f"GET {ROLLOUT}", "read", 404, right(200)),
    *(
        endpoint(
            f"POST {ROLLOUT}/{act}",
            takes,
            404,
            right(200, ids=ids, repeated=repeated),
            action=f"rollout.{action}",
            target=_target(ids) + suffix,
        )
        for act, action, takes, ids, repeated, suffix in ACTS
    ),
    endpoint(
        f"DELETE {DEPLOYMENT}",
        "write",
        404,
        right(204, ids={"deployment_id": "unused_deployment_id"}, repeated=(404,)),
        action="deployment.deleted",
        target="fleets/{fleet_id}/deployments/{unused_deployment_id}",
    ),
    endpoint(f"GET {DEPLOYMENT}/history", "read", 404, right(200)),
    endpoint(
        f"PUT {DEPLOYMENT}/captures",
        "admin",
        422,
        right(200, {"allowed": True}),
        action="deployment.captures_changed",
        target="fleets/{fleet_id}/deployments/{deployment_id}",
    ),
    endpoint(f"GET {PUBLIC}/fleets/capture-redaction", "read", 200, right(200)),
    endpoint(
        f"PUT {PUBLIC}/fleets/capture-redaction",
        "admin",
        200,
        right(200, {"patterns": ["order-[0-9]+"]}),
        action="captures.redaction_changed",
        target="fleets/capture-redaction",
    ),
    endpoint(f"GET {PUBLIC}/fleets/prices", "read", 200, right(200)),
    endpoint(
        f"PUT {PUBLIC}/fleets/prices",
        "admin",
        422,
        right(200, PRICES),
        action="prices.changed",
        target="fleets/prices",
    ),
    *(endpoint(f"GET {one}/costs", "read", 404, right(200)) for one in (FLEET, DEPLOYMENT)),
    endpoint(
        f"POST {CAPTURES}",
        "write",
        422,
        right(201, _capture, ids=CAPTURED, headers=ONCE, name="with a key", repeated=(409,)),
        right(201, _capture, ids=CAPTURED, repeated=(409,)),
        action="capture.started",
        target="fleets/{captured_fleet_id}/captures/{id}",
        ids_in_body=("instance_id",),
        beside_ids={"pipeline": "logs", "component": "batch"},
    ),
    endpoint(f"GET {CAPTURES}", "read", 404, right(200, ids=CAPTURED)),
    endpoint(f"GET {CAPTURE}", "read", 404, right(200, ids=CAPTURED)),
    endpoint(f"GET {CAPTURE}/sample", "read", 404, right(200, ids=CAPTURED)),
    endpoint(
        f"POST {CAPTURE}/end",
        "write",
        404,
        right(200, ids={**CAPTURED, "capture_id": "open_capture_id"}),
        action="capture.ended",
        target="fleets/{captured_fleet_id}/captures/{open_capture_id}/end",
    ),
    endpoint(
        f"DELETE {CAPTURE}",
        "write",
        404,
        right(204, ids=CAPTURED, repeated=(404,), in_steps=True),
        action="capture.deleted",
        target="fleets/{captured_fleet_id}/captures/{capture_id}",
    ),
    endpoint(
        f"POST {DEPLOYMENT}/assignment-check",
        "read",
        422,
        right(200, {"version_number": 1}),
        recorded=READS,
        ids_in_body=("configuration_id",),
        beside_ids={"version_number": 1},
    ),
    endpoint(
        f"PUT {DEPLOYMENT}/selector",
        "write",
        422,
        right(200, {"labels": {"zone": "a"}}),
        right(200, {"labels": {}}, name="none"),
        action="deployment.selector_changed",
        target="fleets/{fleet_id}/deployments/{deployment_id}/selector",
    ),
    endpoint(f"GET {DEPLOYMENT}/env", "read", 404, right(200, ids=SECRETIVE)),
    endpoint(f"GET {DEPLOYMENT}/env/hosts", "read", 404, right(200, ids=SECRETIVE)),
    endpoint(
        f"PATCH {DEPLOYMENT}/env",
        "write",
        422,
        right(200, {"variables": {"ZONE": "a"}, "secrets": {"API_KEY": "of a group"}}),
        right(200, {"secrets": {"API_KEY": None}}, ids=SECRETIVE, name="removed"),
        action="deployment.env_changed",
        target="fleets/{fleet_id}/deployments/{deployment_id}/env",
    ),
    endpoint(
        f"POST {DEPLOYMENT.replace(PUBLIC, APP)}/token",
        "admin",
        404,
        right(200, {"grace": "1d"}, ids=SECRETIVE),
        right(200, {"grace": "none"}, ids=SECRETIVE, name="at once"),
        action="deployment.token_renewed",
        target="fleets/{fleet_id}/deployments/{secretive_deployment_id}",
    ),
    endpoint(f"POST {DEPLOYMENT}/upgrade-check", "read", 422, right(200, {"to": _DEFAULT_VERSION}), recorded=READS),
    endpoint(
        f"PUT {DEPLOYMENT.replace(PUBLIC, APP)}/volume-mounts",
        "member",
        422,
        right(200, {"volume_mounts": [{"host_path": "/a", "mount_path": "/b"}]}),
        action="deployment.volume_mounts_changed",
        target="fleets/{fleet_id}/deployments/{deployment_id}",
    ),
    *(
        endpoint(
            f"POST {path}/token",
            "admin",
            404,
            right(200, {"grace": "1d"}, ids=ids),
            action=f"{what}.token_renewed",
            target=target,
        )
        for path, what, ids, target in (
            (FLEET, "fleet", {}, "fleets/{fleet_id}"),
            (DEPLOYMENT, "deployment", SECRETIVE, "fleets/{fleet_id}/deployments/{secretive_deployment_id}"),
        )
    ),
    endpoint(f"GET {FLEET}/token", "read", 404, right(200)),
    endpoint(f"GET {DEPLOYMENT}/token", "read", 404, right(200, ids=SECRETIVE)),
    endpoint(
        f"POST {FLEET}/mode-check",
        "read",
        422,
        right(200, {"mode": "managed"}, ids={"fleet_id": "observed_fleet_id"}),
        recorded=READS,
    ),
    endpoint(
        f"PUT {FLEET}/mode",
        "write",
        422,
        right(200, {"mode": "managed"}, ids={"fleet_id": "observed_fleet_id"}),
        action="fleet.mode_changed",
        target="fleets/{observed_fleet_id}/mode",
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
    # Besides the link it takes the group's own token: api/test_group_env.py.
    endpoint(
        f"GET {INSTALL}/variables",
        "nothing",
        403,
        right(401, query="link", ids=SECRETIVE, name="without the token"),
        isolated=_LINKS,
    ),
    # And a code of an install command, which counts and records it.
    endpoint(
        f"POST {INSTALL}/secrets",
        "nothing",
        403,
        right(401, query="link", ids=SECRETIVE, name="without the token"),
        recorded="deployments.deliveries, api/test_group_env.py",
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
]

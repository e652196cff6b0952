"""A right request for every page and every form, as a browser sends them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from moto.cognitoidp.models import cognitoidp_backends

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import logins, member_store, passwords, people, proofs
from headgate.identity.model import Member, User
from headgate.storage import aws
from headgate_local import user_pool
from headgate_local.moto_data import ACCOUNT, REGION
from tests.support.application_endpoints import INVITING
from tests.support.faults.rows import Row, always, new_address
from tests.support.fleet_endpoints import ACTS, CAPTURED, OBSERVED, ORDERS, SECRETIVE
from tests.support.world import A_TEST, World

Fields = dict[str, str]

HERE: Final = "/organizations/{organization_id}"
MEMBERS: Final = f"{HERE}/members"
ACCOUNT_PAGE: Final = f"{HERE}/service-accounts/{{service_account_id}}"
WEBHOOK_PAGE: Final = f"{HERE}/webhooks/{{webhook_id}}"
VERSION_PAGE: Final = f"{HERE}/configurations/{{configuration_id}}/versions/{{n}}"
GROUP: Final = f"{HERE}/fleets/{{fleet_id}}/deployments/{{deployment_id}}"
COLLECTOR: Final = f"{HERE}/fleets/{{fleet_id}}/collectors/{{instance_id}}"
ROLLOUT: Final = f"{GROUP}/rollouts/{{rollout_id}}"
CAPTURES: Final = f"{HERE}/fleets/{{fleet_id}}/captures"
CAPTURE: Final = {"pipeline": "logs", "component": "batch", "max_records": "10", "duration_seconds": "60"}
CHALLENGE: Final = logins.challenge_of("v" * 43)
EMAIL: Final = "person@example.com"
PASSWORD: Final = "correct horse battery"
TEMPORARY: Final = "temporary horse battery"
NEW_PASSWORD: Final = "staple horse battery"
PASSWORDS: Final = (PASSWORD, TEMPORARY, NEW_PASSWORD)
CLIENT: Final = "192.0.2.7"


def page(endpoint: str, status: int = 200, **more: Any) -> Row:
    return Row(f"GET {endpoint}", status, page=True, **more)


def form(endpoint: str, status: int, fields: Callable[[World], Fields] | Fields, **more: Any) -> Row:
    return Row(f"POST {endpoint}", status, fields if callable(fields) else always(fields), page=True, **more)


def rolls_out(world: World) -> Fields:
    group = f"group.{world.ids['fleet_id']}.{world.ids['deployment_id']}"
    return {"configuration_id": world.ids["configuration_id"], "version_number": "1", group: "yes"}


def with_password(_: World) -> Fields:
    _set_password(PASSWORD, permanent=True)
    return {"email": EMAIL, "password": PASSWORD, "next": "/"}


def with_temporary_password(_: World) -> Fields:
    _set_password(TEMPORARY, permanent=False)
    try:
        people.sign_in(EMAIL, TEMPORARY, CLIENT, clock.now())
    except people.NewPasswordNeeded as needed:
        return {"challenge": needed.challenge, "password": NEW_PASSWORD, "next": "/"}
    raise AssertionError("the temporary password was taken for one's own")


def with_mailed_code(_: World) -> Fields:
    _set_password(PASSWORD, permanent=True)
    passwords.send_code(EMAIL, "https://headgate.example", "https://headgate.example/reset-password?request=r")
    user = cognitoidp_backends[ACCOUNT][REGION].user_pools[settings().user_pool_id]._get_user(EMAIL)
    assert user is not None
    proof = proofs.of_mail(EMAIL, clock.now())
    return {"email": EMAIL, "request": proof, "code": str(user.confirmation_code), "password": NEW_PASSWORD}


def _set_password(password: str, *, permanent: bool) -> None:
    aws.cognito().admin_set_user_password(
        UserPoolId=settings().user_pool_id, Username=EMAIL, Password=password, Permanent=permanent
    )


def _tomorrow() -> str:
    return (clock.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")


RULE: Final = {"pipeline": "logs", "name": "typed", "condition": "true", "context": "log", "expect": "any"}
MOUNT: Final = {"host_path": "/a", "mount_path": "/b"}

COMPONENT: Final = {"kind": "receiver", "type": "otlp"}

PAGES: Final = [
    page("/"),
    page(HERE),
    page(f"{HERE}/settings"),
    page(f"{HERE}/expiring-tokens"),
    form(f"{HERE}/rename", 303, {"name": "Renamed"}, in_steps=True),
    form(f"{HERE}/create", 303, {"name": "Further"}),
    page(MEMBERS),
    form(MEMBERS, 303, lambda _: {"email": new_address(), "role": "admin"}, repeated=(409,), in_steps=True),
    form(MEMBERS, 303, {"email": EMAIL, "role": "contributor"}, name="again"),
    form(f"{MEMBERS}/{{member_id}}/role", 303, {"role": "admin"}),
    form(f"{MEMBERS}/{{member_id}}/remove", 303, {}, repeated=(404,)),
    page(f"{HERE}/service-accounts"),
    form(f"{HERE}/service-accounts", 303, {"name": "New"}),
    page(ACCOUNT_PAGE),
    form(f"{ACCOUNT_PAGE}/delete", 303, {}, repeated=(404,)),
    form(f"{ACCOUNT_PAGE}/add", 303, {}, ids={"service_account_id": "removed_id"}, repeated=(409,)),
    form(f"{ACCOUNT_PAGE}/tokens", 200, {"name": "New", "days": "30"}),
    form(f"{ACCOUNT_PAGE}/tokens/{{token_id}}/delete", 303, {}, repeated=(404,)),
    page(f"{HERE}/changes"),
    page(f"{HERE}/configurations"),
    page(f"{HERE}/configurations/new"),
    page(f"{HERE}/configurations/try"),
    form(
        f"{HERE}/configurations/change",
        200,
        lambda world: {"setting": "exporters.debug.verbosity", "value": "basic", world.ids["draft_id"]: "yes"},
    ),
    page(f"{HERE}/configurations/{{configuration_id}}"),
    *(page(f"{HERE}/configurations/{{configuration_id}}/{tab}") for tab in ("versions", "tests", "runs", "settings")),
    form(f"{HERE}/configurations/{{configuration_id}}/settings", 303, {"name": "Renamed", "description": ""}),
    form(f"{HERE}/configurations/{{configuration_id}}/archive", 303, {}, ids={"configuration_id": "draft_id"}),
    form(f"{HERE}/configurations/{{configuration_id}}/restore", 303, {}),
    form(
        f"{HERE}/configurations/{{configuration_id}}/delete",
        303,
        {},
        ids={"configuration_id": "draft_id"},
        repeated=(404,),
    ),
    page(f"{HERE}/runs"),
    page(f"{HERE}/configurations/{{configuration_id}}/edit"),
    page(f"{HERE}/configurations/{{configuration_id}}/compare"),
    page(VERSION_PAGE),
    form(VERSION_PAGE, 303, {"delete_test": A_TEST}, ids={"n": "2"}, repeated=(404,)),
    page(f"{VERSION_PAGE}/run"),
    page(f"{VERSION_PAGE}/rules", query="?pipeline=logs"),
    form(f"{VERSION_PAGE}/rules", 303, {**RULE, "do": "save"}, repeated=(422,)),
    page(f"{HERE}/webhooks"),
    form(f"{HERE}/webhooks", 200, {"name": "New", "url": "https://hooks.example.com/1", "format": "cloudevents"}),
    page(WEBHOOK_PAGE),
    form(f"{WEBHOOK_PAGE}/test", 303, {}, in_steps=True),
    form(f"{WEBHOOK_PAGE}/switch", 303, {"enabled": "no"}),
    form(f"{WEBHOOK_PAGE}/change", 303, {"name": "Renamed", "url": "https://hooks.example.com/2"}),
    form(f"{WEBHOOK_PAGE}/secret", 200, {}),
    form(f"{WEBHOOK_PAGE}/deliveries/{{delivery_id}}/resend", 303, {}, in_steps=True, repeated=(409,)),
    form(f"{WEBHOOK_PAGE}/delete", 303, {}, repeated=(404,)),
    page(f"{HERE}/policies"),
    form(f"{HERE}/policies", 303, {"etag": "*", "severity.insecure_tls": "error"}),
    page(f"{HERE}/fleets"),
    form(f"{HERE}/fleets", 303, {"label": "Typed", "type": "server-supervisor"}, repeated=(409,)),
    page(f"{HERE}/fleets/capture-redaction"),
    form(f"{HERE}/fleets/capture-redaction", 303, {"kind.credentials": "yes", "keys": "customer.name"}, in_steps=True),
    page(f"{HERE}/fleets/prices"),
    form(f"{HERE}/fleets/prices", 303, {"currency": "EUR", "prices": "a * 0.5 gigabyte", "etag": "*"}, in_steps=True),
    page(f"{HERE}/fleets/{{fleet_id}}/new-group"),
    form(
        f"{HERE}/fleets/{{fleet_id}}/new-group",
        303,
        lambda world: {"name": "typed", "configuration_id": world.ids["configuration_id"], "version_number": "1"},
        repeated=(409,),
    ),
    page(f"{HERE}/fleets/{{fleet_id}}"),
    form(f"{HERE}/fleets/{{fleet_id}}/token", 303, {"grace": "7d"}),
    page(f"{HERE}/fleets/{{fleet_id}}/collectors"),
    form(
        f"{HERE}/fleets/{{fleet_id}}/collectors/orders",
        200,
        lambda world: {"order": "restart", world.ids["instance_id"]: "yes"},
    ),
    form(
        f"{HERE}/fleets/{{fleet_id}}/collectors/orders",
        200,
        lambda world: {"order": "label", "set_label": "team=shop", world.ids["instance_id"]: "yes"},
        name="labelled",
    ),
    form(f"{HERE}/fleets/{{fleet_id}}/delete", 303, {}, ids={"fleet_id": "unused_fleet_id"}, repeated=(404,)),
    page(COLLECTOR),
    *(page(f"{COLLECTOR}/{name}", ids=OBSERVED) for name in ("findings", "adopt")),
    page(f"{HERE}/fleets/{{fleet_id}}/findings", ids={"fleet_id": "observed_fleet_id"}),
    form(f"{HERE}/configurations/new", 303, {"name": "Adopted", "yaml": "receivers: {}"}),
    *(form(f"{COLLECTOR}/{act}", 303, {}) for act, _ in ORDERS),
    form(f"{COLLECTOR}/change", 303, {"set_label": "team=shop", "group": ""}),
    form(f"{COLLECTOR}/override", 303, lambda _: {"version_number": "1", "until": _tomorrow()}),
    form(f"{COLLECTOR}/override/end", 303, {}, ids={"instance_id": "overridden_id"}, repeated=(404,)),
    form(f"{COLLECTOR}/allow-move", 303, {}),
    form(f"{COLLECTOR}/cut-off", 303, {}),
    form(f"{COLLECTOR}/let-in", 303, {}),
    form(f"{COLLECTOR}/replace", 303, {}, ids={"instance_id": "replaced_instance_id"}, repeated=(404,)),
    form(f"{COLLECTOR}/delete", 303, {}, ids={"instance_id": "gone_instance_id"}, repeated=(404,)),
    page(GROUP),
    form(f"{GROUP}/delete", 303, {}, ids={"deployment_id": "unused_deployment_id"}, repeated=(404,)),
    page(f"{HERE}/fleets/roll-out", query="?configuration_id={configuration_id}&version_number=1"),
    form(f"{HERE}/fleets/roll-out", 303, rolls_out, in_steps=True, repeated=(303,)),
    page(f"{GROUP}/review", query="?configuration_id={configuration_id}&version_number=1"),
    page(f"{GROUP}/settings"),
    form(f"{GROUP}/settings", 303, {"name": "Renamed"}),
    form(f"{GROUP}/settings/labels", 303, {"labels": "role=typed"}, ids={"deployment_id": "mounted_id"}),
    form(f"{GROUP}/settings/variables", 303, {"variable": "ZONE", "value": "a"}, ids=SECRETIVE),
    form(f"{GROUP}/settings/variables/remove", 303, {"variable": "ZONE"}, ids=SECRETIVE),
    form(f"{GROUP}/settings/token", 303, {"grace": "7d"}, ids=SECRETIVE),
    form(f"{GROUP}/settings/clear", 303, {}),
    page(CAPTURES),
    form(CAPTURES, 303, lambda world: {**CAPTURE, "where": world.ids["capturing_id"]}, ids=CAPTURED, repeated=(409,)),
    form(f"{CAPTURES}/{{capture_id}}/end", 303, {}, ids={**CAPTURED, "capture_id": "open_capture_id"}),
    # The sample goes before the capture that names it.
    form(f"{CAPTURES}/{{capture_id}}/delete", 303, {}, ids=CAPTURED, repeated=(404,), in_steps=True),
    form(f"{GROUP}/captures", 303, {"allowed": "yes"}),
    page(ROLLOUT),
    *(form(f"{ROLLOUT}/{act}", 303, {}, ids=ids, repeated=repeated) for act, _, _, ids, repeated, _ in ACTS),
    form(f"{GROUP}/volume-mounts", 303, MOUNT, repeated=(422,)),
    form(f"{GROUP}/volume-mounts/remove", 303, MOUNT, ids={"deployment_id": "mounted_id"}),
    page(f"{HERE}/flows"),
    page(f"{HERE}/flows/{{slug}}", denied=404),
    page(f"{HERE}/components"),
    page(f"{HERE}/components/ottl", query="?place=transform/log"),
    page(f"{HERE}/components/{{kind}}/{{type}}", ids=COMPONENT, denied=200),
    page("/device", query="?user_code={user_code}"),
    form(
        "/device",
        200,
        lambda world: {
            "user_code": world.ids["user_code"],
            "organization_id": world.organization_id,
            "answer": "approve",
        },
        name="approved",
        repeated=(404,),
    ),
    form(
        "/device",
        200,
        lambda world: {"user_code": world.ids["user_code"], "answer": "deny"},
        name="denied",
        repeated=(404,),
    ),
    page("/login", query=f"?code_challenge={CHALLENGE}&code_challenge_method=S256"),
    form(
        "/login",
        200,
        lambda world: {"code_challenge": CHALLENGE, "organization_id": world.organization_id},
    ),
    page("/sign-in", 303),
    form("/sign-in", 303, with_password, stranger=True, in_steps=True),
    form("/sign-in/new-password", 303, with_temporary_password, stranger=True, in_steps=True, repeated=(403,)),
    form("/sign-out", 303, {}, repeated=(403,)),
    page("/invitations"),
    form("/invitations/{organization_id}/accept", 303, {}, ids=INVITING, repeated=(404,)),
    form("/invitations/{organization_id}/decline", 303, {}, ids=INVITING, repeated=(404,)),
    page("/style"),
    page("/account"),
    form("/account/look", 303, {"theme": "dark", "density": "compact", "zone": "utc"}, repeated=(303,)),
    page("/docs"),
    page("/docs/{name}", ids={"name": "publishVersion"}),
    page("/forgot-password"),
    form("/forgot-password", 303, {"email": EMAIL}, stranger=True),
    page("/reset-password"),
    form("/reset-password", 303, with_mailed_code, stranger=True, in_steps=True, repeated=(422,)),
]


def prepare(world: World) -> None:
    """Make what the forms ask for, beside what the world holds."""
    ids = world.ids
    ids["user_code"] = logins.begin_device(CLIENT, clock.now()).user_code
    path = "/api/v1/app/service-accounts"
    ids["removed_id"] = world.call(world.admin, "POST", path, 201, {"name": "removed"})["id"]
    world.call(world.admin, "DELETE", f"/api/v1/app/members/{ids['removed_id']}", 204)
    groups = f"fleets/{ids['fleet_id']}/deployments"
    group = {"name": "mounted", "configuration_id": ids["configuration_id"], "version_number": 1}
    ids["mounted_id"] = world.call(world.admin, "POST", f"/api/v1/public/{groups}", 201, group)["id"]
    mounts = f"/api/v1/app/{groups}/{ids['mounted_id']}/volume-mounts"
    world.call(world.admin, "PUT", mounts, 200, {"volume_mounts": [MOUNT]})
    user_pool.add_account(EMAIL, PASSWORD)
    _set_password(TEMPORARY, permanent=False)
    user = User(new_id("usr"), EMAIL, clock.now())
    member_store.put_user(user)
    principal = Principal("user", user.id, user.email)
    member_store.add_user(Member(world.organization_id, principal, "contributor", "invited", clock.now()))

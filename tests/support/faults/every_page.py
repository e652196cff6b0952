"""A right request for every page and every form, as a browser sends them."""

from collections.abc import Callable
from typing import Any, Final

from moto.cognitoidp.models import cognitoidp_backends

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import logins, member_store, passwords, people, proofs
from headgate.identity.model import Member, User
from headgate.settings import settings
from headgate.storage import aws
from headgate_local import user_pool
from headgate_local.moto_data import ACCOUNT, REGION
from tests.support.endpoints import INVITING
from tests.support.faults.rows import Row, always, new_address
from tests.support.world import World

Fields = dict[str, str]

HERE: Final = "/organizations/{organization_id}"
MEMBERS: Final = f"{HERE}/members"
ACCOUNT_PAGE: Final = f"{HERE}/service-accounts/{{service_account_id}}"
VERSION_PAGE: Final = f"{HERE}/configurations/{{configuration_id}}/versions/{{n}}"
GROUP: Final = f"{HERE}/fleets/{{fleet_id}}/deployments/{{deployment_id}}"
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


RULE: Final = {"pipeline": "logs", "name": "typed", "condition": "true", "context": "log", "expect": "any"}
MOUNT: Final = {"host_path": "/a", "mount_path": "/b"}

COMPONENT: Final = {"kind": "receiver", "type": "otlp"}

PAGES: Final = [
    page("/"),
    page(HERE),
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
    page(f"{HERE}/configurations/{{configuration_id}}"),
    page(VERSION_PAGE),
    page(f"{VERSION_PAGE}/rules", query="?pipeline=logs"),
    form(f"{VERSION_PAGE}/rules", 303, {**RULE, "do": "save"}, repeated=(422,)),
    page(f"{HERE}/policies"),
    form(f"{HERE}/policies", 303, {"etag": "*", "severity.insecure_tls": "error"}),
    page(f"{HERE}/fleets"),
    page(f"{HERE}/fleets/{{fleet_id}}"),
    form(f"{HERE}/fleets/{{fleet_id}}/token", 303, {"grace": "7d"}),
    page(f"{HERE}/fleets/{{fleet_id}}/collectors"),
    page(GROUP),
    form(f"{GROUP}/volume-mounts", 303, MOUNT, repeated=(422,)),
    form(f"{GROUP}/volume-mounts/remove", 303, MOUNT, ids={"deployment_id": "mounted_id"}),
    page(f"{HERE}/components"),
    page(f"{HERE}/components/ottl", query="?place=transform/log"),
    page(f"{HERE}/components/{{kind}}/{{type}}", ids=COMPONENT),
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

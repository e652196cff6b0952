"""The endpoints of the application, for people, for the table of endpoints (endpoints.py)."""

from typing import Final

from tests.support.endpoint import Body, endpoint, right
from tests.support.faults.rows import new_address
from tests.support.world import APP, World

ACCOUNT: Final = f"{APP}/service-accounts/{{service_account_id}}"
INVITING: Final = {"organization_id": "inviting_id"}
_PERSONS: Final = "api/test_invitations.py"


def _device_grant(world: World) -> Body:
    code = world.ids["device_code"]
    return {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code}


APPLICATION: Final = [
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

"""The policies endpoints: what an organization makes of policies."""

from fastapi import Response

from configurations.policies_wire import PoliciesOut, PolicySettings
from headgate.http.credentials import Reader, SessionAdmin
from headgate.http.parameters import IfMatch, states
from headgate.http.routing import recorded
from headgate.http.routing import router as group
from headgate.identity import checks
from headgate.policies import service as policies

router = group("/policies", "Policies")


@router.get("")
def get_policies(caller: Reader, response: Response) -> PoliciesOut:
    """The built-in policies as they count in the organization, its own rules, and what it requires to publish."""
    stored = policies.get(caller)
    response.headers["ETag"] = stored.stored.etag
    return PoliciesOut.of_policies(stored)


@router.put("", **recorded("policies.changed", 412))
def put_policies(
    body: PolicySettings, caller: SessionAdmin, response: Response, if_match: IfMatch = None
) -> PoliciesOut:
    """Replace the organization's policy settings; a session of an Admin only.

    Each rule is compiled and run over its examples first: 422 names the rule and the place, and nothing is saved.
    """
    with checks.under_way(caller):
        saved = policies.change(caller, body.settings(), states(if_match))
    response.headers["ETag"] = saved.stored.etag
    return PoliciesOut.of_policies(saved)

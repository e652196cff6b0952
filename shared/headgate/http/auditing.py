"""The record of a change made through the public API: the route names its action, and a success is recorded."""

import re
from collections.abc import Mapping
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from fastapi import Request, Response
from fastapi.routing import APIRoute

from headgate.audit import service as audit
from headgate.foundation.caller import Caller
from headgate.foundation.log import logger
from headgate.http.paths import PUBLIC

_EXTENSION: Final = "x-audit-actions"
_ACTION: Final = re.compile(r"[a-z_]+\.[a-z_]+", re.ASCII)


def audited(*actions: str) -> dict[str, object]:
    """For `openapi_extra` of a route that changes something: the actions that its changes are recorded as.

    An action is a noun and what was done, `version.published`. A route of the public API names one. A route of the
    application names those that its service records itself, in the transaction of the change. Records of earlier
    releases hold names of operations instead, such as `publish_version`; they are shown as they are.
    """
    if wrong := [action for action in actions if not _ACTION.fullmatch(action)]:
        raise ValueError(f"an action is a noun and what was done, such as version.published: {wrong}")
    return {_EXTENSION: list(actions)}


def actions_of(route: APIRoute) -> tuple[str, ...]:
    """The actions that the route names; none if it changes nothing."""
    named = (route.openapi_extra or {}).get(_EXTENSION, ())
    return tuple(named)


def add_details(request: Request, details: Mapping[str, str]) -> None:
    """Add these to the record of the change that the request makes."""
    request.state.audit_details = details


def record(request: Request, route: APIRoute, response: Response) -> None:
    """Record a change of the public API that has succeeded; one put. A replayed answer has changed nothing."""
    if "idempotency-replayed" in response.headers:
        return
    record_change(request, route, request.state.caller, response.headers.get("location", request.url.path))


def record_change(request: Request, route: APIRoute, caller: Caller, path: str) -> None:
    """Record the change that the route has made at the path of the API, asked by a program or by a form; one put."""
    (action,) = actions_of(route)
    target = path.removeprefix(f"{PUBLIC}/")
    try:
        audit.append(caller, action, target, **getattr(request.state, "audit_details", {}))
    except (BotoCoreError, ClientError) as error:
        # The change is made: a fault in recording it must not tell the caller otherwise.
        logger.error("change_not_recorded", action=action, target=target, kind=type(error).__name__)

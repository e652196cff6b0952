"""The record of a change made through the public API: the route names its action, and a success is recorded."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from fastapi import Request, Response
from fastapi.routing import APIRoute

from headgate.audit import service as audit
from headgate.audit.actions import Action
from headgate.foundation.caller import Caller
from headgate.http.paths import PUBLIC
from headgate.observability.log import logger

_EXTENSION: Final = "x-audit-actions"
NO_DETAILS: Final[Mapping[str, str]] = MappingProxyType({})


def audited(*actions: Action) -> dict[str, object]:
    """For `openapi_extra` of a route that changes something: the actions that its changes are recorded as.

    A route of the public API names one. A route of the application names those that its service records itself, in the
    transaction of the change.
    """
    return {_EXTENSION: list(actions)}


def actions_of(route: APIRoute) -> tuple[Action, ...]:
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
    (action,) = actions_of(route)
    target = response.headers.get("location", request.url.path).removeprefix(f"{PUBLIC}/")
    record_change(request.state.caller, action, target, getattr(request.state, "audit_details", {}))


def record_change(caller: Caller, action: Action, target: str, details: Mapping[str, str] = NO_DETAILS) -> None:
    """Record a change that has been made, by a form of a page for example; one put."""
    try:
        audit.append(caller, action, target, **details)
    except (BotoCoreError, ClientError) as error:
        # The change is made: a fault in recording it must not tell the caller otherwise.
        logger.error("change_not_recorded", action=action, target=target, kind=type(error).__name__)

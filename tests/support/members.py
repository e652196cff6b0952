"""Service accounts of an organization, and how they call the API in this process."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, FastAPI

from headgate.foundation.caller import Access
from headgate.http.app import create_app
from headgate.identity import service as identity
from tests.support.in_process import TestClient

API = "/api/v1/public"


@dataclass(frozen=True)
class Member:
    """A service account of an organization, and how it calls the API."""

    organization_id: str
    service_account_id: str
    token: str
    http: TestClient


JoinWith = Callable[..., Member]


# By the ids of the routers, which have no hash; beside each application its routers, so that no id is used again.
_APPLICATIONS: dict[tuple[int, ...], tuple[FastAPI, list[APIRouter]]] = {}


def application(routers: list[APIRouter]) -> FastAPI:
    """One for all that ask for these routers: an application prepares each route at its first request."""
    key = tuple(map(id, routers))
    if key not in _APPLICATIONS:
        _APPLICATIONS[key] = create_app("Test", routers), routers
    return _APPLICATIONS[key][0]


def join(
    routers: list[APIRouter],
    name: str = "ann",
    *,
    access: Access = "read_write",
    organization_id: str | None = None,
    default_organization_id: str,
) -> Member:
    organization_id = organization_id or default_organization_id
    account = identity.create_service_account(organization_id, name)
    _, token = identity.create_token(organization_id, account.id, name=f"{name}'s token", access=access)
    http = TestClient(application(routers), raise_server_exceptions=False, headers={"Authorization": f"Bearer {token}"})
    return Member(organization_id, account.id, token, http)

"""Ada, who has a password, and browsers at the functions' pages, without a server between."""

import re
from dataclasses import dataclass
from functools import cache

import pytest
from fastapi import FastAPI
from httpx2 import Response
from starlette.types import ASGIApp

from headgate.foundation import clock
from headgate.foundation.caller import Role
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import member_store, sessions
from headgate.identity.model import Member, User
from headgate_local import user_pool
from headgate_local.dispatch import Dispatcher, application_of
from tests.support.aws import read_template
from tests.support.in_process import TestClient

SITE = "https://testserver"
PASSWORD = "four words in a row"
NEW_PASSWORD = "another four words in a row"
SESSION, VISIT, KNOWN = "__Host-headgate-session", "__Host-headgate-visit", "__Host-headgate-known"


@dataclass(frozen=True)
class Person:
    user: User
    organization_id: str


@pytest.fixture
def ada(organization_id: str) -> Person:
    """An Admin with a password."""
    user = User(new_id("usr"), f"ada-{new_id('usr')[-8:]}@example.com", clock.now())
    member_store.put_user(user)
    member_store.add_user(
        Member(organization_id, Principal("user", user.id, user.email), "admin", "active", clock.now())
    )
    user_pool.add_account(user.email, PASSWORD)
    return Person(user, organization_id)


@cache
def site() -> Dispatcher:
    """The functions' pages under the template's routes."""
    return Dispatcher([(route, application_of(route)) for route in read_template().routes()], nowhere=FastAPI())


def browser(address: str = "") -> TestClient:
    """A browser of its own, at a network address of its own, so that no test uses up another one's attempts."""
    of = address or f"192.0.2.{new_id('usr')[-10:]}"
    return TestClient(site(), base_url=SITE, follow_redirects=False, raise_server_exceptions=False, client=(of, 1))


def member_at(application: ASGIApp, organization_id: str, role: Role = "contributor") -> TestClient:
    """A browser of a new member of the organization, at one function's pages."""
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    principal = Principal("user", user.id, user.email)
    member_store.add_user(Member(organization_id, principal, role, "active", clock.now()))
    _, value = sessions.begin(user, "browser", clock.now())
    return TestClient(application, raise_server_exceptions=False, base_url=SITE, cookies={SESSION: value})


def csrf(http: TestClient, path: str = "/sign-in") -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]{32})"', http.get(path).text)
    assert found is not None
    return found[1]


def send_form(http: TestClient, page: str, action: str, **fields: str) -> Response:
    """Send a form of the page, as a browser does; its answer, without following where it leads."""
    return http.post(page + action, data={"csrf": csrf(http, page), **fields}, follow_redirects=False)


def without_own_scripts(page: str) -> str:
    """The page without the elements that load this site's own scripts."""
    return re.sub(r'<script type="module" src="/assets/[A-Za-z0-9_-]+\.js"></script>', "", page)


def without_times(page: str) -> str:
    """The page with the texts of its times alone, which are elements."""
    return re.sub(r"</?time[^>]*>", "", page)


def sign_in(http: TestClient, email: str, password: str = PASSWORD, **more: str) -> Response:
    return http.post("/sign-in", data={"csrf": csrf(http), "email": email, "password": password, **more})


@pytest.fixture
def http(ada: Person) -> TestClient:
    """Ada's browser, signed in."""
    signed_in = browser()
    assert sign_in(signed_in, ada.user.email).status_code == 303
    return signed_in

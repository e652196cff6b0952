"""People with sessions in an organization, and how they call the API."""

from dataclasses import dataclass

import pytest

from application.app import app
from headgate.foundation import clock
from headgate.foundation.caller import Role
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import member_store, sessions
from headgate.identity.model import Member, User
from headgate_local import template
from identity.app import app as public
from tests.support.in_process import TestClient

APP = "/api/v1/app"
IDENTITY = "/api/v1/public/identity"


@dataclass(frozen=True)
class Browser:
    """A person with a session, and how they call the application's API in their organization."""

    user: User
    organization_id: str
    value: str
    app: TestClient
    public: TestClient


def enter(organization_id: str, name: str, role: Role) -> Browser:
    """A new person, a member, signed in."""
    user = User(new_id("usr"), f"{name}-{new_id('usr')[-8:]}@example.com", clock.now())
    member_store.put_user(user)
    member_store.add_user(Member(organization_id, Principal("user", user.id, user.email), role, "active", clock.now()))
    return signed_in(user, organization_id)


def signed_in(user: User, organization_id: str) -> Browser:
    _, value = sessions.begin(user, "browser", clock.now())
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": organization_id}
    both = [TestClient(one, raise_server_exceptions=False, headers=headers) for one in (app, public)]
    return Browser(user, organization_id, value, *both)


@pytest.fixture
def mails(aws_here: template.Template, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The mails that are sent: to whom, with which password or code."""
    from headgate_local import user_pool

    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(user_pool._People, "mail", lambda _self, _kind, to, code, _metadata: sent.append((to, code)))
    return sent


@pytest.fixture
def ada(organization_id: str) -> Browser:
    """An Admin."""
    return enter(organization_id, "ada", "admin")


@pytest.fixture
def con(ada: Browser) -> Browser:
    """A Contributor of Ada's organization."""
    return enter(ada.organization_id, "con", "contributor")

"""The functions in this process, and what they call of AWS, for the tests of the template's policies."""

import base64
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest
from httpx2 import Response

from headgate import checker
from headgate.flows import publish
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import member_store, sessions
from headgate.identity import service as identity
from headgate.identity.model import Member, User
from headgate.storage import aws
from headgate_local import gallery, template
from headgate_local.service import functions
from tests.support import calls
from tests.support.in_process import TestClient

API = "/api/v1/public"
YAML = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"
LARGE = f"# {base64.b64encode(random.Random(1).randbytes(310_000)).decode()}\n{YAML}"


@dataclass(frozen=True)
class People:
    """Two members, by tokens of service accounts, and an Admin, by a session; and the Admin's session of a browser."""

    ann: TestClient
    bob: TestClient
    ada: TestClient
    organization_id: str
    browser: str


@contextmanager
def recording(file: Path) -> Iterator[None]:
    """Calls that the functions make in this process are written down; their fleets report to an address."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
        settings.cache_clear()
        calls.record_to(file)
        aws.forget_clients()
        publish.upload(publish.build(gallery.FLOWS), settings().bucket)
        yield
        checker.close()
    boto3.DEFAULT_SESSION = None
    aws.forget_clients()


def people(aws_here: template.Template) -> People:
    """Three people of a new organization."""
    application = functions(aws_here)
    organization = identity.create_organization("Acme")

    def client(**headers: str) -> TestClient:
        return TestClient(application, raise_server_exceptions=False, headers=headers)

    def token(name: str) -> str:
        account = identity.create_service_account(organization.id, name)
        return identity.create_token(organization.id, account.id, name=name, access="read_write")[1]

    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    by = Principal("user", user.id, user.email)
    member_store.add_user(Member(organization.id, by, "admin", "active", clock.now()))
    _, session = sessions.begin(user, "cli", clock.now(), organization.id)
    _, browser = sessions.begin(user, "browser", clock.now())
    return People(
        client(Authorization=f"Bearer {token('ann')}"),
        client(Authorization=f"Bearer {token('bob')}"),
        client(Authorization=f"Bearer {session}", **{"X-Service-Org": organization.id}),
        organization.id,
        browser,
    )


def created(response: Response) -> str:
    assert response.status_code in (201, 202), response.text
    return str(response.json()["id"])

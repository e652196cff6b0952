"""The functions' routes on moto in this process, with the template's tables."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from moto import mock_aws

from headgate.http.app import create_app
from headgate.identity import invitations, signing
from headgate.identity import service as identity
from headgate.identity.model import Access
from headgate.settings import settings
from headgate.storage import aws
from headgate_local import calls, moto_patches, template, user_pool
from headgate_local.moto_data import MotoData
from headgate_local.objects import ObjectFiles

API = "/api/v1/public"


@dataclass(frozen=True)
class Member:
    """A service account of an organization, and how it calls the API."""

    organization_id: str
    service_account_id: str
    token: str
    http: TestClient


@pytest.fixture(autouse=True)
def _settings_of_one_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Of a running service, tests wait for it.
    monkeypatch.setattr(invitations, "_ANSWERED_EVERY_SECONDS", 0.001)
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture(scope="module")
def aws_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[template.Template]:
    """Tables and bucket of the template, for all tests of a module: each makes organizations of its own."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from aws_for(monkeypatch, tmp_path_factory.mktemp("objects"))


def aws_for(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[template.Template]:
    """moto with the template's tables, bucket and user pool, for the body of a fixture."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "HEADGATE_"))]:
        if name not in ("HEADGATE_COLLECTORS_DIR", calls.VARIABLE):
            monkeypatch.delenv(name)
    described = template.read()
    for name, value in described.environment().items():
        monkeypatch.setenv(name, value)
    for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    if dynamodb_local := os.environ.get("DYNAMODB_LOCAL_URL"):
        # DynamoDB as AWS wrote it, in moto's place (`make test-dynamodb-local`).
        assert dynamodb_local.startswith("http://127.0.0.1:"), "its tables are removed and made anew"
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_local)
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "100000")
    monkeypatch.setenv("HEADGATE_CHECKS_UNDER_WAY", "1000")
    settings.cache_clear()
    data = MotoData(described.tables(), described.buckets(), ObjectFiles(folder))
    with mock_aws(), moto_patches.installed(data, keep=lambda _: None):
        aws.forget_clients()
        signing.signing_key.cache_clear()
        for name in aws.dynamodb().list_tables()["TableNames"]:
            aws.dynamodb().delete_table(TableName=name)
        for table in described.tables():
            aws.dynamodb().create_table(**table.definition)
        for bucket in described.buckets():
            aws.s3().create_bucket(Bucket=bucket.name)
        with user_pool.running(described, folder):
            yield described
    aws.forget_clients()


@pytest.fixture
def organization_id(aws_here: template.Template) -> str:
    """A new organization."""
    return identity.create_organization("Acme").id


JoinWith = Callable[..., Member]


@pytest.fixture
def join(organization_id: str) -> JoinWith:
    """Makes a member: `join(routers, name, access=…, organization_id=…)`."""
    return partial(_join, default_organization_id=organization_id)


def _join(
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
    application = create_app("Test", routers)
    http = TestClient(application, raise_server_exceptions=False, headers={"Authorization": f"Bearer {token}"})
    return Member(organization_id, account.id, token, http)

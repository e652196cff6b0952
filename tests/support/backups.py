"""An organization that has something of everything, for tests of its export and import."""

import base64
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from configurations.app import router as configurations
from fleets.app import routers as fleets_routers
from headgate.backup import archive, export, seals
from headgate.deployments import service as deployments
from headgate.deployments import variables
from headgate.fleets import prices
from headgate.fleets.prices import Price
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings as deployment
from headgate.identity import member_store, signing
from headgate.identity import service as identity
from headgate.identity.model import Member as Membership
from headgate.identity.model import User
from headgate.policies import store as policies
from headgate.storage import aws, items
from headgate.storage.items import Item
from headgate.storage.table import transact
from headgate.version_tests import service as evidence
from headgate.version_tests.model import Evidence, TestVerdict
from headgate_engine.policies.model import PolicyChoices, PolicyExample, PolicyRule
from headgate_local import template
from headgate_local import user_pool as pool
from testing import version_tests
from tests.support import members
from tests.support.members import API, Member

YAML = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"

FLEET_ENDPOINT: Final = "https://fleet.example"

Contents = dict[str, list[Item]]


@dataclass(frozen=True)
class Furnished:
    """A member of an organization that has something of everything, and what is stored of it."""

    member: Member
    rows: list[tuple[str, dict[str, Any]]]
    objects: dict[str, bytes]

    def put(self) -> None:
        """Store it in tables and a bucket that hold nothing."""
        for table, row in self.rows:
            aws.dynamodb().put_item(TableName=table, Item=row)
        for key, content in self.objects.items():
            aws.s3().put_object(Bucket=deployment().bucket, Key=key, Body=content)


@pytest.fixture(scope="module")
def furnished(aws_here: template.Template) -> Furnished:
    """Made once for all tests of a module, which takes longer than most of them."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", FLEET_ENDPOINT)
        deployment.cache_clear()
        forget_everything(aws_here)
        signing.signing_key.cache_clear()
        member = _member_with_everything()
        stored = [(table.name, row) for table in aws_here.tables() for row in _rows(table.name)]
        objects = {key: aws.s3().get_object(Bucket=deployment().bucket, Key=key)["Body"].read() for key in _objects()}
    deployment.cache_clear()
    return Furnished(member, stored, objects)


@pytest.fixture
def ann(alone: template.Template, furnished: Furnished) -> Member:
    """A service account of an organization that has something of everything, and an Admin `ada@…` with an account."""
    furnished.put()
    return furnished.member


def _member_with_everything() -> Member:
    routers = [configurations, version_tests.router, *fleets_routers]
    ann = members.join(routers, "ann", default_organization_id=identity.create_organization("Acme").id)
    add_admin(ann.organization_id, "ada")
    created = ann.http.post(f"{API}/configurations", json={"name": "Edge ☃", "yaml": YAML}).json()
    path = f"{API}/configurations/{created['id']}/versions"
    assert ann.http.post(f"{path}/1/publish").status_code == 200
    large = f"# {base64.b64encode(random.Random(1).randbytes(310_000)).decode()}\n{YAML}"
    assert ann.http.post(path, json={"yaml": large}).status_code == 201
    test = {"target_pipeline": "logs", "sample": "a line", "rules": [{"name": "some", "condition": "true"}]}
    for name, sample in {"small": "a line", "large": large}.items():
        assert ann.http.put(f"{path}/2/tests/{name}", json={**test, "sample": sample}).status_code == 200
    passed = (TestVerdict("large", "Success"), TestVerdict("small", "Success"))
    digests = ("0" * 64, "1" * 64, "0.139.0")
    evidence.record(created["id"], 2, Evidence(new_id("job"), *digests, passed, clock.now()))
    kept = ann.http.post(f"{API}/configurations", json={"name": "Archived", "yaml": YAML}).json()
    assert ann.http.post(f"{API}/configurations/{kept['id']}/archive").status_code == 200
    fleet = ann.http.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}).json()
    assignment = {"configuration_id": created["id"]}
    assert (
        ann.http.patch(
            f"{API}/fleets/{fleet['id']}/deployments/{default_group(ann, fleet['id'])}", json=assignment
        ).status_code
        == 200
    )
    env = f"{API}/fleets/{fleet['id']}/deployments/{default_group(ann, fleet['id'])}/env"
    assert ann.http.patch(env, json={"secrets": {"API_KEY": "a secret of Acme"}}).status_code == 200
    # As a rollout of the variables stores it.
    group = deployments.of_fleet(fleet["id"], default_group(ann, fleet["id"]))
    environment = variables.revision(group, 1)
    pinned = replace(group, variables=environment.pinned, revision=group.revision + 1)
    transact([deployments.changed(group, pinned), *variables.pinning(group, environment)])
    return ann


def policies_of(member: Member) -> None:
    """Set policies, and what they require: what is published from now on is checked."""
    rule = PolicyRule(
        "no_nop", "size(receivers) > 0", "No receivers", "error", True, [PolicyExample(YAML, violated=True)]
    )
    settings = PolicyChoices({"batch_missing": "off"}, ["batch_missing"], [rule], ["policies", "tests"])
    by = Principal("service_account", new_id("sva"), "ann")
    before = policies.get(member.organization_id)
    policies.save(member.organization_id, before, before.changed(settings, by, clock.now()))


def prices_of(member: Member) -> None:
    by = Principal("user", new_id("usr"), "ada")
    caller = Caller(member.organization_id, "Acme", by, by.name, "admin", "read_write", "ses_x")
    prices.change(caller, "EUR", [Price("otlphttp", "a.example.com", "gigabyte", "0.25")], None)


def add_admin(organization_id: str, name: str, *, account: bool = True) -> User:
    user = User(new_id("usr"), f"{name}-{new_id('usr')[-8:]}@example.com", clock.now())
    member_store.put_user(user)
    member_store.add_user(
        Membership(organization_id, Principal("user", user.id, user.email), "admin", "active", clock.now())
    )
    if account:
        pool.add_account(user.email, "a long password")
    return user


def default_group(member: Member, fleet_id: str) -> str:
    (group,) = member.http.get(f"{API}/fleets/{fleet_id}/deployments").json()["items"]
    return str(group["id"])


def contents() -> Contents:
    """Every item of every table that an export reads."""
    found: Contents = {}
    for name, table in archive.TABLES.items():
        rows = [items.unmarshal(item) for item in _rows(table.name)]
        passing = ("rate#", "checks#", "outbox#", "deliveries#")
        lasting = [item for item in rows if not str(item.get("pk")).startswith(passing)]
        found[name] = sorted(lasting, key=lambda item: json.dumps(item, default=str))
    return found


def forget_everything(described: template.Template) -> None:
    for table in described.tables():
        names = [one["AttributeName"] for one in table.definition["KeySchema"]]
        for item in _rows(table.name):
            aws.dynamodb().delete_item(TableName=table.name, Key={name: item[name] for name in names})
    for key in _objects():
        aws.s3().delete_object(Bucket=deployment().bucket, Key=key)


def _rows(table: str) -> Iterator[dict[str, Any]]:
    for page in aws.dynamodb().get_paginator("scan").paginate(TableName=table):
        yield from page["Items"]


def _objects() -> list[str]:
    listed = aws.s3().list_objects_v2(Bucket=deployment().bucket)
    return [str(entry["Key"]) for entry in listed.get("Contents", [])]


def export_to(path: Path, organization_id: str) -> archive.Size:
    return export.to_file(path, organization_id)[1]


def seal_key_of(path: Path) -> str:
    """The key of the archive's seal, where it was exported."""
    return seals.shown(seals.key_of(archive.read_header(path)[0]))


def quietly(_: int) -> None:
    pass


@pytest.fixture
def alone(aws_here: template.Template) -> template.Template:
    """Tables that hold nothing of the tests before."""
    forget_everything(aws_here)
    signing.signing_key.cache_clear()
    return aws_here


@pytest.fixture
def fleet_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fleets have an address to report to."""
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", FLEET_ENDPOINT)
    deployment.cache_clear()

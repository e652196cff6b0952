"""Export and import of an organization, table by table on moto."""

import base64
import gzip
import itertools
import json
import os
import random
import stat
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from configurations.app import router as configurations
from fleets.app import router as fleets
from headgate.backup import archive, export, restore
from headgate.fleets import keys as fleet_keys
from headgate.fleets import tokens
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import keys, member_store, passwords, signing
from headgate.identity.hashing import hash_of
from headgate.identity.model import Member as Membership
from headgate.identity.model import User
from headgate.instances.census import SHARDS
from headgate.settings import settings
from headgate.storage import aws, items
from headgate.storage.items import Item
from headgate.storage.table import Table
from headgate.version_tests import service as evidence
from headgate.version_tests.model import Evidence, TestVerdict
from headgate_local import template
from headgate_local import user_pool as pool
from scripts import organization
from testing import version_tests
from tests.support.fleet_of_agents import Clock, make_fleet, now
from tests.support.members import API, JoinWith, Member

__all__ = ["now"]

YAML = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"

Contents = dict[str, list[Item]]


@pytest.fixture(autouse=True)
def _endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    settings.cache_clear()


@pytest.fixture
def ann(join: JoinWith) -> Member:
    """A service account of an organization that has something of everything, and an Admin `ada@…` with an account."""
    ann = join([configurations, version_tests.router, fleets], "ann")
    add_admin(ann.organization_id, "ada")
    created = ann.http.post(f"{API}/configurations", json={"name": "Edge ☃", "yaml": YAML}).json()
    path = f"{API}/configurations/{created['id']}/versions"
    assert ann.http.post(f"{path}/1/publish").status_code == 200
    large = f"# {base64.b64encode(random.Random(1).randbytes(500_000)).decode()}\n{YAML}"
    assert ann.http.post(path, json={"yaml": large}).status_code == 201
    test = {"target_pipeline": "logs", "sample": "a line", "rules": [{"name": "some", "condition": "true"}]}
    for name, sample in {"small": "a line", "large": large}.items():
        assert ann.http.put(f"{path}/2/tests/{name}", json={**test, "sample": sample}).status_code == 200
    passed = (TestVerdict("large", "Success"), TestVerdict("small", "Success"))
    digests = ("0" * 64, "1" * 64, "0.139.0")
    evidence.record(created["id"], 2, Evidence(new_id("job"), *digests, passed, clock.now()))
    fleet = ann.http.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}).json()
    assignment = {"configuration_id": created["id"]}
    assert (
        ann.http.patch(
            f"{API}/fleets/{fleet['id']}/deployments/{default_group(ann, fleet['id'])}", json=assignment
        ).status_code
        == 200
    )
    return ann


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
        pages = aws.dynamodb().get_paginator("scan").paginate(TableName=table.name)
        rows = [items.unmarshal(item) for page in pages for item in page["Items"]]
        lasting = [item for item in rows if not str(item.get("pk")).startswith(("rate#", "checks#"))]
        found[name] = sorted(lasting, key=lambda item: json.dumps(item, default=str))
    return found


def forget_everything(described: template.Template) -> None:
    for table in described.tables():
        names = [one["AttributeName"] for one in table.definition["KeySchema"]]
        for page in aws.dynamodb().get_paginator("scan").paginate(TableName=table.name):
            for item in page["Items"]:
                aws.dynamodb().delete_item(TableName=table.name, Key={name: item[name] for name in names})
    for entry in aws.s3().list_objects_v2(Bucket=settings().bucket).get("Contents", []):
        aws.s3().delete_object(Bucket=settings().bucket, Key=entry["Key"])


def export_to(path: Path, organization_id: str) -> archive.Size:
    return archive.write(path, export.header(organization_id), export.records(organization_id))


def quietly(_: int) -> None:
    pass


@pytest.fixture
def alone(aws_here: template.Template) -> template.Template:
    """Tables that hold nothing of the tests before."""
    forget_everything(aws_here)
    signing.signing_key.cache_clear()
    return aws_here


def test_an_import_gives_back_every_item_and_object_and_a_token_works_again(
    alone: template.Template, ann: Member, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    before = contents()
    listed = ann.http.get(f"{API}/configurations").json()
    large = f"{API}/configurations/{listed['items'][0]['id']}/versions/2"
    text = ann.http.get(large).json()["yaml"]
    tests = [ann.http.get(f"{large}/tests{name}").json() for name in ("", "/small", "/large")]
    size = export_to(path, ann.organization_id)
    key = aws.dynamodb().get_item(
        TableName=settings().identity_table, Key=items.marshal(keys.signing_key()), ConsistentRead=True
    )["Item"]
    forget_everything(alone)
    assert ann.http.get(f"{API}/configurations").status_code == 401
    # The same deployment: its signing key is there.
    aws.dynamodb().put_item(TableName=settings().identity_table, Item=key)

    header, strangers = restore.restore(path, quietly)

    assert (header.organization_id, header.name, strangers) == (ann.organization_id, "Acme", [])
    assert contents() == before
    assert size.items == sum(map(len, before.values())) - 2  # the signing key, and the address of ada
    assert size.objects == 2
    assert ann.http.get(f"{API}/configurations").json() == listed
    assert ann.http.get(large).json()["yaml"] == text
    assert [ann.http.get(f"{large}/tests{name}").json() for name in ("", "/small", "/large")] == tests
    assert len(tests[0]["evidence"]) == 1


def test_an_archive_holds_no_token_and_only_its_owner_can_read_it(
    alone: template.Template, ann: Member, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    export_to(path, ann.organization_id)
    content = gzip.decompress(path.read_bytes()).decode()
    (fleet,) = ann.http.get(f"{API}/fleets").json()["items"]

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ann.token not in content
    assert tokens.value_of(fleet["id"], 1) not in content
    assert "signing_key" not in content


def test_an_import_cut_off_at_any_write_shows_nothing_and_is_finished_by_another(
    alone: template.Template, ann: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    before = contents()
    total = export_to(path, ann.organization_id).items
    key = keys.signing_key()
    saved = aws.dynamodb().get_item(TableName=settings().identity_table, Key=items.marshal(key))["Item"]
    put = restore._put_unless_there
    for allowed in range(0, total, 3):
        forget_everything(alone)
        aws.dynamodb().put_item(TableName=settings().identity_table, Item=saved)
        writes = itertools.count()

        def cut_off(
            table: archive.TableName, item: Item, writes: Iterator[int] = writes, allowed: int = allowed
        ) -> Item | None:
            if next(writes) >= allowed:
                raise OSError("the power is gone")
            return put(table, item)

        monkeypatch.setattr(restore, "_put_unless_there", cut_off)
        with pytest.raises(OSError, match="the power is gone"):
            restore.restore(path, quietly)
        assert not export.exists(ann.organization_id)
        monkeypatch.setattr(restore, "_put_unless_there", put)

        restore.restore(path, quietly)

        assert contents() == before


def test_an_organization_that_is_there_is_not_touched(alone: template.Template, ann: Member, tmp_path: Path) -> None:
    path = tmp_path / "acme.jsonl.gz"
    export_to(path, ann.organization_id)
    before = contents()

    with pytest.raises(restore.OrganizationExists, match=f"{ann.organization_id} .Acme. exists already"):
        restore.restore(path, quietly)

    assert contents() == before


def test_people_known_here_by_another_id_keep_it_and_strangers_are_invited(
    alone: template.Template, ann: Member, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    ada = next(export.people(ann.organization_id))
    stranger = add_admin(ann.organization_id, "eve", account=False)
    export_to(path, ann.organization_id)
    forget_everything(alone)
    signing.signing_key.cache_clear()
    here = User(new_id("usr"), str(ada["email"]), clock.now())
    member_store.put_user(here)

    _, strangers = restore.restore(path, quietly)

    assert strangers == [stranger.email]
    found = member_store.member(ann.organization_id, here.id)
    assert found is not None
    assert (found.principal.id, found.role, found.status) == (here.id, "admin", "active")
    invited = member_store.member(ann.organization_id, stranger.id)
    assert invited is not None
    assert invited.status == "invited"
    assert [one.organization_id for one in member_store.memberships(here.id)] == [ann.organization_id]
    assert str(ada["user_id"]) not in json.dumps(contents(), default=str)
    assert restore.invite(ann.organization_id, "https://headgate.example") == [stranger.email]
    assert passwords.is_temporary(stranger.email)


def test_a_fleet_accepts_its_old_token_and_the_one_of_the_new_deployment(
    alone: template.Template, ann: Member, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    (fleet,) = ann.http.get(f"{API}/fleets").json()["items"]
    old = tokens.value_of(fleet["id"], 1)
    export_to(path, ann.organization_id)
    forget_everything(alone)
    signing.signing_key.cache_clear()

    restore.restore(path, quietly)

    new = tokens.value_of(fleet["id"], 1)
    assert new != old
    for value in (old, new):
        answer = aws.dynamodb().get_item(
            TableName=settings().fleets_table, Key=items.marshal(fleet_keys.token(hash_of(value)))
        )
        item = items.unmarshal(answer["Item"])
        assert (item["fleet_id"], item["organization_id"]) == (fleet["id"], ann.organization_id)


@pytest.mark.usefixtures("fleets_without_collector")
def test_an_import_counts_the_collectors_of_each_fleet(
    alone: template.Template, ann: Member, now: Clock, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    fleet, other = make_fleet(ann, label="One"), make_fleet(ann, label="Two")
    fleet.assign(1)
    agents = [fleet.agent() for _ in range(3)]
    for agent in agents[:2]:
        agent.start()
        agent.applies()
    other.agent().start()
    now.moves(minutes=20)
    agents[2].start()
    expected = {"total": 3, "pending_pickup": 1, "stale": 2}
    assert fleet.counts() == expected
    export_to(path, ann.organization_id)
    key = items.marshal(keys.signing_key())
    saved = aws.dynamodb().get_item(TableName=settings().identity_table, Key=key)["Item"]
    forget_everything(alone)
    aws.dynamodb().put_item(TableName=settings().identity_table, Item=saved)
    now.moves(minutes=1)

    restore.restore(path, quietly)

    assert fleet.counts() == expected
    assert other.counts() == {"total": 1, "stale": 1}
    agents[0].heartbeat()
    agents[2].heartbeat()
    assert fleet.counts() == {"total": 3, "applied": 1, "pending_pickup": 1, "stale": 1}
    fleet.agent().start()
    assert fleet.counts() == {"total": 4, "applied": 1, "pending_pickup": 2, "stale": 1}
    room = aws.dynamodb().get_item(TableName=settings().fleets_table, Key=items.marshal(fleet_keys.room(fleet.id)))
    assert items.unmarshal(room["Item"])["total"] == 4


@pytest.mark.usefixtures("alone", "fleets_without_collector")
def test_no_count_is_negative_after_an_import_that_left_the_counters_out(ann: Member, now: Clock) -> None:
    fleet = make_fleet(ann, label="One")
    agents = [fleet.agent() for _ in range(3)]
    for agent in agents:
        agent.start()
    for number in range(SHARDS):
        shard = items.marshal(fleet_keys.census_shard(fleet.id, number))
        aws.dynamodb().delete_item(TableName=settings().fleets_table, Key=shard)
    now.moves(minutes=1)

    for agent in agents:
        agent.heartbeat()
        assert all(n > 0 for n in fleet.counts().values())
    assert fleet.counts() == {"total": 3, "pending_pickup": 3}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: lines[:-1], "cut off"),
        (lambda lines: [*lines[:3], *lines[4:]], "damaged"),
        (lambda lines: [*lines, lines[1]], "has lines after its seal"),
        (lambda lines: [lines[0].replace(b'"version":1', b'"version":2'), *lines[1:]], "version 2"),
        (lambda lines: lines[1:], "not an export of Headgate"),
        (lambda lines: [], "cut off"),
        (lambda lines: [b"a: b\n"], "not JSON"),
    ],
    ids=["cut off", "a line missing", "two in one", "a later version", "no header", "empty", "something else"],
)
def test_a_spoilt_file_is_refused_before_anything_is_written(
    alone: template.Template, ann: Member, tmp_path: Path, spoil: object, message: str
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    export_to(path, ann.organization_id)
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    assert callable(spoil)
    path.write_bytes(gzip.compress(b"".join(spoil(lines))))
    forget_everything(alone)
    before = contents()

    with pytest.raises(archive.BadArchive, match=message):
        restore.restore(path, quietly)

    assert contents() == before


@pytest.mark.parametrize("content", [b"", b"not gzip", gzip.compress(b"{}\n" * 1000)[:20]])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "acme.jsonl.gz"
    path.write_bytes(content)

    with pytest.raises(archive.BadArchive):
        archive.read_header(path)


def test_a_failed_export_leaves_the_file_of_before(alone: template.Template, ann: Member, tmp_path: Path) -> None:
    path = tmp_path / "acme.jsonl.gz"
    path.write_text("the export of yesterday", encoding="utf-8")

    def failing() -> Iterator[archive.Record]:
        yield from itertools.islice(export.records(ann.organization_id), 3)
        raise OSError("the table is gone")

    with pytest.raises(OSError, match="the table is gone"):
        archive.write(path, export.header(ann.organization_id), failing())

    assert path.read_text(encoding="utf-8") == "the export of yesterday"
    assert [one.name for one in tmp_path.iterdir()] == ["acme.jsonl.gz"]


def test_a_configuration_written_while_it_is_read_is_read_again(
    alone: template.Template, ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    (listed,) = ann.http.get(f"{API}/configurations").json()["items"]
    path = f"{API}/configurations/{listed['id']}/versions"
    each = Table.each
    appended: list[int] = []

    def with_a_writer(table: Table, pk: str) -> Iterator[Item]:
        yield from each(table, pk)
        if table is archive.TABLES["versions"] and not appended:
            appended.append(ann.http.post(path, json={"yaml": YAML + "# third\n"}).status_code)

    monkeypatch.setattr(Table, "each", with_a_writer)
    found = [record.item for record in export.records(ann.organization_id) if isinstance(record, archive.TableItem)]

    assert appended == [201]
    (configuration,) = [item for item in found if "latest_version" in item]
    versions = [item["n"] for item in found if str(item.get("item", "")).startswith("v#")]
    assert configuration["latest_version"] == 3
    assert versions == [1, 2, 3]


def test_a_stack_is_found_by_its_resources_and_names_given_by_hand_win(
    alone: template.Template, ann: Member, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {table.logical_id: table.definition for table in alone.tables()}
    wanted = ("ConfigurationsTable", "VersionsTable", "FleetsTable", "IdentityTable")
    resources: dict[str, object] = {
        name: {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {key: value for key, value in tables[name].items() if key != "TableName"},
        }
        for name in wanted
    }
    # moto's CloudFormation makes no user pools; all that counts here is what the resources are called.
    resources |= {name: {"Type": "AWS::S3::Bucket"} for name in ("Bucket", "UserPool", "UserPoolClient")}
    url = {"BaseUrl": {"Value": "https://headgate.example"}}
    boto3.client("cloudformation").create_stack(
        StackName="other", TemplateBody=json.dumps({"Resources": resources, "Outputs": url})
    )
    monkeypatch.setattr("sys.argv", ["organization", "list", "--stack", "other"])
    ours = {name: os.environ[name] for name in organization._RESOURCES.values() if name.endswith("_TABLE")}
    for name in ours:
        monkeypatch.setenv(name, "")
    settings.cache_clear()

    assert organization.main() == 0
    assert capsys.readouterr().out == ""
    assert settings().identity_table.startswith("other-IdentityTable")

    for name, value in ours.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()

    assert organization.main() == 0
    assert capsys.readouterr().out == f"{ann.organization_id}  Acme\n"
    monkeypatch.setattr("sys.argv", ["organization", "list", "--stack", "missing"])
    assert organization.main() == 1
    assert "missing" in capsys.readouterr().err

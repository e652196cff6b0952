"""Export and import of an organization, table by table on moto."""

import gzip
import itertools
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from headgate.backup import archive, export, restore
from headgate.fleets import tokens
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import keys, member_store, passwords, signing
from headgate.identity.model import User
from headgate.storage import aws, items
from headgate.storage.items import Item
from headgate.storage.table import Table
from headgate_local import template
from scripts import organization
from tests.support.backups import (
    YAML,
    add_admin,
    alone,
    ann,
    contents,
    export_to,
    fleet_endpoint,
    forget_everything,
    furnished,
    policies_of,
    prices_of,
    quietly,
)
from tests.support.members import API, Member

__all__ = ["alone", "ann", "fleet_endpoint", "furnished"]

pytestmark = pytest.mark.usefixtures("fleet_endpoint")


def test_an_import_gives_back_every_item_and_object_and_a_token_works_again(
    alone: template.Template, ann: Member, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    policies_of(ann)
    prices_of(ann)
    before = contents()
    listed = ann.http.get(f"{API}/configurations").json()
    archived = ann.http.get(f"{API}/configurations?archived=true").json()
    assert len(archived["items"]) == 1
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

    restored = restore.restore(path, quietly)

    assert (restored.header.organization_id, restored.header.name) == (ann.organization_id, "Acme")
    assert (restored.strangers, restored.left_out) == ([], [])
    assert contents() == before
    assert size.items == sum(map(len, before.values())) - 2  # the signing key, and the address of ada
    assert size.objects == 2
    assert ann.http.get(f"{API}/configurations").json() == listed
    assert ann.http.get(f"{API}/configurations?archived=true").json() == archived
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
    assert "a secret of Acme" not in content


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

    restored = restore.restore(path, quietly)

    assert restored.strangers == [stranger.email]
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


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: lines[:-1], "cut off"),
        (lambda lines: [*lines[:3], *lines[4:]], "damaged"),
        (lambda lines: [*lines, lines[1]], "has lines after its seal"),
        (lambda lines: [lines[0].replace(b'"version":3', b'"version":4'), *lines[1:]], "version 4"),
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
def test_what_is_not_an_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "acme.jsonl.gz"
    path.write_bytes(content)

    with pytest.raises(archive.BadArchive):
        archive.read_header(path)


def test_a_failed_export_leaves_the_file_of_before(alone: template.Template, ann: Member, tmp_path: Path) -> None:
    path = tmp_path / "acme.jsonl.gz"
    path.write_text("the export of yesterday", encoding="utf-8")

    def failing() -> Iterator[archive.Record]:
        yield from itertools.islice(export.records(ann.organization_id, b""), 3)
        raise OSError("the table is gone")

    with pytest.raises(OSError, match="the table is gone"):
        archive.write(path, export.header(ann.organization_id), failing(), lambda _: "")

    assert path.read_text(encoding="utf-8") == "the export of yesterday"
    assert [one.name for one in tmp_path.iterdir()] == ["acme.jsonl.gz"]


def test_a_configuration_written_while_it_is_read_is_read_again(
    alone: template.Template, ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    (listed,) = ann.http.get(f"{API}/configurations").json()["items"]
    path = f"{API}/configurations/{listed['id']}/versions"
    each = Table.each
    appended: list[int] = []

    def with_a_writer(table: Table, pk: str, prefix: str = "") -> Iterator[Item]:
        yield from each(table, pk, prefix)
        if table is archive.TABLES["versions"] and not appended:
            appended.append(ann.http.post(path, json={"yaml": YAML + "# third\n"}).status_code)

    monkeypatch.setattr(Table, "each", with_a_writer)
    found = [
        record.item for record in export.records(ann.organization_id, b"") if isinstance(record, archive.TableItem)
    ]

    assert appended == [201]
    (configuration,) = [item for item in found if "latest_version" in item and item["name"] == listed["name"]]
    of_it = [item for item in found if item.get("configuration_id") == listed["id"]]
    versions = [item["n"] for item in of_it if str(item.get("item", "")).startswith("v#")]
    assert configuration["latest_version"] == 3
    assert versions == [1, 2, 3]


def test_a_stack_is_found_by_its_resources_and_names_given_by_hand_win(
    alone: template.Template, ann: Member, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {table.logical_id: table.definition for table in alone.tables()}
    wanted = ("ConfigurationsTable", "VersionsTable", "FleetsTable", "IdentityTable", "EventsTable")
    resources: dict[str, object] = {
        name: {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {key: value for key, value in tables[name].items() if key != "TableName"},
        }
        for name in wanted
    }
    # moto's CloudFormation makes no user pools; all that counts here is what the resources are called.
    resources |= {name: {"Type": "AWS::S3::Bucket"} for name in ("Bucket", "SecretsKey", "UserPool", "UserPoolClient")}
    url = {"BaseUrl": {"Value": "https://headgate.example"}}
    boto3.client("cloudformation").create_stack(
        StackName="other", TemplateBody=json.dumps({"Resources": resources, "Outputs": url})
    )
    monkeypatch.setattr("sys.argv", ["organization", "list", "--stack", "other"])
    ours = {name: os.environ[name] for name in organization._RESOURCES.values() if name.endswith("_TABLE")}
    # The command sets these for its process, which is this one.
    for name in (*organization._RESOURCES.values(), "HEADGATE_PUBLIC_URL"):
        monkeypatch.setenv(name, "" if name in ours else os.environ.get(name, ""))
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

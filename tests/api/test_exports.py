"""Daily exports: an archive of each organization in a bucket of another region, from which another stack is filled."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import boto3
import pytest
from botocore.exceptions import ClientError

from exports.app import NotExported, handler
from headgate.backup import export, restore
from headgate.foundation.settings import settings
from headgate.identity import keys, signing
from headgate.identity import service as identity
from headgate.storage import aws, elsewhere, sealed, table
from headgate.webhooks import store as webhooks
from headgate_local import template
from tests.support.backups import alone, ann, contents, fleet_endpoint, forget_everything, furnished, quietly
from tests.support.members import API, Member
from tests.support.webhooks import Admin

__all__ = ["alone", "ann", "fleet_endpoint", "furnished"]
REGION: Final = "eu-west-1"

pytestmark = pytest.mark.usefixtures("fleet_endpoint")


@pytest.fixture
def bucket(ann: Member, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = "exports-of-acme"
    monkeypatch.setenv("HEADGATE_EXPORT_BUCKET", name)
    monkeypatch.setenv("HEADGATE_EXPORT_REGION", REGION)
    settings.cache_clear()
    client = boto3.client("s3", region_name=REGION)
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    yield name
    for key in stored(name):
        client.delete_object(Bucket=name, Key=key)
    client.delete_bucket(Bucket=name)


def stored(bucket: str) -> dict[str, bytes]:
    client = boto3.client("s3", region_name=REGION)
    found = [one["Key"] for one in client.list_objects_v2(Bucket=bucket).get("Contents", [])]
    return {key: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in found}


def test_another_stack_gets_back_each_organization_with_its_tokens(
    alone: template.Template, ann: Member, bucket: str, tmp_path: Path
) -> None:
    identity.create_organization("Other")
    listed, before = ann.http.get(f"{API}/configurations").json(), contents()

    assert handler({}, None) == {"exported": 2}

    assert aws.s3_in(REGION).meta.region_name == REGION
    assert len(stored(bucket)) == 4
    path, seal_key = fetched(bucket, ann, tmp_path)
    forget_everything(alone)
    signing.signing_key.cache_clear()

    restored = restore.restore(path, quietly, seal_key)

    assert (restored.strangers, restored.left_out) == ([], [])
    assert ann.http.get(f"{API}/configurations").json() == listed
    assert len(contents()["configurations"]) == len(before["configurations"])


def test_another_stack_sends_to_the_webhooks_with_their_secrets(
    alone: template.Template, ann: Member, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://hooks.example.com:8443/services/planted-in-the-path"
    created = Admin.of(ann.organization_id).create(url, types=["rollout.finished"], format="slack")
    before = webhooks.webhook(ann.organization_id, created["id"])
    handler({}, None)
    path, seal_key = fetched(bucket, ann, tmp_path)
    content = gzip.decompress(path.read_bytes()).decode()
    assert created["id"] in content
    assert "planted-in-the-path" not in content
    move_elsewhere(alone, monkeypatch)

    restored = restore.restore(path, quietly, seal_key)
    # As after one that was cut off, which sealed the same texts otherwise.
    table.write(table.identity.delete(keys.organization(ann.organization_id)))
    restore.restore(path, quietly, seal_key)

    after = webhooks.webhook(ann.organization_id, created["id"])
    assert before is not None
    assert after is not None
    assert restored.left_out == []
    assert json.loads(sealed.unseal(after.target, webhook_id=after.id))["url"] == url
    assert sealed.unseal(after.secret, webhook_id=after.id) == created["secret"]
    assert replace(before, target=b"", secret=b"") == replace(after, target=b"", secret=b"")
    assert (before.target, before.secret) != (after.target, after.secret)
    # It counts against the limit.
    assert table.events.get({"pk": f"organization#{ann.organization_id}", "sk": "count"}, "webhooks") == {"webhooks": 1}


def test_webhooks_that_no_key_vouches_for_are_left_out_and_named(
    alone: template.Template, ann: Member, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = Admin.of(ann.organization_id).create()
    handler({}, None)
    path, _ = fetched(bucket, ann, tmp_path)
    move_elsewhere(alone, monkeypatch)

    restored = restore.restore(path, quietly)

    assert f"webhook on-call ({created['id']})" in restored.left_out
    assert table.events.list_all(f"organization#{ann.organization_id}") == []


def test_a_webhook_of_another_organization_is_not_taken_over(
    alone: template.Template, ann: Member, bucket: str, tmp_path: Path
) -> None:
    created = Admin.of(ann.organization_id).create()
    handler({}, None)
    path, seal_key = fetched(bucket, ann, tmp_path)
    webhook = table.events.get({"pk": f"organization#{ann.organization_id}", "sk": f"webhook#{created['id']}"})
    assert webhook is not None
    forget_everything(alone)
    table.events.put(webhook | {"pk": "organization#of-others"})
    held = contents()

    with pytest.raises(restore.InTheWay, match=created["id"]):
        restore.restore(path, quietly, seal_key)

    assert contents() == held


def fetched(bucket: str, member: Member, folder: Path) -> tuple[Path, str]:
    """The archive of the member's organization as a file, and the key of its seal."""
    exported = stored(bucket)
    (archive,) = [key for key in exported if key.startswith(f"archives/{member.organization_id}/")]
    path = folder / "acme.jsonl.gz"
    path.write_bytes(exported[archive])
    return path, exported[archive.replace("archives/", "seal-keys/").replace(".jsonl.gz", ".txt")].decode()


def move_elsewhere(described: template.Template, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on it is another stack: nothing is stored, and both of its keys are its own."""
    forget_everything(described)
    signing.signing_key.cache_clear()
    monkeypatch.setenv("HEADGATE_SECRETS_KEY", boto3.client("kms").create_key()["KeyMetadata"]["Arn"])
    settings.cache_clear()


def test_one_that_fails_is_told_and_leaves_out_no_other(
    ann: Member, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = identity.create_organization("Other").id
    to_file = export.to_file

    def fails_for_acme(path: Path, organization_id: str) -> object:
        if organization_id == ann.organization_id:
            raise ClientError({"Error": {"Code": "InternalServerError"}}, "Query")
        return to_file(path, organization_id)

    monkeypatch.setattr(export, "to_file", fails_for_acme)

    with pytest.raises(NotExported, match="1 of 2 organizations"):
        handler({}, None)

    assert {key.split("/")[1] for key in stored(bucket)} == {other}


def test_a_bucket_that_refuses_is_an_error(ann: Member, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "PutObject")

    monkeypatch.setattr(elsewhere, "put", refused)

    with pytest.raises(NotExported):
        handler({}, None)


def test_without_a_bucket_nothing_is_read(ann: Member) -> None:
    assert settings().export_bucket == ""
    assert handler({}, None) == {"exported": 0}

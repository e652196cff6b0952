"""Daily exports: an archive of each organization in a bucket of another region, from which another stack is filled."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError

from exports.app import NotExported, handler
from headgate.backup import export, restore
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.identity import signing
from headgate.storage import aws, elsewhere
from headgate_local import template
from tests.support.backups import alone, ann, contents, fleet_endpoint, forget_everything, furnished, quietly
from tests.support.members import API, Member

__all__ = ["alone", "ann", "fleet_endpoint", "furnished"]
REGION = "eu-west-1"

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
    exported = stored(bucket)
    (archive,) = [key for key in exported if key.startswith(f"archives/{ann.organization_id}/")]
    seal_key = exported[archive.replace("archives/", "seal-keys/").replace(".jsonl.gz", ".txt")].decode()
    assert len(exported) == 4
    forget_everything(alone)
    signing.signing_key.cache_clear()
    (tmp_path / "acme.jsonl.gz").write_bytes(exported[archive])

    restored = restore.restore(tmp_path / "acme.jsonl.gz", quietly, seal_key)

    assert (restored.strangers, restored.left_out) == ([], [])
    assert ann.http.get(f"{API}/configurations").json() == listed
    assert len(contents()["configurations"]) == len(before["configurations"])


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

"""What a client is told that AWS minds, and moto does not."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from headgate.storage import aws


@pytest.fixture(autouse=True)
def without_an_endpoint_of_moto(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    aws.forget_clients()
    yield
    aws.forget_clients()


@pytest.mark.parametrize("region", ["eu-central-1", "eu-south-2", "us-west-2"])
def test_a_signed_url_names_its_region(region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """s3.amazonaws.com refuses buckets of newer regions, and redirects from new buckets, which breaks the signature."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)

    url = urlsplit(aws.s3().generate_presigned_url("get_object", Params={"Bucket": "a-bucket", "Key": "runs/one"}))

    assert url.netloc == f"a-bucket.s3.{region}.amazonaws.com"
    assert parse_qs(url.query)["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]

"""What a client is told that AWS minds, and moto does not."""

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import botocore
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.client import BaseClient

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


class Sent(Exception):
    """The request, in place of its answer."""


@pytest.mark.parametrize(
    ("client", "operation", "parameters"),
    [
        (aws.dynamodb, "list_tables", {}),
        (aws.s3, "list_objects_v2", {"Bucket": "a-bucket"}),
        (aws.functions, "invoke", {"FunctionName": "a-function"}),
    ],
    ids=["DynamoDB", "S3", "Lambda"],
)
def test_a_call_says_that_it_is_ours(
    client: Callable[[], BaseClient], operation: str, parameters: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    def stopped(request: AWSPreparedRequest, **_: object) -> None:
        raise Sent(request.headers["User-Agent"].decode())

    made = client()
    made.meta.events.register_first("before-send", stopped)
    with pytest.raises(Sent) as sent:
        getattr(made, operation)(**parameters)

    assert str(sent.value).split()[:2] == ["Headgate", f"Botocore/{botocore.__version__}"]

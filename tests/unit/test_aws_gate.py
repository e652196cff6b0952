"""The port of the local service behind which all tables are: without its key there is nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import boto3
import httpx
import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.client import BaseClient, Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from moto.core.models import DEFAULT_ACCOUNT_ID

from headgate_local import aws_server

BUCKET = "things"
REGION = "us-east-1"
# The server is on http://, where no certificate authority is needed; to read them takes 30 ms.
HTTP = httpx.Client(verify=False, trust_env=False)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """moto behind its gate, with a table, a bucket and an object."""
    with aws_server.running() as url:
        boto3.client("dynamodb").create_table(
            TableName="identity",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        boto3.client("dynamodb").put_item(TableName="identity", Item={"pk": {"S": "signing_key"}})
        s3().create_bucket(Bucket=BUCKET)
        s3().put_object(Bucket=BUCKET, Key="a b/ü+&=%2F", Body=b"content")
        yield url


def s3() -> BaseClient:
    return boto3.client("s3", config=Config(signature_version="s3v4"))


def ours() -> Credentials:
    return Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])


def scan(url: str, credentials: Credentials, at: datetime | None = None, **changed: str) -> httpx.Response:
    """A scan of the table, signed by hand; `changed` after it was signed."""
    body = b'{"TableName": "identity"}'
    headers = {"X-Amz-Target": "DynamoDB_20120810.Scan", "Content-Type": "application/x-amz-json-1.0"}
    request = AWSRequest("POST", url + "/", headers, body)
    signer = auth.SigV4Auth(credentials, "dynamodb", REGION)
    with pytest.MonkeyPatch.context() as patch:
        if at is not None:
            patch.setattr(auth, "get_current_datetime", lambda: at)
        signer.add_auth(request)
    sent = dict(request.headers.items()) | {name.replace("_", "-"): value for name, value in changed.items()}
    content = sent.pop("body", None)
    return HTTP.request(sent.pop("method", "POST"), url + "/", headers=sent, content=content or body)


def test_a_request_with_the_key_is_answered(url: str) -> None:
    answer = scan(url, ours())

    assert (answer.status_code, answer.json()["Count"]) == (200, 1)


@pytest.mark.parametrize("authorization", ["", "AWS4-HMAC-SHA256", "Bearer x", "AWS4-HMAC-SHA256 Credential=a"])
def test_without_a_signature_there_is_nothing(url: str, authorization: str) -> None:
    headers = {"X-Amz-Target": "DynamoDB_20120810.Scan"} | ({"Authorization": authorization} if authorization else {})
    answer = HTTP.post(url, headers=headers, content=b'{"TableName": "identity"}')

    assert (answer.status_code, answer.content) == (403, b"")


def test_another_key_opens_nothing(url: str) -> None:
    assert scan(url, Credentials("local", "local")).status_code == 403
    assert scan(url, Credentials(ours().access_key, "local")).status_code == 403
    assert scan(url, Credentials("local", ours().secret_key)).status_code == 403


@pytest.mark.parametrize(
    "changed",
    [
        {"method": "PUT"},
        {"body": '{"TableName": "another!"}'},
        {"X_Amz_Target": "DynamoDB_20120810.DeleteTable"},
        {"X_Amz_Date": "20300101T000000Z"},
        {"X_Amz_Security_Token": "of-another"},
        {"Host": "localhost"},
    ],
)
def test_what_was_not_signed_so_is_refused(url: str, changed: dict[str, str]) -> None:
    assert scan(url, ours(), **changed).status_code == 403


def test_a_signature_is_good_for_a_quarter_of_an_hour(url: str) -> None:
    now = datetime.now(UTC)

    assert scan(url, ours(), now - timedelta(minutes=14)).status_code == 200
    assert scan(url, ours(), now - timedelta(minutes=16)).status_code == 403
    assert scan(url, ours(), now + timedelta(minutes=16)).status_code == 403


@pytest.mark.parametrize("path", ["/moto-api/reset", "//moto-api/reset", "/moto-api/data.json", "/moto-api/"])
@pytest.mark.parametrize("signed", [False, True])
def test_motos_own_switches_are_off(url: str, path: str, signed: bool) -> None:
    request = AWSRequest("POST", url + path)
    if signed:
        auth.SigV4Auth(ours(), "dynamodb", REGION).add_auth(request)

    assert HTTP.post(url + path, headers=dict(request.headers.items())).status_code == 403
    assert scan(url, ours()).json()["Count"] == 1


def signed_url(seconds: int = 60, operation: str = "get_object") -> str:
    made: str = s3().generate_presigned_url(
        operation, Params={"Bucket": BUCKET, "Key": "a b/ü+&=%2F"}, ExpiresIn=seconds
    )
    return made


def test_a_signed_url_gives_its_object_by_its_method(url: str) -> None:
    assert HTTP.get(signed_url()).content == b"content"
    assert HTTP.put(signed_url(), content=b"mine").status_code == 403
    assert HTTP.request("DELETE", signed_url()).status_code == 403
    assert HTTP.put(signed_url(operation="put_object"), content=b"content").status_code == 200


def test_a_signed_url_is_for_one_object_until_it_expires(url: str) -> None:
    good = signed_url()
    assert HTTP.get(good.replace("a%20b", "another")).status_code == 403
    assert HTTP.get(good + "&versionId=1").status_code == 403
    assert HTTP.get(good + "&X-Amz-Expires=9999").status_code == 403
    assert HTTP.get(good, headers={"x-amz-copy-source": "things/other"}).status_code == 403
    parts = urlsplit(good)
    query = dict(parse_qsl(parts.query)) | {"X-Amz-Expires": "3600"}
    assert HTTP.get(parts._replace(query=urlencode(query)).geturl()).status_code == 403
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auth, "get_current_datetime", lambda: datetime.now(UTC) - timedelta(seconds=90))
        assert HTTP.get(signed_url(60)).status_code == 403
        assert HTTP.get(signed_url(120)).status_code == 200


def form(**changed: object) -> httpx.Response:
    """A form with a signed policy for `runs/1` of at most ten bytes."""
    most = changed.pop("expires", 60)
    assert isinstance(most, int)
    policy = s3().generate_presigned_post(
        BUCKET, "runs/1", Conditions=[["content-length-range", 0, 10]], ExpiresIn=most
    )
    content = changed.pop("content", b"output")
    fields = policy["fields"] | {name.replace("_", "-"): value for name, value in changed.items()}
    return HTTP.post(policy["url"], data=fields, files={"file": content})


def test_a_form_with_a_signed_policy_puts_what_the_policy_says(url: str) -> None:
    assert form().is_success
    assert s3().get_object(Bucket=BUCKET, Key="runs/1")["Body"].read() == b"output"


@pytest.mark.parametrize(
    "changed",
    [
        {"key": "runs/2"},
        {"content": b"longer than ten bytes"},
        {"acl": "public-read"},
        {"policy": "eyJleHBpcmF0aW9uIjogIjIwOTktMDEtMDFUMDA6MDA6MDBaIiwgImNvbmRpdGlvbnMiOiBbXX0="},
        {"x_amz_signature": "0" * 64},
        {"x_amz_algorithm": "none"},
        {"expires": -1},
    ],
)
def test_a_form_that_its_policy_does_not_allow_is_refused(url: str, changed: dict[str, object]) -> None:
    assert form(**changed).status_code == 403


def test_what_aws_takes_unsigned_is_signed_here_and_refused_otherwise(url: str) -> None:
    headers = {
        "X-Amz-Target": "AWSCognitoIdentityProviderService.ConfirmForgotPassword",
        "Content-Type": "application/x-amz-json-1.1",
    }
    guess = {"ClientId": "x", "Username": "a@example.com", "ConfirmationCode": "000000", "Password": "p"}
    assert HTTP.post(url, headers=headers, content=json.dumps(guess)).status_code == 403

    with pytest.raises(ClientError) as answered:
        boto3.client("cognito-idp").forgot_password(ClientId="x", Username="a@example.com")
    assert answered.value.response["Error"]["Code"] == "ResourceNotFoundException"


def test_motos_interpreter_of_state_machines_has_the_key_too(url: str) -> None:
    from moto.stepfunctions.parser.asl.utils.boto_client import boto_client_for

    from headgate_local import stepfunctions
    from headgate_local.fargate import Fargate
    from headgate_local.template import read

    with stepfunctions.installed({}, Fargate(read(), Path(), "1.2.3")):
        found = boto_client_for(REGION, "dynamodb").scan(TableName="identity")
    assert found["Count"] == 1


def test_each_service_has_a_key_of_its_own_which_no_command_line_shows() -> None:
    program = (
        "import os, sys; from headgate_local import aws_server\n"
        "with aws_server.running():\n"
        "    secret = os.environ['AWS_SECRET_ACCESS_KEY']\n"
        "    print(secret, open('/proc/self/cmdline').read().count(secret))"
    )
    outputs = [subprocess.check_output([sys.executable, "-c", program], text=True).split() for _ in range(2)]

    assert outputs[0][0] != outputs[1][0]
    assert [count for _, count in outputs] == ["0", "0"]
    assert all(len(secret) >= 43 for secret, _ in outputs)
    assert DEFAULT_ACCOUNT_ID not in outputs[0][0]


@pytest.mark.parametrize(
    ("suffix", "headers"),
    [
        ("", {"X-Amz-Target": "DynamoDB_20120810.ListTables"}),
        ("?MaxResults=9", {"X-Amz-Target": "AWSCognitoIdentityProviderService.ListUserPools"}),
        ("?Action=ListUsers", {}),
        ("?uploads", {}),
        (f"/{BUCKET}", {}),
        (f"/{BUCKET}?uploads", {}),
    ],
)
def test_a_signed_form_is_good_for_nothing_but_its_object(url: str, suffix: str, headers: dict[str, str]) -> None:
    policy = s3().generate_presigned_post(BUCKET, "runs/1", ExpiresIn=60)
    answer = HTTP.post(policy["url"] + suffix, data=policy["fields"], files={"file": b"x"}, headers=headers)

    assert (answer.status_code, answer.content) == (403, b"")

"""The AWS clients, each made at its first use: creating one costs tens of milliseconds of a cold start."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypedDict

from headgate.storage.complete_responses import only_whole

if TYPE_CHECKING:
    from botocore.config import Config
    from botocore.response import StreamingBody
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_stepfunctions import SFNClient


class InvokeResponse(TypedDict, total=False):
    """What comes of an invocation: `FunctionError` where the function itself failed."""

    FunctionError: str
    Payload: StreamingBody


class LambdaClient(Protocol):
    """What is used of Lambda."""

    def invoke(self, *, FunctionName: str, Payload: bytes, TenantId: str) -> InvokeResponse: ...


# Making two clients at once from boto3's default session is not thread-safe.
_making = threading.RLock()


def dynamodb() -> DynamoDBClient:
    with _making:
        return _dynamodb()


def s3() -> S3Client:
    with _making:
        return _s3()


def stepfunctions() -> SFNClient:
    with _making:
        return _stepfunctions()


def cognito() -> CognitoIdentityProviderClient:
    with _making:
        return _cognito()


def functions() -> LambdaClient:
    with _making:
        return _functions()


def forget_clients() -> None:
    """Make new clients at the next use, for a process whose AWS endpoint has changed."""
    with _making:
        for made in (_dynamodb, _s3, _stepfunctions, _cognito, _functions):
            made.cache_clear()


def _config() -> Config:
    from botocore.config import Config

    # API Gateway gives up after 30 s; three tries of a hanging call have to end well before.
    return Config(
        connect_timeout=2,
        read_timeout=6,
        retries={"mode": "standard", "total_max_attempts": 3},
        max_pool_connections=50,
        tcp_keepalive=True,
    )


@cache
def _dynamodb() -> DynamoDBClient:
    import boto3

    client = boto3.client("dynamodb", config=_config())
    only_whole(client)
    return client


@cache
def _s3() -> S3Client:
    import boto3
    from botocore.config import Config

    # For signed URLs: their older form is refused in newer regions, and so is S3's address without a region, which
    # also redirects to another name than the signed one while a bucket is new.
    signed = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
    client = boto3.client("s3", config=_config().merge(signed))
    only_whole(client)
    return client


@cache
def _stepfunctions() -> SFNClient:
    import boto3

    client = boto3.client("stepfunctions", config=_config())
    only_whole(client)
    return client


@cache
def _cognito() -> CognitoIdentityProviderClient:
    import boto3

    client = boto3.client("cognito-idp", config=_config())
    only_whole(client)
    return client


@cache
def _functions() -> LambdaClient:
    import boto3
    from botocore.config import Config

    # One try: what failed may have run for its whole time, and whoever asks knows how much is left.
    patient = Config(read_timeout=24, retries={"mode": "standard", "total_max_attempts": 1})
    client: LambdaClient = boto3.client("lambda", config=_config().merge(patient))
    return client

"""The AWS clients. Each is created at its first use, which costs tens of milliseconds of a cold start."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypedDict

from headgate.storage.complete_responses import require_complete

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from botocore.config import Config
    from botocore.response import StreamingBody
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_stepfunctions import SFNClient


class InvokeResponse(TypedDict, total=False):
    """The result of an invocation. `FunctionError` is there if the function itself failed."""

    FunctionError: str
    Payload: StreamingBody


class LambdaClient(Protocol):
    """The part of Lambda's client that is used."""

    def invoke(self, *, FunctionName: str, Payload: bytes, TenantId: str) -> InvokeResponse: ...


class Encrypted(TypedDict):
    CiphertextBlob: bytes


class Decrypted(TypedDict):
    Plaintext: bytes


class KmsClient(Protocol):
    """The part of KMS's client that is used."""

    def encrypt(self, *, KeyId: str, Plaintext: bytes, EncryptionContext: Mapping[str, str]) -> Encrypted: ...

    def decrypt(self, *, KeyId: str, CiphertextBlob: bytes, EncryptionContext: Mapping[str, str]) -> Decrypted: ...


class SqsClient(Protocol):
    """The part of SQS's client that is used."""

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> object: ...

    def change_message_visibility(self, *, QueueUrl: str, ReceiptHandle: str, VisibilityTimeout: int) -> object: ...


class PutEventsAnswer(TypedDict):
    FailedEntryCount: int


class EventsClient(Protocol):
    """The part of EventBridge's client that is used."""

    def put_events(self, *, Entries: Sequence[Mapping[str, object]]) -> PutEventsAnswer: ...


# Creating two clients at once from boto3's default session is not thread-safe.
_creation = threading.RLock()


def dynamodb() -> DynamoDBClient:
    with _creation:
        return _dynamodb()


def s3() -> S3Client:
    with _creation:
        return _s3()


def s3_in(region: str) -> S3Client:
    """The client of buckets in another region; of this one for an empty name."""
    with _creation:
        return _s3(region)


def stepfunctions() -> SFNClient:
    with _creation:
        return _stepfunctions()


def cognito() -> CognitoIdentityProviderClient:
    with _creation:
        return _cognito()


def kms() -> KmsClient:
    with _creation:
        return _kms()


def sqs() -> SqsClient:
    with _creation:
        return _sqs()


def events() -> EventsClient:
    with _creation:
        return _events()


def functions(seconds: int = 24) -> LambdaClient:
    """The client that invokes functions, and waits that long for an answer."""
    with _creation:
        return _functions(seconds)


def forget_clients() -> None:
    """Create new clients at the next use, in a process whose AWS endpoint has changed."""
    with _creation:
        for client in (_dynamodb, _s3, _stepfunctions, _cognito, _kms, _sqs, _events, _functions):
            client.cache_clear()


def _config() -> Config:
    from botocore.config import Config

    # API Gateway gives up after 30 s; three attempts that get no response have to end well before.
    return Config(
        # What it begins with. botocore would compose more from its environment, anew for each call.
        user_agent="Headgate",
        connect_timeout=2,
        read_timeout=6,
        retries={"mode": "standard", "total_max_attempts": 3},
        max_pool_connections=50,
        tcp_keepalive=True,
    )


@cache
def _dynamodb() -> DynamoDBClient:
    import boto3
    from botocore.config import Config

    # What `table` builds has the right types; to check each attribute again takes a seventh of a write's time.
    unchecked = Config(parameter_validation=False)
    client = boto3.client("dynamodb", config=_config().merge(unchecked))
    require_complete(client)
    return client


@cache
def _s3(region: str = "") -> S3Client:
    import boto3
    from botocore.config import Config

    # For signed URLs. Newer regions refuse the older signature and S3's address without a region, which also redirects
    # to a name that was not signed while a bucket is new.
    signed = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
    client = boto3.client("s3", config=_config().merge(signed), region_name=region or None)
    require_complete(client)
    return client


@cache
def _stepfunctions() -> SFNClient:
    import boto3

    client = boto3.client("stepfunctions", config=_config())
    require_complete(client)
    return client


@cache
def _cognito() -> CognitoIdentityProviderClient:
    import boto3

    client = boto3.client("cognito-idp", config=_config())
    require_complete(client)
    return client


@cache
def _kms() -> KmsClient:
    import boto3

    client = boto3.client("kms", config=_config())
    require_complete(client)
    known: KmsClient = client
    return known


@cache
def _sqs() -> SqsClient:
    import boto3

    client = boto3.client("sqs", config=_config())
    require_complete(client)
    known: SqsClient = client
    return known


@cache
def _events() -> EventsClient:
    import boto3

    client = boto3.client("events", config=_config())
    require_complete(client)
    known: EventsClient = client
    return known


@cache
def _functions(seconds: int) -> LambdaClient:
    import boto3
    from botocore.config import Config

    # One attempt: a failed one may have used up the time, and only the caller knows how much is left.
    patient = Config(read_timeout=seconds, retries={"mode": "standard", "total_max_attempts": 1})
    client: LambdaClient = boto3.client("lambda", config=_config().merge(patient))
    return client

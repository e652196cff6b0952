"""The AWS clients. Each is created at its first use, which costs tens of milliseconds of a cold start."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, Protocol, TypedDict, cast

from headgate.storage.complete_responses import require_complete

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from botocore.client import BaseClient
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
_clients: Final[dict[tuple[object, ...], object]] = {}


def dynamodb() -> DynamoDBClient:
    # What `table` builds has the right types; to check each attribute again takes a seventh of a write's time.
    return cast("DynamoDBClient", _client("dynamodb", parameter_validation=False))


def s3() -> S3Client:
    return s3_in("")


def s3_in(region: str) -> S3Client:
    """The client of buckets in another region; of this one for an empty name."""
    # For signed URLs. Newer regions refuse the older signature and S3's address without a region, which also redirects
    # to a name that was not signed while a bucket is new.
    return cast("S3Client", _client("s3", region, signature_version="s3v4", s3={"addressing_style": "virtual"}))


def stepfunctions() -> SFNClient:
    return cast("SFNClient", _client("stepfunctions"))


def cognito() -> CognitoIdentityProviderClient:
    return cast("CognitoIdentityProviderClient", _client("cognito-idp"))


def kms() -> KmsClient:
    return cast("KmsClient", _client("kms"))


def sqs() -> SqsClient:
    return cast("SqsClient", _client("sqs"))


def events() -> EventsClient:
    return cast("EventsClient", _client("events"))


def functions(seconds: int = 24) -> LambdaClient:
    """The client that invokes functions, and waits that long for an answer."""
    # One attempt: a failed one may have used up the time, and only the caller knows how much is left.
    retries = {"mode": "standard", "total_max_attempts": 1}
    return cast("LambdaClient", _client("lambda", read_timeout=seconds, retries=retries))


def forget_clients() -> None:
    """Create new clients at the next use, in a process whose AWS endpoint has changed."""
    with _creation:
        _clients.clear()


def _client(service: str, region: str = "", **options: Any) -> object:
    """The client of a service, with these options of its configuration."""
    with _creation:
        known = (service, region, options.get("read_timeout"))
        if known not in _clients:
            _clients[known] = _created(service, region, options)
        return _clients[known]


def _created(service: str, region: str, options: Mapping[str, Any]) -> object:
    import boto3
    from botocore.config import Config

    # The type checker knows the names of services only.
    create: Callable[..., BaseClient] = boto3.client
    client = create(service, config=_config().merge(Config(**options)), region_name=region or None)
    # Whoever invokes a function checks its answer's end itself.
    if service != "lambda":
        require_complete(client)
    return client


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

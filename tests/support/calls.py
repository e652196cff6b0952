"""Records which calls to AWS each function makes, for the test that compares template.yaml's policies with them.

If HEADGATE_CALLS names a folder, each process writes one file there: a line of JSON for each kind of call, when it
first happens. A call is what IAM would evaluate: function, action, the resource's ARN without the account, and the
values of the condition keys that the policies use, cut after the first `#` or `/`, or after an id's prefix.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import boto3

from headgate_local import callers

if TYPE_CHECKING:
    from botocore.model import OperationModel

VARIABLE: Final = "HEADGATE_CALLS"

Parameters: TypeAlias = Mapping[str, object]

_TRANSACTED: Final = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
# S3's operations whose permission has another name.
_S3_ACTIONS: Final = {
    "HeadObject": "GetObject",
    "ListObjectsV2": "ListBucket",
    "ListObjects": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
}
_MISSING: Final = ("NoSuchKey", "404")
_ID: Final = re.compile(r"\b([a-z]+_)[0-9a-z]{26}\b")


@dataclass(frozen=True, slots=True)
class Call:
    """One request to IAM. `leading_keys`, `prefix` and KMS's `context_keys` are the condition keys with those names,
    empty without a value.

    Each entry of a transaction is a call with its own leading key, and `together` has the keys of all its entries in
    that table: AWS does not document which of the two IAM evaluates.
    """

    function: str
    action: str
    resource: str
    leading_keys: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    prefix: str = ""
    context_keys: tuple[str, ...] = ()


def record() -> None:
    """Record the calls of every client that is created from now on, if the environment names a folder."""
    folder = os.environ.get(VARIABLE)
    if folder:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        record_to(path / f"{os.getpid()}.jsonl")


def record_to(path: Path) -> None:
    """Record the calls of every client that this process creates from now on."""
    written: set[Call] = set()
    writing = threading.Lock()

    def write(found: list[Call]) -> None:
        for call in found:
            with writing:
                if call in written:
                    continue
                written.add(call)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(call)) + "\n")

    def before(params: Parameters, model: OperationModel, context: dict[str, object], **_: object) -> None:
        # For `after`, which does not get the parameters.
        context["headgate_key"] = params.get("Key")
        context["headgate_bucket"] = params.get("Bucket")
        # Signing a form makes no call; boto3 uses this operation's address for it.
        is_form = model.name == "CreateBucket" and context.get("is_presign_request") is True
        if (function := callers.current()) and not is_form:
            write(_asked(function, model, params))

    def after(parsed: Mapping[str, object], model: OperationModel, context: dict[str, object], **_: object) -> None:
        function, error = callers.current(), parsed.get("Error")
        code = error.get("Code") if isinstance(error, dict) else None
        if function and code in _MISSING and model.service_model.service_name == "s3":
            # S3 answers 404 only to callers that may list the bucket; others get 403.
            bucket, key = context["headgate_bucket"], str(context["headgate_key"])
            write([Call(function, "s3:ListBucket", f"s3:::{bucket}", prefix=_up_to(key, "/"))])

    boto3.setup_default_session()
    session = boto3.DEFAULT_SESSION
    assert session is not None
    session.events.register("before-parameter-build.*.*", before)
    session.events.register("after-call.*.*", after)


def read(folder: Path) -> set[Call]:
    """All calls that were recorded in the folder."""
    return {
        _call_of(json.loads(line))
        for file in folder.glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    }


def _call_of(written: dict[str, Any]) -> Call:
    lists = {name: tuple(written.get(name, ())) for name in ("leading_keys", "together", "context_keys")}
    return Call(**(written | lists))


def _asked(function: str, model: OperationModel, params: Parameters) -> list[Call]:
    service, operation = model.service_model.service_name, model.name
    if model.auth_type == "none":
        # An unsigned call (Cognito's for a forgotten password): IAM does not evaluate it.
        return []
    match service:
        case "dynamodb":
            return _of_dynamodb(function, operation, params)
        case "s3":
            action, bucket, key = _S3_ACTIONS.get(operation, operation), params.get("Bucket"), params.get("Key")
            if params.get("VersionId") is not None:
                action += "Version"
            if key is None:
                return [Call(function, f"s3:{action}", f"s3:::{bucket}", prefix=_up_to(params.get("Prefix"), "/"))]
            return [Call(function, f"s3:{action}", f"s3:::{bucket}/{_up_to(key, '/')}x")]
        case "stepfunctions":
            arn = str(params.get("stateMachineArn") or params.get("executionArn"))
            return [Call(function, f"states:{operation}", f"states:::{arn.rpartition(':')[2]}")]
        case "kms":
            context = cast("Mapping[str, str]", params.get("EncryptionContext", {}))
            key = str(params["KeyId"]).rpartition("/")[2]
            return [Call(function, f"kms:{operation}", f"kms:::{key}", context_keys=tuple(sorted(context)))]
        case "sqs":
            return [Call(function, f"sqs:{operation}", f"sqs:::{str(params['QueueUrl']).rpartition('/')[2]}")]
        case "events":
            entries = cast("list[dict[str, str]]", params["Entries"])
            return [
                Call(function, f"events:{operation}", f"events:::{name}")
                for name in {one["EventBusName"] for one in entries}
            ]
        case "lambda":
            name = str(params["FunctionName"]).partition(":function:")[2]
            return [Call(function, f"lambda:{operation}Function", f"lambda:::{name}")]
        case _:
            return [Call(function, f"{service}:{operation}", f"{service}:::{params.get('UserPoolId', '')}")]


def _of_dynamodb(function: str, operation: str, params: Parameters) -> list[Call]:
    if operation.startswith("Transact"):
        entries = [next(iter(entry.items())) for entry in cast("list[dict[str, Parameters]]", params["TransactItems"])]
        together: dict[object, set[str]] = {}
        for _, one in entries:
            together.setdefault(one["TableName"], set()).add(_leading_key(one))
        return [
            _call(function, _TRANSACTED[kind], one, {_leading_key(one)}, together[one["TableName"]])
            for kind, one in entries
        ]
    if operation == "BatchGetItem":
        requests = cast("dict[str, dict[str, list[Parameters]]]", params["RequestItems"])
        return [
            _call(function, operation, {"TableName": table}, {_leading_key({"Key": key}) for key in request["Keys"]})
            for table, request in requests.items()
        ]
    return [_call(function, operation, params, {_leading_key(params)} - {""})]


def _call(
    function: str, action: str, params: Parameters, keys: set[str], together: Iterable[str] | None = None
) -> Call:
    resource = f"dynamodb:::{params['TableName']}"
    if index := params.get("IndexName"):
        resource += f"/index/{index}"
    others = keys if together is None else together
    return Call(function, f"dynamodb:{action}", resource, tuple(sorted(keys)), tuple(sorted(others)))


def _leading_key(params: Parameters) -> str:
    """The partition key of an item's key, or of a query's condition. "" for a scan."""
    if condition := params.get("KeyConditionExpression"):
        name = str(condition).partition("=")[2].split()[0]
        value = cast("dict[str, dict[str, str]]", params["ExpressionAttributeValues"])[name]
    else:
        key = cast("dict[str, dict[str, str]]", params.get("Key") or params.get("Item") or {})
        # Versions differ from configurations by their sort key.
        names = ("pk", "run_id", "configuration_id" if "item" in key else "organization_id")
        value = next((key[name] for name in names if name in key), {"S": ""})
    return _ID.sub(r"\1", _up_to(value["S"], "#"))


def _up_to(text: object, separator: str) -> str:
    return "".join(str(text or "").partition(separator)[:2])

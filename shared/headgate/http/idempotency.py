"""`Idempotency-Key`: the same request sent again gets the first one's answer, for a day.

Two writes around a create, and none without the header. An answer of 400 or above is not kept: it may be tried again.
"""

import hashlib
import json
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from botocore.exceptions import ClientError
from starlette.responses import Response

from headgate import aws, blobs, clock, dynamo, errors
from headgate.dynamo import Item
from headgate.identity import keys
from headgate.settings import settings

_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
_KEPT: Final = timedelta(hours=24)
# A function is ended after 30 seconds; a request under way for longer than this has died.
_UNDER_WAY: Final = timedelta(seconds=60)
_HEADERS: Final = ("location", "etag", "content-type")


class KeyReused(errors.Invalid):
    """The key was used for another request."""

    code = "idempotency_key_reused"


class FirstUnderWay(errors.Conflict):
    """The request that first used the key has not ended."""

    code = "idempotency_key_in_use"


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to carry out a request under a key; `nonce` tells this claim from an earlier one that died."""

    key: keys.Key
    fingerprint: str
    nonce: str


def fingerprint(method: str, path: str, body: bytes) -> str:
    return hashlib.sha256(b"\0".join((method.encode(), path.encode(), body))).hexdigest()


def claim(credential_id: str, header: str, request_fingerprint: str, at: datetime) -> Claim | Response:
    """Take the key, or return the answer that the same request got before; one conditional write.

    Raises Invalid for a key that is not 1–255 visible ASCII characters, KeyReused, FirstUnderWay.
    """
    if not _KEY.fullmatch(header):
        message = "The key has to be 1 to 255 visible ASCII characters"
        raise errors.Invalid(message, [errors.FieldError(("header", "Idempotency-Key"), message)])
    key = keys.idempotency(credential_id, hashlib.sha256(header.encode()).hexdigest())
    mine = Claim(key, request_fingerprint, secrets.token_hex(8))
    try:
        aws.dynamodb().put_item(
            TableName=settings().identity_table,
            Item=dynamo.marshal(
                key | {"fingerprint": mine.fingerprint, "nonce": mine.nonce, **_expiry(at + _UNDER_WAY)}
            ),
            ConditionExpression="attribute_not_exists(pk) OR expires <= :now",
            ExpressionAttributeValues=dynamo.marshal({":now": int(at.timestamp())}),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except ClientError as error:
        if not dynamo.condition_failed(error):
            raise
        return _first_answer(dynamo.current_item(error), mine)
    return mine


def keep(mine: Claim, response: Response, at: datetime) -> None:
    """Keep the answer under the key; one conditional write."""
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    answer = blobs.keep(json.dumps({"headers": headers, "body": bytes(response.body).decode()}), "idempotency")
    _settle(mine, {"status": response.status_code, **answer.attributes, **_expiry(at + _KEPT)})


def release(mine: Claim) -> None:
    """Let the key be used again: the request came to nothing."""
    _settle(mine, None)


def _settle(mine: Claim, answer: Item | None) -> None:
    """Replace the claim by its answer, or by nothing, unless another request has taken the key over meanwhile."""
    nonce = dynamo.marshal({":nonce": mine.nonce})
    try:
        if answer is None:
            aws.dynamodb().delete_item(
                TableName=settings().identity_table,
                Key=dynamo.marshal(mine.key),
                ConditionExpression="nonce = :nonce",
                ExpressionAttributeValues=nonce,
            )
        else:
            item = mine.key | {"fingerprint": mine.fingerprint, "nonce": mine.nonce} | answer
            aws.dynamodb().put_item(
                TableName=settings().identity_table,
                Item=dynamo.marshal(item),
                ConditionExpression="nonce = :nonce",
                ExpressionAttributeValues=nonce,
            )
    except ClientError as error:
        if not dynamo.condition_failed(error):
            raise


def _first_answer(item: Item, mine: Claim) -> Response:
    if item and item["fingerprint"] != mine.fingerprint:
        message = "This key was used for another request; use a new one"
        raise KeyReused(message, [errors.FieldError(("header", "Idempotency-Key"), message)])
    if "status" not in item:
        raise FirstUnderWay("The first request with this key has not ended; try again shortly")
    answer = json.loads(blobs.read(item))
    return Response(
        answer["body"], dynamo.number(item, "status"), {**answer["headers"], "Idempotency-Replayed": "true"}
    )


def _expiry(at: datetime) -> Item:
    return {"expires": int(at.timestamp()), "expires_at": clock.rfc3339(at)}

"""`Idempotency-Key`: for a day, repeating a request returns the first answer.

It costs two writes around a create and one in its transaction; without the header, none. An answer of 400 or above is
not stored, so the request may be repeated.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from starlette.responses import Response

from headgate.foundation import errors
from headgate.http import keys
from headgate.storage import items, large_texts, table
from headgate.storage.items import Item
from headgate.storage.table import ConditionFailed, Key, Write

_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
_STORED_FOR: Final = timedelta(hours=24)
# Lambda ends a function after 30 seconds, so a request that began earlier than this has died.
_UNDER_WAY: Final = timedelta(seconds=60)
_HEADERS: Final = ("location", "etag", "content-type")
_HEADER: Final = ("header", "Idempotency-Key")


class KeyReused(errors.Invalid):
    """The key was used for another request."""

    code = "idempotency_key_reused"
    detail = "This key was used for another request; use a new one"
    at = _HEADER


class FirstUnderWay(errors.Conflict):
    """The request that first used the key has not ended."""

    code = "idempotency_key_in_use"


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to carry out a request under a key; `nonce` tells this claim from an earlier one that died."""

    key: Key
    fingerprint: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Created:
    """The first request created what is at `path`, and its answer was lost. `claim` is that request's."""

    path: str
    claim: Claim


def fingerprint(method: str, path: str, body: bytes) -> str:
    return hashlib.sha256(b"\0".join((method.encode(), path.encode(), body))).hexdigest()


def claim(credential_id: str, header: str, request_fingerprint: str, at: datetime) -> Claim | Created | Response:
    """Take the key, or return the first answer of the same request, or what it created; one conditional write.

    Raises Invalid for a key that is not 1–255 visible ASCII characters, KeyReused, FirstUnderWay.
    """
    if not _KEY.fullmatch(header):
        raise errors.Invalid("The key must be 1 to 255 visible ASCII characters", at=_HEADER)
    key = keys.idempotency(credential_id, hashlib.sha256(header.encode()).hexdigest())
    claim = Claim(key, request_fingerprint, secrets.token_hex(8))
    begun = key | {"fingerprint": claim.fingerprint, "nonce": claim.nonce, **items.expiry(at + _UNDER_WAY)}
    free = "attribute_not_exists(pk) OR expires <= :now"
    try:
        table.write(table.identity.put_if(begun, free, {":now": int(at.timestamp())}))
    except ConditionFailed as taken:
        return _first_answer(taken.item, claim)
    except (BotoCoreError, ClientError):
        # The claim may have been written all the same; it would block the next request with this key.
        with contextlib.suppress(BotoCoreError, ClientError):
            release(claim)
        raise
    return claim


def note_created(claim: Claim, path: str, at: datetime) -> Write:
    """The write that records what is created, for the transaction that creates it.

    If another request has taken over the key, the transaction fails.
    """
    expiry = items.expiry(at + _STORED_FOR)
    values = {":path": path, ":nonce": claim.nonce} | {f":{name}": value for name, value in expiry.items()}
    change = "SET made = :path, expires = :expires, expires_at = :expires_at"
    return table.identity.update(claim.key, change, "nonce = :nonce", values)


def store_answer(claim: Claim, response: Response, at: datetime) -> None:
    """Store the answer under the key; one conditional write."""
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    answer = large_texts.write(json.dumps({"headers": headers, "body": bytes(response.body).decode()}), "idempotency")
    _replace(claim, {"status": response.status_code, **answer, **items.expiry(at + _STORED_FOR)})


def release(claim: Claim) -> None:
    """Free the key, unless the request has created something after all."""
    _replace(claim, None, "nonce = :nonce AND attribute_not_exists(made)")


def forget(claim: Claim) -> None:
    """Free the key: what was created under it has been deleted."""
    _replace(claim, None)


def _replace(claim: Claim, answer: Item | None, condition: str = "nonce = :nonce") -> None:
    """Replace the claim by its answer, or delete it, unless another request has taken over the key."""
    nonce: Item = {":nonce": claim.nonce}
    if answer is None:
        write = table.identity.delete(claim.key, condition, nonce)
    else:
        item = claim.key | {"fingerprint": claim.fingerprint, "nonce": claim.nonce} | answer
        write = table.identity.put_if(item, condition, nonce)
    with contextlib.suppress(ConditionFailed):
        table.write(write)


def _first_answer(item: Item, claim: Claim) -> Claim | Created | Response:
    if item.get("nonce") == claim.nonce:
        # Our own claim: it was written, and the answer to the write was lost.
        return claim
    if item and item["fingerprint"] != claim.fingerprint:
        raise KeyReused
    if "status" not in item and "made" in item:
        first = Claim(claim.key, claim.fingerprint, items.text(item, "nonce"))
        return Created(items.text(item, "made"), first)
    if "status" not in item:
        raise FirstUnderWay("The first request with this key has not ended; try again shortly")
    answer = json.loads(large_texts.read(item))
    return Response(answer["body"], items.number(item, "status"), {**answer["headers"], "Idempotency-Replayed": "true"})

"""`Idempotency-Key`: the same request sent again gets the first one's answer, for a day.

Two writes around a create, one within its transaction, and none without the header. An answer of 400 or above is not
kept: it may be tried again.
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

    key: Key
    fingerprint: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Made:
    """What the first request made is at `path`; its answer was lost. `claim` is that request's."""

    path: str
    claim: Claim


def fingerprint(method: str, path: str, body: bytes) -> str:
    return hashlib.sha256(b"\0".join((method.encode(), path.encode(), body))).hexdigest()


def claim(credential_id: str, header: str, request_fingerprint: str, at: datetime) -> Claim | Made | Response:
    """Take the key, or return the answer that the same request got before, or what it made; one conditional write.

    Raises Invalid for a key that is not 1–255 visible ASCII characters, KeyReused, FirstUnderWay.
    """
    if not _KEY.fullmatch(header):
        message = "The key has to be 1 to 255 visible ASCII characters"
        raise errors.Invalid(message, [errors.FieldError(("header", "Idempotency-Key"), message)])
    key = keys.idempotency(credential_id, hashlib.sha256(header.encode()).hexdigest())
    mine = Claim(key, request_fingerprint, secrets.token_hex(8))
    begun = key | {"fingerprint": mine.fingerprint, "nonce": mine.nonce, **items.expiry(at + _UNDER_WAY)}
    free = "attribute_not_exists(pk) OR expires <= :now"
    try:
        table.write(table.identity.put_if(begun, free, {":now": int(at.timestamp())}))
    except ConditionFailed as taken:
        return _first_answer(taken.item, mine)
    except (BotoCoreError, ClientError):
        # It may have been written all the same, and would keep the key from the next request.
        with contextlib.suppress(BotoCoreError, ClientError):
            release(mine)
        raise
    return mine


def made(mine: Claim, path: str, at: datetime) -> Write:
    """The write that notes what is made, to stand in the transaction that makes it.

    Another request that has taken the key over meanwhile makes that transaction fail.
    """
    expiry = items.expiry(at + _KEPT)
    values = {":path": path, ":nonce": mine.nonce} | {f":{name}": value for name, value in expiry.items()}
    change = "SET made = :path, expires = :expires, expires_at = :expires_at"
    return table.identity.update(mine.key, change, "nonce = :nonce", values)


def keep(mine: Claim, response: Response, at: datetime) -> None:
    """Keep the answer under the key; one conditional write."""
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    answer = large_texts.write(json.dumps({"headers": headers, "body": bytes(response.body).decode()}), "idempotency")
    _settle(mine, {"status": response.status_code, **answer, **items.expiry(at + _KEPT)})


def release(mine: Claim) -> None:
    """Let the key be used again, unless the request has made something after all."""
    _settle(mine, None, "nonce = :nonce AND attribute_not_exists(made)")


def forget(mine: Claim) -> None:
    """Let the key be used again: what was made under it is no more."""
    _settle(mine, None)


def _settle(mine: Claim, answer: Item | None, condition: str = "nonce = :nonce") -> None:
    """Replace the claim by its answer, or by nothing, unless another request has taken the key over meanwhile."""
    nonce: Item = {":nonce": mine.nonce}
    if answer is None:
        write = table.identity.delete(mine.key, condition, nonce)
    else:
        item = mine.key | {"fingerprint": mine.fingerprint, "nonce": mine.nonce} | answer
        write = table.identity.put_if(item, condition, nonce)
    with contextlib.suppress(ConditionFailed):
        table.write(write)


def _first_answer(item: Item, mine: Claim) -> Claim | Made | Response:
    if item.get("nonce") == mine.nonce:
        # Our own: the answer to the first attempt was lost on its way.
        return mine
    if item and item["fingerprint"] != mine.fingerprint:
        message = "This key was used for another request; use a new one"
        raise KeyReused(message, [errors.FieldError(("header", "Idempotency-Key"), message)])
    if "status" not in item and "made" in item:
        first = Claim(mine.key, mine.fingerprint, items.text(item, "nonce"))
        return Made(items.text(item, "made"), first)
    if "status" not in item:
        raise FirstUnderWay("The first request with this key has not ended; try again shortly")
    answer = json.loads(large_texts.read(item))
    return Response(answer["body"], items.number(item, "status"), {**answer["headers"], "Idempotency-Replayed": "true"})

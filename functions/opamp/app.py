"""The fleet service's endpoint: OpAMP over plain HTTP, one protobuf message in, one out.

Supervisors repeat a message that is answered 429 or 503, and drop one that gets any other error; so every passing fault
is a 503. It is plain ASGI: the web framework would double the cold start, and all it has to read is two headers and a
body.
"""

import gzip
import json
import random
import zlib
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from headgate.foundation import errors, faults, metrics
from headgate.foundation.log import logger
from headgate.http import bearer
from headgate.http.request_context import RequestContext
from headgate.http.statuses import status_of
from headgate.http.threads import OneAtATime, in_thread
from headgate.instances.counting.admission import FleetFull
from headgate.opamp import pace, service, signatures
from headgate.opamp.messages import MAX_MESSAGE_BYTES

_CONTENT_TYPE: Final = "application/x-protobuf"
_LEAST_PACKED: Final = 1_400
"""Bytes: what fits into one packet of a network gains nothing."""


class UnsupportedEncoding(errors.BadRequest):
    """The body is encoded in a way that this service does not support, or not as its header says."""

    code = "unsupported_encoding"


async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    """An ASGI application of one route."""
    if scope["method"] != "POST":
        await _problem(scope, send, HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", "Use POST", {"allow": "POST"})
        return
    headers = Headers(scope=scope)
    credential = bearer.credential(headers.get("authorization", ""))
    try:
        # Before the body is read: a message that is to be sent again costs nothing.
        pace.require_turn_of_token(credential)
        body = await _body(headers, receive)
        pace.charge_size(credential, len(body))
        deployment_id = headers.get("x-deployment-id", "")
        signature = headers.get(signatures.HEADER, "")
        answer = await in_thread(service.exchange, credential, deployment_id, body, signature)
    except errors.HeadgateError as error:
        status = status_of(error)
        scope["state"]["blame"] = faults.blame(error)
        more = (
            {"retry-after": str(error.retry_after)}
            if isinstance(error, FleetFull | errors.TooManyRequests)
            else _more(status)
        )
        await _problem(scope, send, status, error.code, error.detail, more)
    except (BotoCoreError, ClientError) as error:
        logger.error("aws_fault", aws_code=faults.aws_code(error))
        scope["state"]["blame"] = faults.blame(error)
        status = HTTPStatus.SERVICE_UNAVAILABLE
        await _problem(scope, send, status, "unavailable", "Try again shortly; nothing was lost", _more(status))
    else:
        scope["state"]["without_news"] = not answer.has_news
        message, more = answer.encode(), {"content-type": _CONTENT_TYPE}
        if len(message) >= _LEAST_PACKED and "gzip" in headers.get("accept-encoding", "").lower():
            message, more = gzip.compress(message, 6, mtime=0), {**more, "content-encoding": "gzip"}
        await _send(send, HTTPStatus.OK, message, more)


async def _body(headers: Headers, receive: Receive) -> bytes:
    """The message, unpacked. Raises TooLarge before more than the limit is held, UnsupportedEncoding."""
    encoding = headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise UnsupportedEncoding(f"Content-Encoding {encoding[:100]!r} is not supported; send gzip, or no encoding")
    body = bytearray()
    more = True
    while more:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise UnsupportedEncoding("The body ended before it was complete")
        body += event.get("body", b"")
        more = event.get("more_body", False)
        _require_fitting(len(body))
    return bytes(body) if encoding == "identity" else _unpacked(bytes(body))


def _unpacked(body: bytes) -> bytes:
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        # One byte over the limit shows that a message is too large, without unpacking the rest.
        message = unpacking.decompress(body, MAX_MESSAGE_BYTES + 1)
    except zlib.error as error:
        raise UnsupportedEncoding("The body is not gzip") from error
    _require_fitting(len(message))
    if not unpacking.eof or unpacking.unused_data:
        raise UnsupportedEncoding("The body is not one whole gzip stream")
    return message


def _require_fitting(size: int) -> None:
    if size > MAX_MESSAGE_BYTES:
        raise errors.TooLarge(f"The message is over {MAX_MESSAGE_BYTES:,} bytes")


def _more(status: HTTPStatus) -> dict[str, str]:
    if status == HTTPStatus.UNAUTHORIZED:
        return {"www-authenticate": "Bearer"}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        # So that a whole fleet does not ask again in the same second after an outage.
        return {"retry-after": str(random.randint(5, 20))}  # noqa: S311  not a secret
    return {}


async def _problem(
    scope: Scope, send: Send, status: HTTPStatus, code: str, detail: str, headers: Mapping[str, str]
) -> None:
    problem = {
        "type": f"urn:headgate:problem:{code}",
        "title": status.phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": scope.get("state", {}).get("request_id", ""),
    }
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        logger.warning("outage", code=code, detail=detail)
    await _send(send, status, json.dumps(problem).encode(), {"content-type": "application/problem+json", **headers})


async def _send(send: Send, status: HTTPStatus, body: bytes, headers: Mapping[str, str]) -> None:
    packed = [(name.encode(), value.encode()) for name, value in {**headers, "content-length": str(len(body))}.items()]
    await send({"type": "http.response.start", "status": int(status), "headers": packed})
    await send({"type": "http.response.body", "body": body})


app = RequestContext(endpoint)
handler = OneAtATime(app, lifespan="off", text_mime_types=["application/problem+json"])

if metrics.in_lambda():
    # During the function's initialization, which has a whole processor; the first message does not wait for it then.
    service.warm()

"""Makes boto3 refuse responses of AWS that are not complete.

boto3 accepts what arrived before a connection broke, and takes a response that it cannot parse for an empty one: an
item that exists would be reported as missing. Here such a response becomes a 502, which boto3 retries like any other
and raises in the end. The same happens to errors that S3 sends with status 200.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast
from xml.etree import ElementTree
from zlib import crc32

if TYPE_CHECKING:
    from botocore.awsrequest import AWSResponse
    from botocore.client import BaseClient
    from botocore.model import OperationModel

_CRC32: Final = "x-amz-crc32"


def require_complete(client: BaseClient) -> None:
    """From now on the client retries a response that is not complete, and raises ClientError if it stays so."""
    events = client.meta.events
    service = client.meta.service_model.service_id.hyphenize()
    events.register_last(f"before-parse.{service}.*", _refuse_partial)
    # Before boto3's own handler, which is registered for the service without an operation.
    events.register_first(f"needs-retry.{service}.*", _use_parsed_status)


def _refuse_partial(operation_model: OperationModel, response_dict: MutableMapping[str, object], **_: object) -> None:
    status, body = response_dict["status_code"], response_dict["body"]
    # Whoever reads a stream checks it (headgate.storage.objects), and a 5xx is an error already.
    if not isinstance(body, bytes) or not isinstance(status, int) or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return
    headers = cast("Mapping[str, str]", response_dict["headers"])
    if not _is_complete(operation_model, status, headers, body):
        response_dict.update(status_code=int(HTTPStatus.BAD_GATEWAY), body=b"")


def _use_parsed_status(response: tuple[AWSResponse, Mapping[str, Mapping[str, int]]] | None, **_: object) -> None:
    if response is not None:
        http, parsed = response
        http.status_code = parsed.get("ResponseMetadata", {}).get("HTTPStatusCode", http.status_code)


def _is_complete(model: OperationModel, status: int, headers: Mapping[str, str], body: bytes) -> bool:
    length, checksum = headers.get("content-length"), headers.get(_CRC32)
    if model.http["method"] == "HEAD":
        return length is not None or status != HTTPStatus.OK
    if status == HTTPStatus.NO_CONTENT:
        return True
    if length is not None and length != str(len(body)):
        return False
    if checksum is not None:
        return checksum == str(crc32(body))
    if not body:
        return length is not None if status >= HTTPStatus.MULTIPLE_CHOICES else not _has_content(model)
    match model.service_model.resolved_protocol:
        case "json":
            return _is_object(body)
        case "rest-xml":
            return _is_document(body)
    return True


def _has_content(model: OperationModel) -> bool:
    """True if a successful response has content in its body, and not in its headers only."""
    members = model.output_shape.members.values() if model.output_shape is not None else ()
    return any("location" not in member.serialization for member in members)


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except ValueError:
        return False


def _is_document(body: bytes) -> bool:
    try:
        ElementTree.fromstring(body)  # noqa: S314  boto3 parses it next, in the same way
    except ElementTree.ParseError:
        return False
    return True

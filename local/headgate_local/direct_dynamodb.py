"""Calls of this process's DynamoDB clients go to moto's handler itself, without a request.

A request is signed, sent, parsed and matched with moto's addresses, and its answer comes back the same way, which is
two thirds of the time of a read. botocore checks and serializes what is asked and parses what is answered as for a
request, and the handler is the patched one of `moto_patches`.

tests/contract/test_direct_dynamodb.py compares the two ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import Any, Final, cast

from botocore.awsrequest import AWSResponse
from botocore.parsers import JSONParser
from moto.core.parse import PROTOCOL_PARSERS
from moto.dynamodb.responses import DynamoHandler

from headgate_local import default_session
from headgate_local.moto_data import ACCOUNT, REGION

EVENT: Final = "before-call.dynamodb"

Answer = tuple[AWSResponse, dict[str, Any]]
"""A response, and what botocore parses from its body."""

_parser: Final = JSONParser()


def installed() -> AbstractContextManager[None]:
    """Until the end, clients that are made from boto3's default session call the handler directly."""
    return default_session.handling(EVENT, answered, last=True)


def answered(model: Any, params: Mapping[str, Any], **_: object) -> Answer | None:
    """The answer to a call, for botocore's event. None for a fault of the server: as a request, it is tried again."""
    handler = DynamoHandler()
    handler.region, handler.current_account = REGION, ACCOUNT
    handler.headers = params["headers"]
    handler.querystring, handler.uri_match, handler.response_headers = {}, {}, {}
    handler.params = PROTOCOL_PARSERS["json"](model).parse(cast("Any", params))
    status, headers, text = handler.call_action()
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return None
    body = text if isinstance(text, bytes) else text.encode()
    response = {"status_code": status, "headers": headers, "body": body, "context": {}}
    parsed: dict[str, Any] = _parser.parse(response, model.output_shape)
    if status >= HTTPStatus.MULTIPLE_CHOICES:
        shape = model.service_model.shape_for_error_code(parsed["Error"]["Code"])
        if shape is not None:
            # What an error says beside its code: a transaction's reasons, the item that stood in the way.
            parsed |= _parser.parse(response, shape)
    return AWSResponse(params["url"], status, headers, None), parsed

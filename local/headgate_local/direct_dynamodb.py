"""Calls of this process's DynamoDB clients go to moto's handler itself, without a request.

A request is serialized, signed, sent, parsed and matched with moto's addresses, and its answer comes back the same way,
which is most of the time of a read. The handler is the patched one of `moto_patches`; it gets a copy of what was asked,
and what it answers with items is not parsed. Handlers of botocore's events see a call as they see a request: its body
is serialized when somebody asks for it.

tests/contract/test_direct_dynamodb.py compares the two ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final, cast

from botocore.awsrequest import AWSResponse
from botocore.parsers import JSONParser
from moto.core.parse import PROTOCOL_PARSERS
from moto.dynamodb.responses import DynamoHandler

from headgate_local import default_session, moto_patches
from headgate_local.moto_data import ACCOUNT, REGION

EVENT: Final = "before-call.dynamodb"
_CLIENT: Final = "creating-client-class.dynamodb"

Answer = tuple[AWSResponse, dict[str, Any]]
"""A response, and what botocore parses from its body."""

_parser: Final = JSONParser()


@contextmanager
def installed() -> Iterator[None]:
    """Until the end, clients that are made from boto3's default session call the handler directly."""
    with default_session.handling(EVENT, answered, last=True), default_session.handling(_CLIENT, _derived):
        yield


def _derived(base_classes: list[type], **_: object) -> None:
    base_classes.insert(0, _Client)


class _Request(dict[str, Any]):
    """A request whose body is serialized when it is asked for."""

    def __init__(self, parts: Mapping[str, Any], asked: Mapping[str, Any], body: Callable[[], object]) -> None:
        super().__init__(parts)
        self.asked: Final = asked
        self._serialize: Final = body

    def __missing__(self, name: str) -> object:
        if name != "body":
            raise KeyError(name)
        self["body"] = body = self._serialize()
        return body


class _Client:
    """A client that makes the address and headers of an operation once, and not for each call."""

    _resolved: Any = None
    _parts: Final[dict[str, dict[str, Any]]] = {}

    def _resolve_endpoint_ruleset(self, *arguments: Any, **named: Any) -> Any:
        if self._resolved is None:
            client: Any = super()
            self._resolved = client._resolve_endpoint_ruleset(*arguments, **named)
        return self._resolved

    def _convert_to_request_dict(
        self,
        api_params: Mapping[str, Any],
        operation_model: Any,
        endpoint_url: str,
        context: object = None,
        **more: Any,
    ) -> _Request:
        client: Any = super()

        def whole() -> dict[str, Any]:
            converted: dict[str, Any] = client._convert_to_request_dict(
                api_params, operation_model, endpoint_url, context, **more
            )
            return converted

        known = f"{endpoint_url} {operation_model.name}"
        if known not in self._parts:
            self._parts[known] = {name: part for name, part in whole().items() if name not in ("body", "context")}
        parts = self._parts[known]
        of_call = {**parts, "headers": dict(parts["headers"]), "context": context}
        return _Request(of_call, api_params, lambda: whole()["body"])


def answered(model: Any, params: Mapping[str, Any], **_: object) -> Answer | None:
    """The answer to a call, for botocore's event. None for a fault of the server: as a request, it is tried again."""
    handler = DynamoHandler()
    handler.region, handler.current_account = REGION, ACCOUNT
    handler.headers = params["headers"]
    handler.querystring, handler.uri_match, handler.response_headers = {}, {}, {}
    if isinstance(params, _Request):
        handler.params = _copied(params.asked)
    else:
        handler.params = PROTOCOL_PARSERS["json"](model).parse(cast("Any", params))
    results = moto_patches.leave_result(handler)
    try:
        status, headers, text = handler.call_action()
    except ValueError:
        # Half a character cannot be encoded: moto's server answers 500.
        return None
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return None
    if results:
        members, about = model.output_shape.members, {"HTTPStatusCode": status, "HTTPHeaders": headers}
        items = {name: value for name, value in results[0].items() if value is not None and name in members}
        return AWSResponse(params["url"], status, headers, None), {**items, "ResponseMetadata": about}
    body = text if isinstance(text, bytes) else text.encode()
    response = {"status_code": status, "headers": headers, "body": body, "context": {}}
    parsed: dict[str, Any] = _parser.parse(response, model.output_shape)
    if status >= HTTPStatus.MULTIPLE_CHOICES:
        shape = model.service_model.shape_for_error_code(parsed["Error"]["Code"])
        if shape is not None:
            # What an error says beside its code: a transaction's reasons, the item that stood in the way.
            parsed |= _parser.parse(response, shape)
    return AWSResponse(params["url"], status, headers, None), parsed


def _copied(value: Any) -> Any:
    """Copy what was asked, with the types of JSON but for bytes: moto keeps parts of it."""
    if isinstance(value, Mapping):
        return {name: _copied(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(part) for part in value]
    return bytes(value) if isinstance(value, bytearray) else value

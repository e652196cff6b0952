"""API Gateway's HTTP API in front of a function: a request becomes an event in payload format 2.0, as on AWS.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

import base64
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

Event = dict[str, Any]
# Every other body travels in base64, forms as well.
_TEXT = ("text/", "application/json", "application/problem+json", "application/javascript", "application/xml")


def in_front_of(invoke: Callable[[Event], Any], route_key: str) -> ASGIApp:
    """An application that answers with the function's answer, and 500 if the function fails."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        event = _event(request, await request.body(), route_key)
        try:
            answer = await to_thread.run_sync(invoke, event)
            response = _response(answer)
        except AssertionError as error:
            print(error)
            response = JSONResponse({"message": "Internal Server Error"}, 500)
        await response(scope, receive, send)

    return application


def _event(request: Request, body: bytes, route_key: str) -> Event:
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    cookies = headers.pop("cookie", "")
    textual = request.headers.get("content-type", "").startswith(_TEXT) or not body
    event: Event = {
        "version": "2.0",
        "routeKey": route_key,
        "rawPath": request.scope["raw_path"].decode().partition("?")[0],
        "rawQueryString": request.scope["query_string"].decode(),
        "headers": headers,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "example",
            "domainName": headers.get("host", ""),
            "http": {
                "method": request.method,
                "path": request.url.path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": uuid4().hex[:16],
            "routeKey": route_key,
            "stage": "$default",
            "time": "20/Nov/2026:19:32:02 +0000",
            "timeEpoch": 1795202022000,
        },
        "isBase64Encoded": not textual,
    }
    if cookies:
        event["cookies"] = cookies.split("; ")
    if body:
        event["body"] = body.decode() if textual else base64.b64encode(body).decode()
    if request.query_params:
        event["queryStringParameters"] = {
            name: ",".join(request.query_params.getlist(name)) for name in request.query_params
        }
    return event


def _response(answer: Any) -> Response:
    body = answer.get("body") or ""
    content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
    response = Response(content, answer["statusCode"])
    for name, value in (answer.get("headers") or {}).items():
        response.headers[name] = str(value)
    for cookie in answer.get("cookies") or []:
        response.raw_headers.append((b"set-cookie", cookie.encode()))
    return response


def payload_bytes(event: Event) -> int:
    """The size that Lambda counts against its 6 MB."""
    return len(json.dumps(event).encode())

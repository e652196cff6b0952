"""AWS made to fail at one call of a request: every attempt of that call, or the first one only.

A call is what a store asks for (`get_item`); boto3 makes up to three attempts at it. Faults stand where a request
leaves this process, so everything of boto3 above that is as it is in production: its retries, its parsing, its errors.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final, Literal

import pytest
from botocore import endpoint
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.client import BaseClient
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError
from botocore.retries.quota import RetryQuota
from moto.core.botocore_stubber import BotocoreStubber

from headgate import aws

PLANTED: Final = "planted-words-of-aws-that-nobody-else-shall-read"
"""Stands in every error message of a fault."""

Kind = Literal["refused", "cut", "timeout", "throttled", "error", "denied", "garbage", "lost", "late"]
# What AWS has not carried out; of "lost", it has, and nobody hears of it.
NOT_DONE: Final[tuple[Kind, ...]] = ("refused", "cut", "timeout", "throttled", "error", "denied")
LASTING: Final[tuple[Kind, ...]] = (*NOT_DONE, "garbage", "lost")
PASSING: Final[tuple[Kind, ...]] = ("refused", "cut", "timeout", "throttled", "error", "garbage", "lost", "late")

_LATE_SECONDS: Final = 0.02
_THROTTLES: Final = {
    "dynamodb": (400, "ProvisionedThroughputExceededException"),
    "s3": (503, "SlowDown"),
    "stepfunctions": (400, "ThrottlingException"),
    "cognito-idp": (400, "TooManyRequestsException"),
}


@dataclass(frozen=True)
class Call:
    """A call that a request made: `dynamodb.GetItem`, and from which table where there is one."""

    service: str
    operation: str

    def __str__(self) -> str:
        return f"{self.service}.{self.operation}"


@dataclass(frozen=True)
class Fault:
    """What happens to the call number `at` of a request; with `once`, to its first attempt alone."""

    kind: Kind
    at: int
    once: bool = False


class Aws:
    """All calls of this process to AWS, counted from `begin`, with at most one fault among them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._fault: Fault | None = None
        self._lock = threading.Lock()
        self._current = threading.local()
        self._hit = 0

    def begin(self, fault: Fault | None = None) -> None:
        with self._lock:
            self.calls, self._fault, self._hit = [], fault, 0

    @property
    def hit(self) -> bool:
        """Whether the fault has happened."""
        return self._hit > 0

    def watch(self, client: BaseClient) -> None:
        service = str(client.meta.service_model.service_name)
        client.meta.events.register_first(f"before-call.{service}", self._called)

    def _called(self, model: Any, **_: object) -> None:
        with self._lock:
            self._current.number = len(self.calls)
            self.calls.append(Call(model.service_model.service_name, model.name))

    def sent(self, stubber: BotocoreStubber, event_name: str, request: AWSPreparedRequest) -> AWSResponse | None:
        """An attempt goes to moto, or meets the fault."""
        kind, call = self._fate()
        if kind is None:
            return _moto(stubber, event_name, request)
        if kind == "lost":
            _moto(stubber, event_name, request)
            raise ReadTimeoutError(endpoint_url=f"{request.url}#{PLANTED}")
        if kind == "late":
            time.sleep(_LATE_SECONDS)
            return _moto(stubber, event_name, request)
        return _answer(kind, call, str(request.url))

    def _fate(self) -> tuple[Kind | None, Call]:
        with self._lock:
            fault = self._fault
            number = getattr(self._current, "number", -1)
            if fault is None or number != fault.at or (fault.once and self._hit):
                return None, Call("", "")
            self._hit += 1
            return fault.kind, self.calls[number]


_moto: Final = BotocoreStubber.__call__


def _answer(kind: Kind, call: Call, url: str) -> AWSResponse:
    match kind:
        case "refused":
            raise EndpointConnectionError(endpoint_url=f"{url}#{PLANTED}")
        case "cut":
            raise ConnectionClosedError(endpoint_url=f"{url}#{PLANTED}")
        case "timeout":
            raise ReadTimeoutError(endpoint_url=f"{url}#{PLANTED}")
        case "throttled":
            return _error(call, url, *_THROTTLES[call.service])
        case "error":
            return _error(call, url, 500, "InternalServerError")
        case "denied":
            return _error(call, url, 400 if call.service != "s3" else 403, "AccessDeniedException")
        case "garbage":
            return _response(url, 502, f"<html>{PLANTED}".encode(), "text/html")
    raise AssertionError(kind)


def _error(call: Call, url: str, status: int, code: str) -> AWSResponse:
    if call.service == "s3":
        body = f"<Error><Code>{code}</Code><Message>{PLANTED}</Message></Error>"
        return _response(url, status, body.encode(), "application/xml")
    body = f'{{"__type":"com.amazon#{code}","message":"{PLANTED}"}}'
    return _response(url, status, body.encode(), "application/x-amz-json-1.1")


def _response(url: str, status: int, body: bytes, content_type: str) -> AWSResponse:
    return AWSResponse(url, status, {"content-type": content_type}, _Raw(body))  # type: ignore[arg-type]  as moto does


class _Raw(BytesIO):
    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


class _NoSleep:
    """The time module to boto3's endpoint, which waits between attempts."""

    def __getattr__(self, name: str) -> object:
        return getattr(time, name)

    @staticmethod
    def sleep(_: float) -> None:
        return


@contextmanager
def watched() -> Iterator[Aws]:
    """All calls of this process, its clients made anew and never out of the attempts that boto3 allows itself."""
    found = Aws()
    quota: Callable[[RetryQuota, int], bool] = lambda _quota, _amount: True  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoint, "time", _NoSleep())
        patch.setattr(RetryQuota, "acquire", quota)
        patch.setattr(
            BotocoreStubber,
            "__call__",
            lambda stubber, event_name, request, **_: found.sent(stubber, event_name, request),
        )
        aws.forget_clients()
        for client in (aws.dynamodb(), aws.s3(), aws.stepfunctions(), aws.cognito()):
            found.watch(client)
        yield found
    aws.forget_clients()

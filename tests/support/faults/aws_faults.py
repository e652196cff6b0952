"""AWS made to fail at one call of a request: every attempt of that call, or the first one only.

A call is what a store asks for (`get_item`); boto3 makes up to three attempts at it. Here faults stand where boto3
hands a request to its HTTP client, so its retries, its parsing and its errors are as in production; in `socket_faults`
they stand in the connection itself.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
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

from headgate.storage import aws
from headgate_local import direct_dynamodb
from tests.support.faults.faulty_proxy import NOT_HANDED_ON, Break

PLANTED: Final = "planted-words-of-aws-that-nobody-else-shall-read"
"""Stands in every error message of a fault."""

Kind = Literal["refused", "cut", "timeout", "throttled", "error", "denied", "garbage", "lost", "unsure", "late"]
SocketKind = Literal["refused", Break]
# AWS has not carried these out. It has carried out "lost" calls, which nobody hears of, and "unsure" ones, with a 500.
NOT_DONE: Final[tuple[Kind, ...]] = ("refused", "cut", "timeout", "throttled", "error", "denied")
LASTING: Final[tuple[Kind, ...]] = (*NOT_DONE, "garbage", "lost", "unsure")
PASSING: Final[tuple[Kind, ...]] = (*(kind for kind in LASTING if kind != "denied"), "late")

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
    """What happens to the call number `at` of a request; with `once`, to its first attempt alone, and with `onwards`,
    to all later calls of that service too."""

    kind: Kind | SocketKind
    at: int
    once: bool = False
    onwards: bool = False

    @property
    def may_be_done(self) -> bool:
        """Whether AWS may have carried out the call."""
        return self.kind not in (*NOT_DONE, *NOT_HANDED_ON)


class Aws:
    """All calls of this process to AWS, counted from `begin`, with at most one fault among them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        # Returns once AWS has done all that it will still do of what was sent.
        self.settle: Callable[[], None] = lambda: None
        self._fault: Fault | None = None
        self._lock = threading.Lock()
        self._current = threading.local()
        self._hit = 0
        self._asked_at_fault: object = None

    def begin(self, fault: Fault | None = None) -> None:
        with self._lock:
            self.calls, self._fault, self._hit, self._asked_at_fault = [], fault, 0, None
            self._current = threading.local()

    def heal(self) -> None:
        """From now on nothing fails."""
        with self._lock:
            self._fault = None

    @property
    def hit(self) -> bool:
        """Whether the fault has happened."""
        return self._hit > 0

    def watch_clients(self) -> None:
        """Make the clients of this process anew, and count their calls."""
        aws.forget_clients()
        for client in (aws.dynamodb(), aws.s3(), aws.stepfunctions(), aws.cognito()):
            self.watch(client)

    def watch(self, client: BaseClient) -> None:
        service = str(client.meta.service_model.service_name)
        client.meta.events.register_first(f"before-call.{service}", self._called)

    def _called(self, model: Any, params: Mapping[str, Any], **_: object) -> None:
        asked = (model.name, params["url_path"], params["query_string"], params["body"])
        with self._lock:
            fault = self._fault
            if fault is not None and not fault.once and self._still_there(fault, model, asked):
                self._current.number = fault.at
                return
            self._current.number = len(self.calls)
            self.calls.append(Call(model.service_model.service_name, model.name))
            if fault is not None and self._current.number == fault.at:
                self._asked_at_fault = asked

    def _still_there(self, fault: Fault, model: Any, asked: object) -> bool:
        """Whether the fault that has happened meets this call too: the same asked for anew, or any of its service."""
        if fault.onwards and len(self.calls) > fault.at:
            return self.calls[fault.at].service == str(model.service_model.service_name)
        return asked == self._asked_at_fault

    @property
    def is_next(self) -> bool:
        """Whether the fault meets the next attempt of this thread's call."""
        with self._lock:
            return self._is_next()

    def _is_next(self) -> bool:
        fault = self._fault
        at = getattr(self._current, "number", -1)
        return fault is not None and at == fault.at and not (fault.once and self._hit)

    def fate(self) -> tuple[Kind | SocketKind | None, Call]:
        """What an attempt that is about to be sent meets, and of which call it is."""
        with self._lock:
            fault = self._fault
            if fault is None or not self._is_next():
                return None, Call("", "")
            self._hit += 1
            return fault.kind, self.calls[fault.at]


class _InProcess(Aws):
    """Calls to moto in this process. Those of DynamoDB that meet no fault need no request."""

    def watch(self, client: BaseClient) -> None:
        super().watch(client)
        events = client.meta.events
        events.unregister(direct_dynamodb.EVENT, direct_dynamodb.answered)
        events.register_last(direct_dynamodb.EVENT, self._answered)

    def _answered(self, **asked: Any) -> direct_dynamodb.Answer | None:
        return None if self.is_next else direct_dynamodb.answered(**asked)


_moto: Final = BotocoreStubber.__call__


def _sent(aws: Aws, stubber: BotocoreStubber, event_name: str, request: AWSPreparedRequest) -> AWSResponse | None:
    """An attempt goes to moto, or meets the fault."""
    kind, call = aws.fate()
    if kind is None:
        return _moto(stubber, event_name, request)
    if kind == "lost":
        _moto(stubber, event_name, request)
        raise ReadTimeoutError(endpoint_url=f"{request.url}#{PLANTED}")
    if kind == "unsure":
        _moto(stubber, event_name, request)
        return _error(call, str(request.url), 500, "InternalServerError")
    if kind == "late":
        time.sleep(_LATE_SECONDS)
        return _moto(stubber, event_name, request)
    return _answer(kind, call, str(request.url))


def _answer(kind: Kind | SocketKind, call: Call, url: str) -> AWSResponse:
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
            if call.service == "s3":
                return _error(call, url, 403, "AccessDenied")
            return _error(call, url, 400, "AccessDeniedException")
        case "garbage":
            return _response(url, 502, f"<html>{PLANTED}".encode(), "text/html")
    raise AssertionError(kind)


def _error(call: Call, url: str, status: int, code: str) -> AWSResponse:
    if call.service == "s3":
        # What is asked for its head alone has no body.
        body = "" if "Head" in call.operation else f"<Error><Code>{code}</Code><Message>{PLANTED}</Message></Error>"
        return _response(url, status, body.encode(), "application/xml")
    body = f'{{"__type":"com.amazon#{code}","message":"{PLANTED}"}}'
    return _response(url, status, body.encode(), "application/x-amz-json-1.1")


def _response(url: str, status: int, body: bytes, content_type: str) -> AWSResponse:
    return AWSResponse(url, status, {"content-type": content_type}, _Raw(body))  # type: ignore[arg-type]  # moto itself passes a body that is not bytes


class _Raw(BytesIO):
    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


class NoSleep:
    """The time module to boto3's endpoint, which waits between attempts."""

    def __getattr__(self, name: str) -> object:
        return getattr(time, name)

    @staticmethod
    def sleep(_: float) -> None:
        return


@contextmanager
def counted(found: Aws) -> Iterator[None]:
    """Calls of this process are counted by `found`, its clients never out of the attempts that boto3 allows itself."""

    def grant(_quota: RetryQuota, _amount: int) -> bool:
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoint, "time", NoSleep())
        patch.setattr(RetryQuota, "acquire", grant)
        found.watch_clients()
        yield
    aws.forget_clients()


@contextmanager
def watched() -> Iterator[Aws]:
    """The calls that go to moto in this process, with faults before it."""
    found = _InProcess()
    with counted(found), pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            BotocoreStubber,
            "__call__",
            lambda stubber, event_name, request, **_: _sent(found, stubber, event_name, request),
        )
        yield found

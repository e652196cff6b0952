"""Asks the Lambda function that has the collectors and no rights; its handler is functions/checker."""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Mapping
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError

from headgate.checker import published
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import logger
from headgate.storage import aws, objects
from headgate.storage.aws import InvokeResponse, LambdaClient
from headgate_engine.checker import messages
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.descriptions import Described
from headgate_engine.checker.errors import (
    KINDS,
    CheckerBusy,
    CheckerFailed,
    CheckerUnreachable,
    CollectorNotFetched,
    NotInstalled,
    Refused,
)
from headgate_engine.checker.messages import Malformed, Message
from headgate_engine.checker.plain_command import PlainVerdict
from headgate_engine.collector import VERSION, by_age

PREFIX: Final = "checks/"
"""The prefix of the objects that hold questions too large for an invocation."""
_LINK_SECONDS: Final = 60
_TRIES: Final = 2
_PATIENCE: Final = (24, 18, 12, 6)
_PAUSE_SECONDS: Final = 0.2
# Lambda's own messages.
_ENDED: Final = (b"Task timed out after", b"Sandbox.Timedout", b"Runtime.OutOfMemory", b"signal: killed")
_BUSY: Final = ("TooManyRequestsException", "EC2ThrottledException", "ThrottlingException")
_PASSING: Final = (*_BUSY, "ServiceException", "ResourceNotReadyException", "500", "502", "503", "504")


class CheckerFunction:
    """Asks the function of that name or ARN, for each organization in an execution environment of its own.

    It raises what `Checker` raises, and CheckerUnreachable if the function could not be asked.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def call(
        self,
        op: str,
        fields: Mapping[str, object],
        *,
        asker: Asker,
        version: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, object]:
        """The result of one operation; see `Checker.call`."""
        question = {"op": op, "request": dict(fields), "version": version, "timeout": timeout}
        question |= {"organization_id": asker.organization_id, "credential_id": asker.credential_id}
        source = None if version is None else published.source(version, _LINK_SECONDS)
        try:
            try:
                return _result(self._ask(question, source, asker))
            except CollectorNotFetched:
                newer = _published_since(version, source)
                if newer is None:
                    raise
                return _result(self._ask(question, newer, asker))
        except NotInstalled as error:
            raise NotInstalled(error.version, _with_published(error.installed)) from error

    def validate_plainly(
        self, yaml: str, env: dict[str, str], *, asker: Asker, version: str | None = None, timeout: float | None = None
    ) -> PlainVerdict:
        """The plain command's verdict; see `Checker.validate_plainly`."""
        asked = {"yaml": yaml, "env": env}
        match self.call("validate_plainly", asked, asker=asker, version=version, timeout=timeout):
            case {"valid": bool(valid), "message": str(message)}:
                return PlainVerdict(valid, message)
        raise CheckerUnreachable("The collector's function answered without a verdict")

    def installed(self, *, asker: Asker) -> tuple[str, ...]:
        """The installed versions."""
        match self.call("installed", {}, asker=asker):
            case {"versions": list(versions)}:
                return _with_published(tuple(str(version) for version in versions))
        raise CheckerUnreachable("The collector's function did not say what is installed")

    def describe(self, version: str, *, asker: Asker) -> dict[str, object]:
        """Describe the build of that version, as its binary does; see `Checker.describe`."""
        return self.call("describe", {}, asker=asker, version=version)

    def described(self, *, asker: Asker) -> tuple[Described, ...]:
        """The installed versions and then the published ones, with what their binaries say of themselves."""
        match self.call("described", {}, asker=asker):
            case {"collectors": list(entries)}:
                here = tuple(map(_described, entries))
                known = {each.version for each in here}
                return (*here, *(each for each in published.described() if each.version not in known))
        raise CheckerUnreachable("The collector's function did not say what is installed")

    def _ask(self, question: Message, source: Message | None, asker: Asker) -> Message:
        envelope = messages.packed(question)
        # Beside the question, which may be stored.
        collector = {} if source is None else {"collector": source}
        body = json.dumps({**envelope, **collector}).encode()
        if len(body) <= messages.LARGEST_INVOCATION:
            return self._invoked(body, asker)
        key = _stored(json.dumps(envelope).encode())
        try:
            url = objects.link(key, _LINK_SECONDS)
            return self._invoked(json.dumps({"url": url, **collector}).encode(), asker)
        finally:
            _remove(key)

    def _invoked(self, body: bytes, asker: Asker) -> Message:
        response = self._invoke(body, asker)
        if "FunctionError" in response:
            failed = CheckerUnreachable("The collector's function failed")
            failed.no_fault = _ended_by_a_text(_whole(response))
            raise failed
        try:
            return messages.unpacked(messages.parsed(_whole(response)))
        except Malformed as malformed:
            raise CheckerUnreachable(f"The collector's function answered {malformed}") from malformed

    def _invoke(self, body: bytes, asker: Asker) -> InvokeResponse:
        tries = _TRIES
        while True:
            tries -= 1
            try:
                return _client(asker).invoke(FunctionName=self._name, Payload=body, TenantId=asker.organization_id)
            except ReadTimeoutError as error:
                # A second try would take as long, and the client would have given up.
                raise CheckerUnreachable("The collector's function did not answer in time") from error
            except BotoCoreError as error:
                logger.warning("checker_function_unreachable", kind=type(error).__name__)
                if not tries:
                    raise CheckerUnreachable("The collector's function could not be reached") from error
            except ClientError as error:
                code = error.response["Error"]["Code"]
                logger.warning("checker_function_refused", aws_code=code)
                if code not in _PASSING or not tries:
                    raise _refusal(code) from error
            time.sleep(_PAUSE_SECONDS)


def _client(asker: Asker) -> LambdaClient:
    """One that waits as long as the asker has time; a client for every length would take long to make."""
    left = math.inf if asker.ends is None else asker.ends - time.monotonic()
    return aws.functions(next((seconds for seconds in _PATIENCE if seconds <= left), _PATIENCE[-1]))


def _published_since(version: str | None, source: Message | None) -> Message | None:
    """Read the published collector of that version again; None if it is still the one that could not be fetched."""
    if version is None or source is None:
        return None
    published.forget()
    newer = published.source(version, _LINK_SECONDS)
    return newer if newer is not None and newer["sha256"] != source["sha256"] else None


def _with_published(installed: tuple[str, ...]) -> tuple[str, ...]:
    here = (version for version in installed if VERSION.fullmatch(version))
    return tuple(sorted({*here, *(each.version for each in published.described())}, key=by_age))


def _ended_by_a_text(message: bytes) -> bool:
    """True if the text took the function too long or too much memory."""
    return any(words in message for words in _ENDED)


def _refusal(code: str) -> Unavailable:
    if code in _BUSY:
        return CheckerBusy("The collector's function is busy")
    return CheckerUnreachable("The collector's function could not be asked")


def _described(entry: object) -> Described:
    match entry:
        case {"version": str(version), "description": dict() | None as description, "unusable": str(unusable)}:
            if VERSION.fullmatch(version):
                return Described(version, description, unusable)
    raise CheckerUnreachable("The collector's function described what is installed in an unknown form")


def _result(answer: Message) -> dict[str, object]:
    match answer:
        case {"result": dict(result)}:
            return result
        case {"error": {"kind": "refused", "code": str(code), "message": str(message)}}:
            raise Refused(code, message)
        case {"error": {"kind": "not_installed", "code": str(version), "installed": list(installed)}}:
            raise NotInstalled(version, tuple(str(each) for each in installed))
        case {"error": {"kind": "failed", "message": str(message), "crash": str(crash)}}:
            raise CheckerFailed(message, crash)
        case {"error": {"kind": str(kind), "message": str(message)}} if kind in KINDS and kind != "not_installed":
            raise KINDS[kind](message)
    raise CheckerUnreachable("The collector's function answered in an unknown form")


def _whole(response: InvokeResponse) -> bytes:
    """The answer's bytes. Raises CheckerUnreachable if the answer is too large or incomplete."""
    limit = messages.LARGEST_INVOCATION + (1 << 20)
    try:
        text = response["Payload"].read(limit + 1)
        # botocore compares the length only in the read that finds the end.
        text += response["Payload"].read(1)
    except (BotoCoreError, OSError) as error:
        raise CheckerUnreachable("The collector's function broke off its answer") from error
    if len(text) > limit:
        raise CheckerUnreachable(f"The collector's function answered more than {limit} bytes")
    return text


def _stored(body: bytes) -> str:
    """Store a question that is too large for an invocation. Returns its key; raises CheckerUnreachable."""
    key = PREFIX + secrets.token_hex(16)
    try:
        objects.write(key, body)
    except (BotoCoreError, ClientError) as error:
        raise CheckerUnreachable("The text is too large to be sent to the collector just now") from error
    return key


def _remove(key: str) -> None:
    try:
        objects.delete(key)
    except (BotoCoreError, ClientError):
        # The bucket's lifecycle removes it within a day or two.
        logger.warning("checker_question_left", key=key)

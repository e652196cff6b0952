"""Answers CloudFormation for a custom resource: whether it could be made, with the reason that operators read."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from typing import Final

from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import logger

_SECONDS: Final = 20
_LONGEST_REASON: Final = 1_000

Properties = Mapping[str, object]


def answer(event: Mapping[str, object], name: str, act: Callable[[Properties], Mapping[str, str]]) -> None:
    """Let `act` make the resource of that name, and tell CloudFormation its attributes, or why it failed."""
    properties = event["ResourceProperties"]
    assert isinstance(properties, Mapping)
    reason, attributes = "", {}
    try:
        attributes = dict(act(properties))
    except HeadgateError as error:
        reason = error.detail
    except Exception as error:  # noqa: BLE001  without an answer, CloudFormation waits an hour
        logger.error("custom_resource_failed", resource=name, kind=type(error).__name__)
        reason = f"{type(error).__name__}; the function's log has more"
    body = {
        "Status": "FAILED" if reason else "SUCCESS",
        "Reason": reason[:_LONGEST_REASON] or "Done",
        "PhysicalResourceId": event.get("PhysicalResourceId") or name,
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Data": attributes,
    }
    _put(str(event["ResponseURL"]), json.dumps(body).encode())


def _put(url: str, content: bytes) -> None:
    # A signed URL of S3, which counts an unexpected content type as a wrong signature. Only CloudFormation may invoke
    # the functions that answer so, and the URL is its own, so the scheme is not looked at.
    request = urllib.request.Request(url, content, {"Content-Type": ""}, method="PUT")  # noqa: S310  a URL of S3 from CloudFormation
    with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310  a URL of S3 from CloudFormation
        pass

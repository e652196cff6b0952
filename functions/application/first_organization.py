"""The first organization of a stack and its Admin: a custom resource that CloudFormation creates with the stack."""

import json
import urllib.request
from collections.abc import Mapping
from typing import Final

from headgate.foundation.errors import HeadgateError
from headgate.identity import people
from headgate.observability.log import logger

_SECONDS: Final = 20


def handler(event: Mapping[str, object], _context: object) -> None:
    """Create them with the stack, and tell CloudFormation. An update or a deletion changes nothing."""
    properties = event["ResourceProperties"]
    assert isinstance(properties, Mapping)
    reason = ""
    if event["RequestType"] == "Create":
        try:
            people.begin_deployment(
                str(properties["Organization"]), str(properties["AdminEmail"]), str(properties["Url"])
            )
        except HeadgateError as error:
            reason = error.detail
        except Exception as error:  # noqa: BLE001  without an answer, CloudFormation waits an hour
            logger.error("first_organization_failed", kind=type(error).__name__)
            reason = f"{type(error).__name__}; the function's log has more"
    answer = {
        "Status": "FAILED" if reason else "SUCCESS",
        "Reason": reason or "Done",
        "PhysicalResourceId": event.get("PhysicalResourceId") or "first-organization",
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
    }
    _put(str(event["ResponseURL"]), json.dumps(answer).encode())


def _put(url: str, content: bytes) -> None:
    # A signed URL of S3, which counts an unexpected content type as a wrong signature.
    request = urllib.request.Request(url, content, {"Content-Type": ""}, method="PUT")  # noqa: S310  the URL is in CloudFormation's event
    with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310  likewise
        pass

"""Causes of errors. The alarms that roll a deployment back count only ours: a rollback mends nothing else."""

from __future__ import annotations

from typing import Final, Literal

from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError, IncompleteReadError

from headgate.foundation.errors import HeadgateError, Unavailable

Blame = Literal["ours", "aws", "caller"]

# AWS does not answer, or throttles.
_PASSING: Final = (ConnectionError, HTTPClientError, IncompleteReadError)
_THROTTLED: Final = (
    "EC2ThrottledException",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "SlowDown",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
)


def blame(error: BaseException) -> Blame:
    """Classify an error: a defect, a missing right and a missing resource are ours, AWS not answering is AWS's.

    An outage has the blame of its cause.
    """
    match error:
        case Unavailable() if error.no_fault:
            return "caller"
        case HeadgateError() if isinstance(error.__cause__, HeadgateError | BotoCoreError | ClientError):
            return blame(error.__cause__)
        case ClientError():
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            return "aws" if status >= 500 or error.response["Error"]["Code"] in _THROTTLED else "ours"
    return "aws" if isinstance(error, _PASSING) else "ours"


def aws_code(error: Exception) -> str:
    """AWS's own code of an error, or the name of its class if AWS gave none."""
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__

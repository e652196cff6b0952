"""What the alarms and the dashboard count, in CloudWatch's embedded metric format: a line of the log, no call.

Nothing that anybody sends becomes a name, a value or a dimension. Outside Lambda nothing is written.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from aws_lambda_powertools.metrics import EphemeralMetrics

if TYPE_CHECKING:
    from headgate.observability.faults import Blame

# Of each function by its name, since a deployment of one function is rolled back by its own errors.
OfFunction = Literal["Requests", "Outages", "ServerErrors"]
# Of the whole deployment.
OfDeployment = Literal[
    "CheckerFallbacks", "RunsSuccess", "RunsFail", "RunsError", "RunStepsFailed", "ExpectedStepErrors"
]

_NAMESPACE: Final = "Headgate"


def count(name: OfDeployment, at: datetime | None = None) -> None:
    """Add one to a metric, in a line of its own; of that moment, if it is to be compared with one of Lambda's own."""
    if _in_lambda():
        metrics = _metrics()
        if at is not None:
            metrics.set_timestamp(at)
        metrics.add_metric(name, "Count", 1)
        metrics.flush_metrics()


def of_request(status: int, blame: Blame = "ours") -> dict[str, object]:
    """What makes a metric of the log line of a request: fields to add to it. Its level has to be one that is logged.

    A status of 500 and above is an outage unless the caller brought it about, and a server error only if it is ours: an
    alarm undoes a deployment for those.
    """
    if not _in_lambda():
        return {}
    metrics = _metrics()
    metrics.add_dimension("function", os.environ["AWS_LAMBDA_FUNCTION_NAME"])
    for name in _of_status(status, blame):
        metrics.add_metric(name, "Count", 1)
    serialized = metrics.serialize_metric_set()
    # Of all functions together as well: an alarm that names none can end the deployment of any.
    serialized["_aws"]["CloudWatchMetrics"][0]["Dimensions"].append([])
    return dict(serialized)


def _of_status(status: int, blame: Blame) -> tuple[OfFunction, ...]:
    # A metric is paid for in hours in which it has a value.
    if status < 500 or blame == "caller":
        return ("Requests",)
    return ("Requests", "Outages", "ServerErrors") if blame == "ours" else ("Requests", "Outages")


def _metrics() -> EphemeralMetrics:
    # The namespace is the stack's name, so that two stacks of an account do not count together.
    return EphemeralMetrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", _NAMESPACE))


def _in_lambda() -> bool:
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ

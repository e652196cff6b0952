"""Metrics for alarms and the dashboard, in CloudWatch's embedded format: a log line instead of a call.

No input becomes a name, a value or a dimension. Outside Lambda nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from aws_lambda_powertools.metrics import EphemeralMetrics

from headgate_engine.checker.limits import in_lambda as in_lambda

if TYPE_CHECKING:
    from headgate.foundation.faults import Blame

# Per function: a function's deployment is rolled back by its own errors.
OfFunction = Literal["Requests", "Outages", "ServerErrors"]
# For the whole stack.
OfDeployment = Literal[
    "CheckerFallbacks", "RunsSuccess", "RunsFail", "RunsError", "RunStepsFailed", "ExpectedStepErrors"
]

_NAMESPACE: Final = "Headgate"


def count(name: OfDeployment, at: datetime | None = None) -> None:
    """Add one to a metric, in a log line of its own. `at` is for metrics that are compared with one of Lambda's own."""
    if in_lambda():
        metrics = _metrics()
        if at is not None:
            metrics.set_timestamp(at)
        metrics.add_metric(name, "Count", 1)
        metrics.flush_metrics()


def walls(names: Sequence[str]) -> None:
    """Record how many walls are around the collector, in a log line that names them."""
    if in_lambda():
        metrics = _metrics()
        metrics.add_metric("CheckerWalls", "Count", len(names))
        metrics.add_metadata("walls", ", ".join(names))
        metrics.flush_metrics()


def of_request(status: int, blame: Blame = "ours") -> dict[str, object]:
    """Fields that turn the log line of a request into metrics. The line has to be of a level that is logged.

    A status of 500 and above is an outage unless the caller caused it, and a server error only if the fault is ours: an
    alarm on server errors rolls a deployment back.
    """
    if not in_lambda():
        return {}
    metrics = _metrics()
    metrics.add_dimension("function", os.environ["AWS_LAMBDA_FUNCTION_NAME"])
    for name in _of_status(status, blame):
        metrics.add_metric(name, "Count", 1)
    serialized = metrics.serialize_metric_set()
    # Without the dimension as well, for alarms on all functions together.
    serialized["_aws"]["CloudWatchMetrics"][0]["Dimensions"].append([])
    return dict(serialized)


def _of_status(status: int, blame: Blame) -> tuple[OfFunction, ...]:
    # CloudWatch charges for every hour in which a metric has a value.
    if status < 500 or blame == "caller":
        return ("Requests",)
    return ("Requests", "Outages", "ServerErrors") if blame == "ours" else ("Requests", "Outages")


def _metrics() -> EphemeralMetrics:
    # The namespace is the stack's name, which keeps two stacks of an account apart.
    return EphemeralMetrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", _NAMESPACE))

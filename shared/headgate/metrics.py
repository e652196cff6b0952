"""What the alarms and the dashboard count, in CloudWatch's embedded metric format: a line of the log, no call.

Nothing that anybody sends becomes a name, a value or a dimension. Outside Lambda nothing is written.
"""

import os
from typing import Final, Literal

from aws_lambda_powertools.metrics import EphemeralMetrics

# Of each function by its name, since a deployment of one function is rolled back by its own errors.
OfFunction = Literal["Requests", "ServerErrors"]
# Of the whole deployment.
OfDeployment = Literal["CheckerFallbacks", "RunsSuccess", "RunsFail", "RunsError", "RunStepsFailed"]

_NAMESPACE: Final = "Headgate"


def count(name: OfDeployment) -> None:
    """Add one to a metric, in a line of its own."""
    if _in_lambda():
        metrics = _metrics()
        metrics.add_metric(name, "Count", 1)
        metrics.flush_metrics()


def of_request(status: int, *, fault: bool = True) -> dict[str, object]:
    """What makes a metric of the log line of a request: fields to add to it. Its level has to be one that is logged.

    Without `fault`, a status of 500 and above is no server error: an alarm would undo a deployment for what was asked.
    """
    if not _in_lambda():
        return {}
    metrics = _metrics()
    metrics.add_dimension("function", os.environ["AWS_LAMBDA_FUNCTION_NAME"])
    for name, value in _of_status(status if fault else 0).items():
        metrics.add_metric(name, "Count", value)
    serialized = metrics.serialize_metric_set()
    # Of all functions together as well: an alarm that names none can end the deployment of any.
    serialized["_aws"]["CloudWatchMetrics"][0]["Dimensions"].append([])
    return dict(serialized)


def _of_status(status: int) -> dict[OfFunction, int]:
    # A metric is paid for in hours in which it has a value.
    return {"Requests": 1, "ServerErrors": 1} if status >= 500 else {"Requests": 1}


def _metrics() -> EphemeralMetrics:
    # The namespace is the stack's name, so that two stacks of an account do not count together.
    return EphemeralMetrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", _NAMESPACE))


def _in_lambda() -> bool:
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ

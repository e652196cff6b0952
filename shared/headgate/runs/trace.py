"""What a request for the steps of a run refuses."""

from headgate.foundation import errors
from headgate_engine.testing.trace import Trace


class RunNotTraced(errors.NotFound):
    """The run was started without `trace`."""

    code = "run_not_traced"

    def __init__(self) -> None:
        super().__init__("This test run was not traced")


class StepNotFound(errors.NotFound):
    """The run has fewer steps, or its steps are not available."""

    code = "step_not_found"

    def __init__(self, trace: Trace) -> None:
        steps = f"No such step; this run has {len(trace.items)}"
        super().__init__(steps if trace.available else f"The steps of this run are not available: {trace.reason}")

"""The first versions of groups whose collectors ran something before they were managed: compared before anything is
changed, because the server refuses to roll out another one."""

from __future__ import annotations

import shlex
from dataclasses import replace

from headgate_cli.api import Api
from headgate_cli.apply.found import ServerContent
from headgate_cli.apply.steps import ApplyPlan, ApplyStep, Assign
from headgate_cli.shapes import AssignmentCheck

_DIFFERS = "differs_from_running"


def compared(api: Api, plan: ApplyPlan, there: ServerContent) -> ApplyPlan:
    """Refuse each first version that hosts differ from; a request for each. One that is not published yet is compared
    when it is rolled out."""
    return replace(plan, steps=[_compared(api, step, there) for step in plan.steps])


def _compared(api: Api, step: ApplyStep, there: ServerContent) -> ApplyStep:
    if not isinstance(step, Assign) or step.target is None or step.current is None:
        return step
    configuration = there.by_id.get(step.target.id)
    if not step.current.first_by_rollout or configuration is None or step.target.n > configuration.published:
        return step
    path = f"/fleets/{there.fleets[step.fleet].id}/deployments/{step.current.id}/assignment-check"
    version = {"configuration_id": step.target.id, "version_number": step.target.n}
    warnings = api.post(AssignmentCheck, path, version)["warnings"]
    differences = [warning["message"] for warning in warnings if warning["code"] == _DIFFERS]
    if not differences:
        return step
    more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
    version_name = f"{step.target.name}@{step.target.n}"
    start = shlex.join(["headgate", "rollout", "start", step.fleet, step.group.name, version_name, "--force"])
    reason = (
        f"{differences[0]}{more}; `headgate fleet adopt` makes a draft of what a host runs, `{start}` starts it all "
        "the same"
    )
    return ApplyStep(kind=step.kind, name=step.name, action="refused", reason=reason)

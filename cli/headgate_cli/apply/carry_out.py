"""Carrying out a plan, step by step: what fails leaves the others alone, and what depends on it is not begun."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from headgate_cli.api import Api, ServerError
from headgate_cli.apply.carry_configurations import CHANGED_MEANWHILE, Configurations
from headgate_cli.apply.carry_fleets import Fleets
from headgate_cli.apply.found import ServerContent
from headgate_cli.apply.state import Recorder
from headgate_cli.apply.steps import (
    IDLE,
    ApplyPlan,
    ApplyStep,
    Assign,
    ChangeGroup,
    CreateGroup,
    FleetCreation,
    OfGroup,
    Publish,
    RemoveConfiguration,
    RemoveFleet,
    RemoveGroup,
    SaveConfiguration,
    SetPolicies,
)
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.policies import files as policy_files
from headgate_cli.shaped import PlainAnswer

Result = Literal["done", "failed", "skipped", "left_out", "not_begun"]
# What another member, or an Admin, may do.
_NOT_ALLOWED: Final = ("not_the_owner",)


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The outcome of a step; `message` is why it was not done."""

    step: ApplyStep
    result: Result
    message: str = ""


class Carrier:
    """Carries out the steps of one plan. `outcomes` has what became of each so far."""

    def __init__(
        self, api: Api, recorder: Recorder, current: ServerContent, *, secrets: Mapping[str, str], message: str
    ) -> None:
        self._api = api
        self._configurations = Configurations(api, recorder, current.caller, message)
        self._fleets = Fleets(api, recorder, current, self._configurations.ids, secrets, message)
        self.outcomes: list[StepOutcome] = []

    def carry_out(self, plan: ApplyPlan, tell: Callable[[StepOutcome], None]) -> None:
        """Each step once. Raises NotAuthenticated and Unreachable, after which further requests are useless."""
        self._configurations.look_again(plan)
        for step in plan.steps:
            if step.action in IDLE:
                continue
            outcome = self._outcome(step)
            self.outcomes.append(outcome)
            tell(outcome)

    def _outcome(self, step: ApplyStep) -> StepOutcome:
        if before := self._stopped_by(step):
            result: Result = "left_out" if before.result == "left_out" else "skipped"
            return StepOutcome(step, result, f"{before.step.kind} {before.step.name} was not done")
        try:
            self._do(step)
        except (NotAuthenticated, Unreachable):
            raise
        except ServerError as error:
            return StepOutcome(step, "left_out" if error.code in _NOT_ALLOWED else "failed", error.message)
        except Failed as error:
            return StepOutcome(step, "failed", error.message)
        return StepOutcome(step, "done")

    def _stopped_by(self, step: ApplyStep) -> StepOutcome | None:
        """Find an earlier step that this one needs and that was not done; None if there is none."""
        needs = [("configuration", step.name)] if isinstance(step, Publish) else []
        if isinstance(step, OfGroup):
            needs += [("fleet", step.fleet), ("group", step.name)]
        if isinstance(step, CreateGroup | Assign) and step.target:
            needs.append(("configuration", step.target.name))
        return next(
            (
                outcome
                for outcome in self.outcomes
                if outcome.result != "done" and (outcome.step.kind, outcome.step.name) in needs
            ),
            None,
        )

    def _do(self, step: ApplyStep) -> None:
        match step:
            case SaveConfiguration():
                self._configurations.save(step)
            case Publish():
                self._configurations.publish(step)
            case RemoveConfiguration():
                self._configurations.remove(step)
            case SetPolicies():
                self._set_policies(step)
            case FleetCreation():
                self._fleets.create(step)
            case CreateGroup():
                self._fleets.create_group(step)
            case ChangeGroup():
                self._fleets.change_group(step)
            case Assign():
                self._fleets.assign(step)
            case RemoveGroup():
                self._fleets.remove_group(step)
            case RemoveFleet():
                self._fleets.remove(step)

    def _set_policies(self, step: SetPolicies) -> None:
        try:
            self._api.put(PlainAnswer, "/policies", step.desired.settings, if_match=step.etag)
        except ServerError as error:
            if error.code == "policies_changed":
                raise Failed(CHANGED_MEANWHILE) from error
            raise policy_files.refusal(error, step.desired.file, step.desired.settings) from error

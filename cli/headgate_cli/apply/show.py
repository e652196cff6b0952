"""A plan and what became of it, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, get_args

from headgate_cli.api import Api
from headgate_cli.apply.carry_out import StepOutcome
from headgate_cli.apply.found import CredentialOwner
from headgate_cli.apply.steps import IDLE, Action, ApplyPlan, ApplyStep
from headgate_cli.output import diff, print_result, say, unified
from headgate_cli.untrusted import one_line, quoted

_VERBS: Final[Mapping[Action, str]] = {action: action.replace("_", " ") for action in get_args(Action)}
_WIDTH: Final = max(map(len, _VERBS.values()))


def show(plan: ApplyPlan) -> None:
    """The steps, each text that changes as a diff, and a line that counts them."""
    for step in plan.steps:
        print_result(_line(_VERBS[step.action], step, step.reason or ", ".join(step.changes)))
        if step.texts is not None:
            diff(*step.texts, (f"{one_line(step.name)} on the server", f"{one_line(step.name)} in the folder"))
    counts = Counter(step.action for step in plan.steps)
    counted = [
        f"{counts[action]} {verb if action in IDLE else f'to {verb}'}"
        for action, verb in _VERBS.items()
        if counts[action]
    ]
    print_result(f"Plan: {', '.join(counted) or 'nothing to do'}; {plan.unchanged} unchanged")


def tell(outcome: StepOutcome) -> None:
    """A step that ended."""
    step = outcome.step
    if outcome.result == "done":
        print_result(_line("done", step, f"{_VERBS[step.action]}, {', '.join(step.changes)}".rstrip(", ")))
    else:
        print_result(_line(outcome.result.replace("_", " "), step, quoted(outcome.message)))


def summarize(plan: ApplyPlan, outcomes: Sequence[StepOutcome], api: Api) -> None:
    """Print how much was done and what is left."""
    done = sum(outcome.result == "done" for outcome in outcomes)
    undone = len(plan.acts) - done
    progress = f"{done} of {len(plan.acts)} done, with {api.requests} requests"
    say(f"{progress}; apply again for the other {undone}" if undone else progress)


def not_begun(plan: ApplyPlan, outcomes: Sequence[StepOutcome]) -> list[StepOutcome]:
    """The steps after the one that ended the command."""
    begun = {id(outcome.step) for outcome in outcomes}
    return [StepOutcome(step, "not_begun") for step in plan.acts if id(step) not in begun]


def as_json(caller: CredentialOwner, plan: ApplyPlan, outcomes: Sequence[StepOutcome], api: Api) -> dict[str, object]:
    """docs/cli-json.yaml describes it."""
    became = {id(outcome.step): outcome for outcome in outcomes}
    return {
        "organization_id": caller.organization_id,
        "organization_name": caller.organization_name,
        "steps": [_entity(step, became.get(id(step))) for step in plan.steps],
        "unchanged": plan.unchanged,
        "requests": api.requests,
    }


def _entity(step: ApplyStep, outcome: StepOutcome | None) -> dict[str, object]:
    planned = "none" if step.action in IDLE else "planned"
    return {
        "kind": step.kind,
        "name": step.name,
        "action": step.action,
        "changes": list(step.changes),
        "diff": unified(*step.texts, ("server", "folder")) if step.texts else [],
        "result": outcome.result if outcome else planned,
        "reason": (outcome.message if outcome else "") or step.reason or None,
    }


def _line(verb: str, step: ApplyStep, words: str) -> str:
    subject = "policies" if step.kind == "policies" else f"{step.kind} {one_line(step.name)}"
    return f"{verb:<{_WIDTH}}  {subject}: {quoted(words)}".rstrip(": ")

"""Parts of pages about a rollout: its status and step, the reason why it waits or stopped, and forms for actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from fleets.pages.parts import named, share_bar
from headgate.deployments.model import Deployment
from headgate.foundation.caller import Caller
from headgate.instances.state.model import InstanceState
from headgate.rollouts import reach as rollout_reach
from headgate.rollouts.model import Rollout, Status
from headgate.rollouts.strategy import RolloutStep
from web.html import NOTHING, Html, html
from web.parts import action, confirmed, moment, tag

Act = Literal["pause", "resume", "promote", "approve", "retry", "abort"]

_KINDS: Final[Mapping[Status, str]] = {
    "in_progress": "busy",
    "paused": "warn",
    "waiting_for_approval": "warn",
    "halted": "bad",
    "rolling_back": "busy",
    "rolled_back": "bad",
    "completed": "good",
}
_ACTS: Final[Mapping[Status, Sequence[Act]]] = {
    "in_progress": ("pause", "promote", "abort"),
    "paused": ("resume", "abort"),
    "waiting_for_approval": ("approve", "abort"),
    # To resume what halted is to try it again.
    "halted": ("retry", "abort"),
    "rolling_back": ("abort",),
}
_LABELS: Final[Mapping[Act, str]] = {
    "pause": "Pause",
    "resume": "Resume",
    "promote": "Skip the wait",
    "approve": "Approve",
    "retry": "Try failed hosts again",
    "abort": "Abort",
}
_FOLLOWS: Final[Mapping[Act, str]] = {
    "pause": "No further step begins; collectors that have the version keep it",
    "resume": "It goes on where it is",
    "promote": "The step is judged now, without the rest of its wait",
    "approve": "The step begins at once",
    "retry": "The collectors of the step get the version again, and are judged again",
}
_ABORTED: Final = "Every host goes back to what the group ran before."
_NOTICE: Final = '<div class="notice {kind}">{reason}</div>'
_ROW: Final = """\
<li class="record"><p><a href="{path}">{version}</a> {status} {step}</p>{bar}{reason}{message}
<p class="soft small">{by}, {at}</p>{acts}</li>"""


def reach_of(rollout: Rollout, group: Deployment, instances: Mapping[InstanceState, int]) -> Html:
    """The status of a rollout; of an assignment at once, how far the group's collectors run it, who are `instances`."""
    reach = rollout_reach.reach(rollout, group, instances)
    if reach is None or reach.state == "completed":
        return status_tag(rollout.status)
    if reach.state == "superseded":
        return tag("assigned before")
    words, kind = {
        "assigned": ("assigned", "busy"),
        "applied": ("applied", "good"),
        "failed": (f"{reach.failed:,} could not apply it", "bad"),
    }[reach.state]
    return html(
        '{tag} <span class="soft">{applied} of {total} run it</span>',
        tag=tag(words, kind),
        applied=f"{reach.applied:,}",
        total=f"{reach.total:,}",
    )


def summary(caller: Caller, path: str, csrf: Html, rollout: Rollout, status: Html) -> Html:
    """An entry of a list of rollouts. `path` is that of the rollout's page."""
    hosts, strategy = rollout.hosts, rollout.strategy
    step = f"step {rollout.progress.step} of {len(strategy.steps)}" if strategy and not rollout.is_final else ""
    counts = ""
    if hosts:
        counts = f"{hosts.applied} of {hosts.total} collectors run it, {hosts.failed} failed"
    return html(
        _ROW,
        path=path,
        version=named(rollout.to),
        status=status,
        step=" · ".join(part for part in (step, counts) if part),
        bar=share_bar(hosts.applied, hosts.total) if hosts and not rollout.is_final else NOTHING,
        reason=notice(rollout),
        message=html("<p>{message}</p>", message=rollout.message) if rollout.message else NOTHING,
        by=rollout.created_by.name,
        at=moment(rollout.created_at),
        acts=acts(caller, path, csrf, rollout),
    )


def status_tag(status: Status) -> Html:
    return tag(status.replace("_", " "), _KINDS.get(status, ""))


def acts(caller: Caller, path: str, csrf: Html, rollout: Rollout) -> Html:
    """The buttons of what the status allows. Who may not approve is told who may."""
    allowed = _ACTS.get(rollout.status, ()) if rollout.strategy else ()
    behind = rollout.people
    own = caller.principal.id in (behind or ())
    may_approve = caller.is_admin if behind is None else not own
    offered = [act for act in allowed if act != "approve" or may_approve]
    buttons = [_button(path, csrf, act, named(rollout.to)) for act in offered]
    shown = NOTHING
    if "approve" in allowed:
        who = "Any member who did not start it may approve it."
        if own:
            who = "Another member has to approve it: you started it, or hold the token that did."
        elif behind is None:
            who = "An Admin has to approve it: who created the token that started it is not recorded."
        shown = html('<p class="hint">{who}</p>', who=who)
    follows = [
        html("<li><strong>{label}</strong>: {text}</li>", label=_LABELS[act], text=_FOLLOWS.get(act, _ABORTED))
        for act in offered
    ]
    shown = html('{told}<ul class="follows soft small">{follows}</ul>', told=shown, follows=follows)
    return html('<div class="buttons">{buttons}</div>{told}', buttons=buttons, told=shown) if allowed else NOTHING


def gate_words(name: str) -> str:
    return name.replace("_", " ")


def notice(rollout: Rollout) -> Html:
    """The rollout's reason, as a failure only if it is one; empty for none."""
    kind = "bad" if _KINDS.get(rollout.status) == "bad" else "warn"
    return html(_NOTICE, kind=kind, reason=rollout.reason) if rollout.reason else NOTHING


def step_wait(step: RolloutStep) -> str:
    """The time for which a step is judged, and whether it needs an approval."""
    minutes, seconds = divmod(step.soak_seconds, 60)
    parts = ((minutes // 60, "h"), (minutes % 60, "min"), (seconds, "s"))
    approval = ", after an approval before it begins" if step.approval else ""
    return (" ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s") + approval


def step_size(step: RolloutStep) -> str:
    """The share of collectors that a step reaches."""
    if step.hosts is not None:
        return "1 collector" if step.hosts == 1 else f"{step.hosts} collectors"
    return f"{step.percent} %" if step.percent is not None else "the canaries"


def _button(path: str, csrf: Html, act: Act, subject: str) -> Html:
    if act == "abort":
        return confirmed(f"{path}/abort", csrf, _LABELS[act], _ABORTED, subject=subject)
    return action(f"{path}/{act}", csrf, _LABELS[act], "plain", subject=subject)

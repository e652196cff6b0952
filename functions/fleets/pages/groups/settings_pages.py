"""The page of a deployment group's settings: its name, the labels that select its hosts, its variables and token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from fleets.api.deployments_wire import PatchDeployment, PutSelector
from fleets.api.env import PatchEnv, named_changes
from fleets.pages.groups.variables_card import variables_card
from fleets.pages.renewal_card import grace_of, renewal_card
from headgate.deployments import own_tokens, selectors, variables
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment, NameTaken
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.auditing import record_change
from headgate.http.parameters import DeploymentId, FleetId
from headgate.http.statuses import status_of
from headgate.rollouts import assigning
from web.forms import by_field, model_of, number_of
from web.html import NOTHING, Html, html
from web.layout import csrf_field, page, redirect
from web.pages import Form, Member, Visit, frame, page_router
from web.parts import confirmed, empty, home, moment, text
from web.visitor import Visitor

router = page_router()

_GROUP: Final = "/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}"
_PATH: Final = f"{_GROUP}/settings"
_NOTHING_TYPED: Final[Mapping[str, str]] = {}
# 8 labels with keys of 63 characters and values of 255.
_LONGEST_LABELS: Final = 2_600
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{home}/fleets/{fleet}">{label}</a> /
<a href="{group}">{name}</a></p>
<h1>Settings of {name}</h1>
<div class="card"><h2>Name</h2><form method="post" action="{path}" aria-label="Change the group">{csrf}{name_field}
{on_kubernetes}<button>Save</button></form></div>
<div class="card"><h2>Labels</h2>{labels}</div>
{variables}{renewal}{assignment}"""
_ASSIGNMENT: Final = '<div class="card"><h2>End the assignment</h2>{clear}</div>'
_NOTHING_ASSIGNED: Final = "The group's collectors stop, and run nothing until another version is assigned."
_ON_KUBERNETES: Final = '<div class="two">{replicas}{namespace}</div>'
_LABELS: Final = """\
<p class="soft">Hosts of the fleet with all of these labels belong to this group, without an install. They move within a
minute and a heartbeat.</p>
<form method="post" action="{path}/labels" aria-label="Labels that select hosts">{csrf}{labels}
<button>Save labels</button></form>"""


@router.get(_PATH)
def show_settings(who: Visit, caller: Member, fleet_id: FleetId, deployment_id: DeploymentId) -> Response:
    return _page(who, caller, fleet_id, deployment_id)


@router.post(_PATH)
def change_group(who: Visit, caller: Member, fleet_id: FleetId, deployment_id: DeploymentId, form: Form) -> Response:
    changes: dict[str, str | int | None] = {"name": form.get("name", "")}
    if "namespace" in form or "replicas" in form:
        replicas = form.get("replicas", "").strip()
        changes |= {"replicas": number_of(replicas) if replicas else None}
        changes |= {"namespace": form.get("namespace", "").strip() or None}
    try:
        asked = model_of(PatchDeployment, changes)
        changed = assigning.change(caller, fleet_id, deployment_id, asked.changes())
    except NameTaken as error:
        return _page(who, caller, fleet_id, deployment_id, form, error, field="name")
    except errors.Invalid as error:
        return _page(who, caller, fleet_id, deployment_id, form, error)
    record_change(caller, "deployment.changed", f"fleets/{fleet_id}/deployments/{deployment_id}", changed.audited)
    return _back(caller, fleet_id, deployment_id)


@router.post(f"{_PATH}/labels")
def select_hosts(who: Visit, caller: Member, fleet_id: FleetId, deployment_id: DeploymentId, form: Form) -> Response:
    try:
        labels = model_of(PutSelector, {"labels": _labels_of(form.get("labels", ""))}).labels
        selectors.select(caller, fleet_id, deployment_id, labels)
    except (errors.Invalid, errors.Conflict) as error:
        return _page(who, caller, fleet_id, deployment_id, form, error, field="labels")
    target = f"fleets/{fleet_id}/deployments/{deployment_id}/selector"
    record_change(caller, "deployment.selector_changed", target, {"labels": selectors.in_words(labels)})
    return _back(caller, fleet_id, deployment_id)


@router.post(f"{_PATH}/variables")
def set_variable(who: Visit, caller: Member, fleet_id: FleetId, deployment_id: DeploymentId, form: Form) -> Response:
    name, value = form.get("variable", "").strip(), form.get("value", "")
    is_secret = form.get("secret") == "yes"
    try:
        asked = model_of(PatchEnv, {"secrets" if is_secret else "variables": {name: value}})
        variables.change(caller, fleet_id, deployment_id, asked.variables, asked.secrets)
    except errors.Invalid as error:
        # The place of a value ends with the variable's name, that of a name with "[key]".
        of_value = error.errors[0].loc[-1] == name and len(error.errors[0].loc) > 2
        kept = {**form, "value": ""} if is_secret else form
        field = "value" if of_value else "variable"
        return _page(who, caller, fleet_id, deployment_id, kept, error, field=field)
    except errors.Conflict as error:
        kept = {**form, "value": ""} if is_secret else form
        return _page(who, caller, fleet_id, deployment_id, kept, error)
    _record_variables(caller, fleet_id, deployment_id, {**asked.variables, **asked.secrets})
    return _back(caller, fleet_id, deployment_id)


@router.post(f"{_PATH}/variables/remove")
def remove_variable(caller: Member, fleet_id: FleetId, deployment_id: DeploymentId, form: Form) -> Response:
    name = form.get("variable", "")
    if name in variables.get(caller, fleet_id, deployment_id).variables:
        variables.change(caller, fleet_id, deployment_id, {name: None}, {})
        _record_variables(caller, fleet_id, deployment_id, {name: None})
    return _back(caller, fleet_id, deployment_id)


@router.post(f"{_PATH}/token")
def renew_token(who: Visit, caller: Member, fleet_id: FleetId, deployment_id: DeploymentId, form: Form) -> Response:
    try:
        own_tokens.renew(caller, fleet_id, deployment_id, grace_of(form))
    except errors.Conflict as error:
        return _page(who, caller, fleet_id, deployment_id, refused=error)
    return _back(caller, fleet_id, deployment_id)


@router.post(f"{_PATH}/clear")
def clear_assignment(caller: Member, fleet_id: FleetId, deployment_id: DeploymentId, form: Form) -> Response:
    changed = assigning.change(caller, fleet_id, deployment_id, {"configuration_id": None})
    record_change(caller, "deployment.changed", f"fleets/{fleet_id}/deployments/{deployment_id}", changed.audited)
    return _back(caller, fleet_id, deployment_id)


def _back(caller: Caller, fleet_id: str, deployment_id: str) -> Response:
    return redirect(f"{home(caller)}/fleets/{fleet_id}/deployments/{deployment_id}/settings")


def _record_variables(caller: Caller, fleet_id: str, deployment_id: str, changes: Mapping[str, str | None]) -> None:
    target = f"fleets/{fleet_id}/deployments/{deployment_id}/env"
    record_change(caller, "deployment.env_changed", target, named_changes(changes))


def _labels_of(typed: str) -> dict[str, str]:
    """`role=web, zone=a` as labels. Raises Invalid."""
    labels: dict[str, str] = {}
    for one in filter(None, map(str.strip, typed.split(","))):
        key, is_given, value = map(str.strip, one.partition("="))
        if not is_given:
            raise _wrong(f"Write each label as KEY=VALUE, with commas between them; this is not one: {one[:100]}")
        if key in labels:
            raise _wrong(f"The label {key[:100]} is given twice")
        labels[key] = value
    return labels


def _wrong(message: str) -> errors.Invalid:
    return errors.Invalid(message, [errors.FieldError(("form", "labels"), message)])


def _page(
    who: Visitor,
    caller: Caller,
    fleet_id: str,
    deployment_id: str,
    typed: Mapping[str, str] = _NOTHING_TYPED,
    refused: errors.Invalid | errors.Conflict | None = None,
    *,
    field: str = "",
) -> Response:
    """The settings; after a refusal, with what was typed, and the reason beside `field`, the error's or at the top."""
    fleet, shown = fleets.get(caller, fleet_id), frame(who, caller, "fleets")
    group = deployments.of_fleet(fleet_id, deployment_id)
    group_path = f"{home(caller)}/fleets/{fleet_id}/deployments/{deployment_id}"
    path, csrf = f"{group_path}/settings", csrf_field(shown)
    problems = by_field(refused) if isinstance(refused, errors.Invalid) and not field else {}
    if refused and field:
        problems = {field: refused.errors[0].message if refused.errors else refused.detail}
    content = html(
        _PAGE,
        home=home(caller),
        fleet=fleet.id,
        label=fleet.label,
        group=group_path,
        name=group.name,
        path=path,
        csrf=csrf,
        name_field=text("name", "Name", typed.get("name", group.name), most=200, error=problems.get("name", "")),
        on_kubernetes=_of_kubernetes(group, typed, problems) if fleet.on_kubernetes else NOTHING,
        labels=_labels(fleet, group, path, csrf, typed, problems),
        variables=variables_card(
            f"{path}/variables", csrf, group, variables.get(caller, fleet_id, deployment_id), typed, problems
        ),
        renewal=_renewal(caller, path, csrf, group),
        assignment=html(
            _ASSIGNMENT, clear=confirmed(f"{path}/clear", csrf, "End it", _NOTHING_ASSIGNED, of="the assignment")
        )
        if group.assignment
        else NOTHING,
    )
    told = "" if refused is None else "Nothing was changed" if problems else refused.detail
    status = status_of(refused) if refused else 200
    return page(shown, f"Settings of {group.name}", content, problem=told, status=status)


def _of_kubernetes(group: Deployment, typed: Mapping[str, str], problems: Mapping[str, str]) -> Html:
    def line(name: str, label: str, value: str, most: int, hint: str = "") -> Html:
        error = problems.get(name, "")
        return text(name, label, typed.get(name, value), most=most, required=False, hint=hint, error=error)

    replicas = str(group.replicas or "")
    return html(
        _ON_KUBERNETES,
        replicas=line("replicas", "Replicas", replicas, 4, "Takes effect for a gateway only"),
        namespace=line("namespace", "Namespace", group.namespace or "", 63),
    )


def _labels(
    fleet: Fleet, group: Deployment, path: str, csrf: Html, typed: Mapping[str, str], problems: Mapping[str, str]
) -> Html:
    """The form, or why labels cannot select the group's hosts."""
    if "labels" not in problems:
        if fleet.on_kubernetes:
            return empty("What a pod runs depends on its group's role: labels move hosts of server fleets only.")
        if group.is_default:
            return empty("The Default group is for hosts that no labels select.")
        if group.token_generation:
            return empty("This group has a token of its own for its variables: only hosts with it belong to the group.")
    labels = text(
        "labels",
        "Labels",
        typed.get("labels", selectors.in_words(group.selector)),
        most=_LONGEST_LABELS,
        required=False,
        hint="For example role=web, zone=a. Without any, hosts belong to the groups that they were installed for.",
        error=problems.get("labels", ""),
    )
    return html(_LABELS, path=path, csrf=csrf, labels=labels)


def _renewal(caller: Caller, path: str, csrf: Html, group: Deployment) -> Html:
    """For an Admin, the renewal of the group's own token; nothing for a group that has none."""
    if not group.token_generation or not caller.is_admin:
        return NOTHING
    expires = html("expires at {at}", at=moment(group.token_expires_at)) if group.token_expires_at else "never expires"
    return renewal_card(
        f"{path}/token", csrf, "Every host that is installed for this group", html(", which {expires}", expires=expires)
    )

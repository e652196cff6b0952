"""The page of a deployment group's settings: its name, the labels that select its hosts, its variables and token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from fleets.api import env, groups
from fleets.pages.groups.variables_card import variables_card
from fleets.pages.renewal_card import renewal, renewal_card
from headgate.deployments import selectors, variables
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment, NameTaken
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import DeploymentId, FleetId
from headgate.rollouts.upgrading import variable_hosts
from web.commands import command
from web.forms import by_field, number_of
from web.html import NOTHING, Html, html
from web.pages import Here, MemberPage, page_router
from web.parts import Fields, confirmed, empty, moment

router = page_router()

_GROUP: Final = "/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}"
_PATH: Final = f"{_GROUP}/settings"
_THIS: Final = "/fleets/{fleet_id}/deployments/{deployment_id}/settings"
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
_NOT_BACK: Final = " They do not go back to what they ran before the group was managed."
_ON_KUBERNETES: Final = '<div class="two">{replicas}{namespace}</div>'
_LABELS: Final = """\
<p class="soft">Hosts of the fleet with all of these labels belong to this group, without an install. They move within a
minute and a heartbeat.</p>
<form method="post" action="{path}/labels" aria-label="Labels that select hosts">{csrf}{labels}
<button>Save labels</button></form>"""


@router.get(_PATH)
def show_settings(here: Here, fleet_id: FleetId, deployment_id: DeploymentId) -> Response:
    """The settings; after a refusal, with what was typed, and the reason beside its field or at the top."""
    caller, csrf = here.caller, here.csrf
    fleet, group = fleets.get(caller, fleet_id), deployments.of_fleet(fleet_id, deployment_id)
    group_path = f"{here.home}/fleets/{fleet_id}/deployments/{deployment_id}"
    path, fields = f"{group_path}/settings", _fields(here)
    content = html(
        _PAGE,
        home=here.home,
        fleet=fleet.id,
        label=fleet.label,
        group=group_path,
        name=group.name,
        path=path,
        csrf=csrf,
        name_field=fields.text("name", "Name", group.name, most=200),
        on_kubernetes=_of_kubernetes(group, fields) if fleet.on_kubernetes else NOTHING,
        labels=_labels(fleet, group, path, csrf, fields),
        variables=variables_card(group_path, csrf, variable_hosts(caller, fleet_id, deployment_id), fields),
        renewal=_renewal(caller, path, csrf, group),
        assignment=html(_ASSIGNMENT, clear=_clear(group, path, csrf)) if group.assignment else NOTHING,
    )
    problem = fields.problem(here.refused, "Nothing was changed")
    return here.page("fleets", f"Settings of {group.name}", content, problem=problem)


def _fields(here: MemberPage) -> Fields:
    """The fields as typed, without a secret, with the reason of a refusal at the field that it is about."""
    form, refused, field = here.form, here.refused, ""
    if refused is None:
        return Fields(form)
    if "labels" in form:
        field = "labels"
    elif "variable" in form:
        name = form["variable"].strip()
        if isinstance(refused, errors.Invalid):
            # The place of a value ends with the variable's name, that of a name with "[key]".
            place = refused.errors[0].loc
            field = "value" if place[-1] == name and len(place) > 2 else "variable"
        form = {**form, "value": ""} if form.get("secret") == "yes" else form
    elif isinstance(refused, NameTaken):
        field = "name"
    problems = by_field(refused) if isinstance(refused, errors.Invalid) else {}
    return Fields(form, {field: next(iter(by_field(refused).values()), refused.detail)} if field else problems)


def _changes(posted: MemberPage) -> Mapping[str, object]:
    form = posted.form
    changes: dict[str, object] = {"name": form.get("name", "")}
    if "namespace" in form or "replicas" in form:
        replicas = form.get("replicas", "").strip()
        changes |= {"replicas": number_of(replicas) if replicas else None}
        changes |= {"namespace": form.get("namespace", "").strip() or None}
    return changes


def _variable(posted: MemberPage) -> Mapping[str, object]:
    name, value = posted.form.get("variable", "").strip(), posted.form.get("value", "")
    return {"secrets" if posted.form.get("secret") == "yes" else "variables": {name: value}}


def _removed_variable(posted: MemberPage) -> Mapping[str, object] | None:
    name = posted.form.get("variable", "")
    stored = variables.get(posted.caller, posted.ids["fleet_id"], posted.ids["deployment_id"])
    return {"variables": {name: None}} if name in stored.variables else None


def _labels_typed(posted: MemberPage) -> Mapping[str, object]:
    """`role=web, zone=a` as labels. Raises Invalid."""
    labels: dict[str, str] = {}
    for each in filter(None, map(str.strip, posted.form.get("labels", "").split(","))):
        key, is_given, value = map(str.strip, each.partition("="))
        if not is_given:
            message = f"Write each label as KEY=VALUE, with commas between them; this is not one: {each[:100]}"
            raise errors.Invalid(message, at=("form", "labels"))
        if key in labels:
            raise errors.Invalid(f"The label {key[:100]} is given twice", at=("form", "labels"))
        labels[key] = value
    return {"labels": labels}


command(
    router,
    _PATH,
    groups.change_deployment,
    _THIS,
    body=_changes,
    refused=show_settings,
    refusals=(errors.Invalid, NameTaken),
)
command(router, f"{_PATH}/labels", groups.put_deployment_selector, _THIS, body=_labels_typed, refused=show_settings)
command(router, f"{_PATH}/variables", env.change_deployment_variables, _THIS, body=_variable, refused=show_settings)
command(router, f"{_PATH}/variables/remove", env.change_deployment_variables, _THIS, body=_removed_variable)
command(
    router,
    f"{_PATH}/token",
    env.renew_deployment_token,
    _THIS,
    body=renewal,
    refused=show_settings,
    refusals=(errors.Conflict,),
)
command(router, f"{_PATH}/clear", groups.change_deployment, _THIS, body=lambda _: {"configuration_id": None})


def _clear(group: Deployment, path: str, csrf: Html) -> Html:
    loss = f"{_NOTHING_ASSIGNED}{_NOT_BACK if group.adopted else ''}"
    return confirmed(f"{path}/clear", csrf, "End it", loss, subject="the assignment")


def _of_kubernetes(group: Deployment, fields: Fields) -> Html:
    replicas, hint = str(group.replicas or ""), "Takes effect for a gateway only"
    return html(
        _ON_KUBERNETES,
        replicas=fields.text("replicas", "Replicas", replicas, most=4, required=False, hint=hint),
        namespace=fields.text("namespace", "Namespace", group.namespace or "", most=63, required=False),
    )


def _labels(fleet: Fleet, group: Deployment, path: str, csrf: Html, fields: Fields) -> Html:
    """The form, or why labels cannot select the group's hosts."""
    if "labels" not in fields.problems:
        if fleet.on_kubernetes:
            return empty("What a pod runs depends on its group's role: labels move hosts of server fleets only.")
        if group.is_default:
            return empty("The Default group is for hosts that no labels select.")
        if group.token_generation:
            return empty("This group has a token of its own for its variables: only hosts with it belong to the group.")
    labels = fields.text(
        "labels",
        "Labels",
        selectors.in_words(group.selector),
        most=_LONGEST_LABELS,
        required=False,
        hint="For example role=web, zone=a. Without any, hosts belong to the groups that they were installed for.",
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

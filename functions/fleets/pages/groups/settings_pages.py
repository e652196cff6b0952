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
from headgate.http.statuses import status_of
from headgate.rollouts.upgrading import variable_hosts
from web.commands import Posted, command
from web.forms import by_field, number_of
from web.html import NOTHING, Html, html
from web.layout import csrf_field, page
from web.pages import Member, Visit, frame, page_router
from web.parts import confirmed, empty, home, moment, text
from web.visitor import Visitor

router = page_router()

_GROUP: Final = "/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}"
_PATH: Final = f"{_GROUP}/settings"
_THIS: Final = "/fleets/{fleet_id}/deployments/{deployment_id}/settings"
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
_NOT_BACK: Final = " They do not go back to what they ran before the group was managed."
_ON_KUBERNETES: Final = '<div class="two">{replicas}{namespace}</div>'
_LABELS: Final = """\
<p class="soft">Hosts of the fleet with all of these labels belong to this group, without an install. They move within a
minute and a heartbeat.</p>
<form method="post" action="{path}/labels" aria-label="Labels that select hosts">{csrf}{labels}
<button>Save labels</button></form>"""


@router.get(_PATH)
def show_settings(who: Visit, caller: Member, fleet_id: FleetId, deployment_id: DeploymentId) -> Response:
    return _page(who, caller, fleet_id, deployment_id)


def _changes(posted: Posted) -> Mapping[str, object]:
    form = posted.form
    changes: dict[str, object] = {"name": form.get("name", "")}
    if "namespace" in form or "replicas" in form:
        replicas = form.get("replicas", "").strip()
        changes |= {"replicas": number_of(replicas) if replicas else None}
        changes |= {"namespace": form.get("namespace", "").strip() or None}
    return changes


def _not_changed(posted: Posted, error: errors.HeadgateError) -> Response:
    field = "name" if isinstance(error, NameTaken) else ""
    return _page(posted.who, posted.caller, typed=posted.form, refused=error, field=field, **posted.ids)


def _not_selected(posted: Posted, error: errors.HeadgateError) -> Response:
    return _page(posted.who, posted.caller, typed=posted.form, refused=error, field="labels", **posted.ids)


def _variable(posted: Posted) -> Mapping[str, object]:
    name, value = posted.form.get("variable", "").strip(), posted.form.get("value", "")
    return {"secrets" if posted.form.get("secret") == "yes" else "variables": {name: value}}


def _not_set(posted: Posted, error: errors.HeadgateError) -> Response:
    name, field = posted.form.get("variable", "").strip(), ""
    if isinstance(error, errors.Invalid):
        # The place of a value ends with the variable's name, that of a name with "[key]".
        place = error.errors[0].loc
        field = "value" if place[-1] == name and len(place) > 2 else "variable"
    typed = {**posted.form, "value": ""} if posted.form.get("secret") == "yes" else posted.form
    return _page(posted.who, posted.caller, typed=typed, refused=error, field=field, **posted.ids)


def _removed_variable(posted: Posted) -> Mapping[str, object] | None:
    name = posted.form.get("variable", "")
    stored = variables.get(posted.caller, posted.ids["fleet_id"], posted.ids["deployment_id"])
    return {"variables": {name: None}} if name in stored.variables else None


def _not_renewed(posted: Posted, error: errors.HeadgateError) -> Response:
    return _page(posted.who, posted.caller, refused=error, **posted.ids)


def _labels_typed(posted: Posted) -> Mapping[str, object]:
    return {"labels": _labels_of(posted.form.get("labels", ""))}


command(
    router,
    _PATH,
    groups.change_deployment,
    _THIS,
    body=_changes,
    refused=_not_changed,
    refusals=(errors.Invalid, NameTaken),
)
command(router, f"{_PATH}/labels", groups.put_deployment_selector, _THIS, body=_labels_typed, refused=_not_selected)
command(router, f"{_PATH}/variables", env.change_deployment_variables, _THIS, body=_variable, refused=_not_set)
command(router, f"{_PATH}/variables/remove", env.change_deployment_variables, _THIS, body=_removed_variable)
command(
    router,
    f"{_PATH}/token",
    env.renew_deployment_token,
    _THIS,
    body=renewal,
    refused=_not_renewed,
    refusals=(errors.Conflict,),
)
command(router, f"{_PATH}/clear", groups.change_deployment, _THIS, body=lambda _: {"configuration_id": None})


def _labels_of(typed: str) -> dict[str, str]:
    """`role=web, zone=a` as labels. Raises Invalid."""
    labels: dict[str, str] = {}
    for each in filter(None, map(str.strip, typed.split(","))):
        key, is_given, value = map(str.strip, each.partition("="))
        if not is_given:
            raise _wrong(f"Write each label as KEY=VALUE, with commas between them; this is not one: {each[:100]}")
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
    refused: errors.HeadgateError | None = None,
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
        problems = {field: next(iter(by_field(refused).values()), refused.detail)}
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
        variables=variables_card(group_path, csrf, variable_hosts(caller, fleet_id, deployment_id), typed, problems),
        renewal=_renewal(caller, path, csrf, group),
        assignment=html(_ASSIGNMENT, clear=_clear(group, path, csrf)) if group.assignment else NOTHING,
    )
    message = "" if refused is None else "Nothing was changed" if problems else refused.detail
    status = status_of(refused) if refused else 200
    return page(shown, f"Settings of {group.name}", content, problem=message, status=status)


def _clear(group: Deployment, path: str, csrf: Html) -> Html:
    loss = f"{_NOTHING_ASSIGNED}{_NOT_BACK if group.adopted else ''}"
    return confirmed(f"{path}/clear", csrf, "End it", loss, subject="the assignment")


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

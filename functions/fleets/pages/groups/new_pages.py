"""The page that creates a deployment group."""

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from fleets.api import groups as api
from fleets.pages.parts import configuration_field
from headgate.configurations import search
from headgate.configurations import service as configurations
from headgate.deployments.events import LONGEST_MESSAGE
from headgate.deployments.model import NameTaken, NotPublished
from headgate.fleets import service as fleets
from headgate.http.parameters import FleetId
from web.commands import command
from web.forms import filled, number_of
from web.html import NOTHING, html
from web.pages import Here, MemberPage, page_router

router = page_router()

_PATH: Final = "/organizations/{organization_id}/fleets/{fleet_id}/new-group"
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{home}/fleets/{fleet}">{label}</a></p>
<h1>New group</h1>
<div class="card"><p class="soft">The collectors of a group run the same published version of a configuration. They get
it with their next heartbeat.</p>
<form method="post" action="{home}/fleets/{fleet}/new-group">{csrf}
{name}<div class="two">{configuration}{version}</div>{on_kubernetes}{message}<button>Create</button></form></div>"""
_ON_KUBERNETES: Final = '{role}<div class="two">{replicas}{namespace}</div>'
ROLES: Final = (
    ("node", "node: one on each node"),
    ("cluster", "cluster: one for the cluster"),
    ("gateway", "gateway: as many replicas as you say"),
)


@router.get(_PATH)
def show_form(here: Here, fleet_id: FleetId) -> Response:
    """The form; after a refusal, with what was typed, and the reason beside its field or at the top."""
    fleet, fields = fleets.get(here.caller, fleet_id), here.fields(name=NameTaken)
    on_kubernetes = NOTHING
    if fleet.on_kubernetes:
        hint = "Takes effect for a gateway only"
        on_kubernetes = html(
            _ON_KUBERNETES,
            role=fields.choice("role", "Role", ROLES),
            replicas=fields.text("replicas", "Replicas", most=4, required=False, hint=hint),
            namespace=fields.text("namespace", "Namespace", most=63, required=False),
        )
    newest, stands = "The newest published one if you leave it out", "Stands in the group's history"
    content = html(
        _PAGE,
        home=here.home,
        fleet=fleet.id,
        label=fleet.label,
        csrf=here.csrf,
        name=fields.text("name", "Name", most=200),
        configuration=configuration_field(here.caller, fields),
        version=fields.text("version_number", "Version", most=8, required=False, hint=newest),
        on_kubernetes=on_kubernetes,
        message=fields.text("message", "Why", most=LONGEST_MESSAGE, required=False, hint=stands),
    )
    problem = fields.problem(here.refused, "The group was not created")
    return here.page("fleets", f"New group of {fleet.label}", content, problem=problem)


def _asked(posted: MemberPage) -> Mapping[str, object]:
    """The version that the form names; the newest published one if it names none. Raises Invalid, naming the fields."""
    caller, form = posted.caller, posted.form
    typed = filled(form, "name", "role", "namespace", "message")
    configuration = search.called(caller, form.get("configuration_id", "").strip(), "configuration_id")
    number = form.get("version_number", "").strip()
    version: int | str | None = (
        number_of(number) if number else configurations.newest_published(caller, configuration.id)
    )
    if version is None:
        raise NotPublished("This configuration has no published version; publish one first", "configuration_id")
    replicas = {name: number_of(value) for name, value in filled(form, "replicas").items()}
    return {**typed, **replicas, "configuration_id": configuration.id, "version_number": version}


command(
    router,
    _PATH,
    api.create_deployment,
    "/fleets/{fleet_id}/deployments/{result.id}",
    body=_asked,
    refused=show_form,
)

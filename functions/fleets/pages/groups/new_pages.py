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
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import FleetId
from headgate.http.statuses import status_of
from web.commands import Posted, command
from web.forms import by_field, filled, number_of
from web.html import NOTHING, Html, html
from web.layout import csrf_field, page
from web.pages import Member, Visit, frame, page_router
from web.parts import choice, home, text
from web.visitor import Visitor

router = page_router()

_PATH: Final = "/organizations/{organization_id}/fleets/{fleet_id}/new-group"
_NOTHING_TYPED: Final[Mapping[str, str]] = {}
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
def show_form(who: Visit, caller: Member, fleet_id: FleetId) -> Response:
    return _page(who, caller, fleet_id)


def _asked(posted: Posted) -> Mapping[str, object]:
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


def _refused(posted: Posted, error: errors.HeadgateError) -> Response:
    return _page(posted.who, posted.caller, typed=posted.form, refused=error, **posted.ids)


command(
    router,
    _PATH,
    api.create_deployment,
    "/fleets/{fleet_id}/deployments/{result.id}",
    body=_asked,
    refused=_refused,
)


def _page(
    who: Visitor,
    caller: Caller,
    fleet_id: str,
    typed: Mapping[str, str] = _NOTHING_TYPED,
    refused: errors.HeadgateError | None = None,
) -> Response:
    """The form; after a refusal, with what was typed, and the reason beside its field or at the top."""
    fleet, shown = fleets.get(caller, fleet_id), frame(who, caller, "fleets")
    problems = {"name": refused.detail} if isinstance(refused, NameTaken) else by_field(refused)

    def line(name: str, label: str, most: int, *, required: bool = False, hint: str = "") -> Html:
        value, problem = typed.get(name, ""), problems.get(name, "")
        return text(name, label, value, most=most, required=required, hint=hint, error=problem)

    on_kubernetes = NOTHING
    if fleet.on_kubernetes:
        role = choice("role", "Role", ROLES, typed.get("role", ""), error=problems.get("role", ""))
        on_kubernetes = html(
            _ON_KUBERNETES,
            role=role,
            replicas=line("replicas", "Replicas", 4, hint="Takes effect for a gateway only"),
            namespace=line("namespace", "Namespace", 63),
        )
    content = html(
        _PAGE,
        home=home(caller),
        fleet=fleet.id,
        label=fleet.label,
        csrf=csrf_field(shown),
        name=line("name", "Name", 200, required=True),
        configuration=configuration_field(caller, typed, problems),
        version=line("version_number", "Version", 8, hint="The newest published one if you leave it out"),
        on_kubernetes=on_kubernetes,
        message=line("message", "Why", LONGEST_MESSAGE, hint="Stands in the group's history"),
    )
    message = "" if refused is None else "The group was not created" if problems else refused.detail
    return page(
        shown, f"New group of {fleet.label}", content, problem=message, status=status_of(refused) if refused else 200
    )

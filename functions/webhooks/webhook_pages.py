"""The pages of webhooks: the list with a form for a new one, and one webhook with its deliveries."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from fastapi import Response
from pydantic import ValidationError

from headgate.events.model import EVENT_TYPES
from headgate.fleets import service as fleets
from headgate.fleets.model import FleetNotFound
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import WebhookId
from headgate.http.statuses import status_of
from headgate.webhooks import service as webhooks
from headgate.webhooks.addresses import MAX_URL
from headgate.webhooks.model import Attempt, Delivery, DeliveryStatus, Webhook
from web.commands import Posted, command
from web.forms import by_field, filled
from web.html import NOTHING, Html, html, separated
from web.layout import csrf_field, page
from web.pages import Form, Member, Visit, frame, page_router
from web.parts import (
    ENTRIES,
    action,
    check,
    choice,
    confirmed,
    empty,
    hidden,
    home,
    moment,
    nothing_yet,
    tag,
    text,
)
from web.table import END, Cell, Column, Keys, Listed, View, Viewed, pages, read, table
from web.visitor import Visitor
from webhooks import api
from webhooks.wire import NewWebhook

router = page_router()

_PATH: Final = "/organizations/{organization_id}/webhooks/{webhook_id}"
_THIS: Final = "/webhooks/{webhook_id}"
_FORMATS: Final = (("cloudevents", "CloudEvents"), ("slack", "Slack"), ("pagerduty", "PagerDuty"))
_KINDS: Final[dict[DeliveryStatus, str]] = {"waiting": "", "delivered": "good", "failed": "bad"}
# One that people choose from; the button sends the other.
_TYPES: Final = [kind for kind in EVENT_TYPES if kind != "webhook.test"]
# What a form's fields are called, for errors.
_LABELS: Final = {
    "name": "Name",
    "url": "Address",
    "format": "Format",
    "routing_key": "Integration key",
    "types": "Events",
    "fleet_ids": "Fleets",
}

_LIST: Final = """\
<h1>Webhooks</h1>
<p class="soft">Headgate sends what happens to an address of yours, signed. docs/webhooks.md says how to check it.</p>
<div class="card">{entries}</div>
<div class="card"><h2>Add a webhook</h2>
<form method="post" action="{path}">{csrf}
<div class="two">{name}{format}</div>{url}{routing_key}
<details><summary>Only some events or fleets</summary>
<p class="small soft">None chosen means all.</p>
<fieldset><legend>Events</legend>{types}</fieldset>
<fieldset><legend>Fleets</legend>{fleets}</fieldset></details>
<button>Add</button></form></div>"""
_ENTRY: Final = '<a href="{path}/{id}"><strong>{name}</strong></a>'
_COLUMNS: Final = (
    Column("Webhook", "name"),
    Column("State", "state"),
    Column("Address", "host"),
    Column("Format", "format"),
    Column("Events"),
    Column("Fleets"),
)
_KEYS: Final[Keys] = {
    "name": lambda webhook: webhook.name.casefold(),
    "state": lambda webhook: not webhook.enabled,
    "host": lambda webhook: webhook.host,
    "format": lambda webhook: webhook.format,
}
_WEBHOOKS_FOR: Final = (
    "A webhook tells another system, such as a chat or an on-call service, when a rollout halts, a collector fails or "
    "goes silent, or a token is about to expire."
)
_FIRST_WEBHOOK: Final = "None yet: add one below, then send a test from its page."
_DELIVERIES_FOR: Final = "Each attempt to send something to this address, with what the receiver answered, for 30 days."
_FIRST_DELIVERY: Final = "Nothing was sent yet: send a test above."
_ONE: Final = """\
<p class="small"><a href="{path}">Webhooks</a></p>
<h1>{name}</h1>{secret}
<div class="card"><p>{state} to <code>{host}</code> as {format}. Events: {types}. Fleets: {fleets}.</p>{rotation}
<div class="buttons">{test}{switch}{renew}{delete}</div></div>
{edit}
<div class="card"><h2>Deliveries</h2><div id="live" data-live="{live}">{deliveries}</div></div>"""
_EDIT: Final = """\
<div class="card"><details{open}><summary>Change this webhook</summary>
<form method="post" action="{own}/change">{csrf}
{name}{url}{routing_key}
<p class="small soft">No event or no fleet chosen means all.</p>
<fieldset><legend>Events</legend>{types}</fieldset>
<fieldset><legend>Fleets</legend>{fleets}</fieldset>
<button>Save</button></form></details></div>"""
_SHOWN_ONCE: Final = """\
<div class="card"><h2>The secret of this webhook</h2><div class="code long" id="secret"
 data-copy="the secret">{value}</div>
<p class="soft">Give it to the receiver now: it cannot be shown again.</p></div>"""
_DELIVERIES: Final = (
    Column("Event", "event"),
    Column("Since", "since"),
    Column("Status", "status"),
    Column("Last attempt"),
    END,
)
_DELIVERY_KEYS: Final[Keys] = {
    "event": lambda delivery: delivery.type,
    "since": lambda delivery: delivery.created_at,
    "status": lambda delivery: delivery.status,
}


@router.get("/organizations/{organization_id}/webhooks")
def list_webhooks(who: Visit, caller: Member, view: Viewed) -> Response:
    return _list(who, caller, {}, view=view)


@router.post("/organizations/{organization_id}/webhooks")
def create_webhook(who: Visit, caller: Member, form: Form) -> Response:
    chosen = {
        "name": form.get("name", ""),
        "url": form.get("url", ""),
        "format": form.get("format", ""),
        "routing_key": form.get("routing_key") or None,
        "types": _types(form),
        "fleet_ids": _fleet_ids(form),
    }
    # Read before the change, so that a fault leaves nothing saved whose secret nobody saw.
    labels = _labels(caller)
    try:
        webhook, secret = webhooks.create(caller, NewWebhook.model_validate(chosen).settings())
    except ValidationError as error:
        wrong = error.errors()[0]
        field = _LABELS.get(str(wrong["loc"][0]), str(wrong["loc"][0]))
        return _list(who, caller, form, f"{field}: {wrong['msg'].removeprefix('Value error, ')}", 422)
    except (errors.Invalid, errors.Conflict) as error:
        return _list(who, caller, form, error.detail, status_of(error))
    return _one(who, caller, webhook, Listed([]), labels, secret)


@router.get("/organizations/{organization_id}/webhooks/{webhook_id}")
def show_webhook(who: Visit, caller: Member, webhook_id: WebhookId, view: Viewed) -> Response:
    webhook = webhooks.get(caller, webhook_id)
    return _one(who, caller, webhook, _deliveries(caller, webhook_id, view), _labels(caller), view=view)


def _deliveries(caller: Caller, webhook_id: str, view: View | None = None) -> Listed[Delivery]:
    """A page of the deliveries, the first one without a view."""
    view = view or View("")
    return read(view, partial(webhooks.listed_deliveries, caller, webhook_id), _DELIVERY_KEYS)


def _changes(posted: Posted) -> Mapping[str, object] | None:
    before, form = webhooks.get(posted.caller, posted.ids["webhook_id"]), posted.form
    # A field without a change is not sent: a fleet that is gone may stay, and another Admin's change as well.
    settings = {"name": form.get("name", "").strip(), "types": _types(form), "fleet_ids": _fleet_ids(form)}
    now = {"name": before.name, "types": list(before.types), "fleet_ids": list(before.fleet_ids)}
    changed: dict[str, object] = {
        name: value for name, value in settings.items() if _in_order(value) != _in_order(now[name])
    }
    return changed | filled(form, "url", "routing_key") or None


def _not_changed(posted: Posted, error: errors.HeadgateError) -> Response:
    caller, webhook_id = posted.caller, posted.ids["webhook_id"]
    webhook = webhooks.get(caller, webhook_id)
    listed = _deliveries(caller, webhook_id)
    return _one(posted.who, caller, webhook, listed, _labels(caller), typed=posted.form, refused=error)


command(router, f"{_PATH}/test", api.test_webhook, _THIS)
command(
    router,
    f"{_PATH}/switch",
    api.change_webhook,
    _THIS,
    body=lambda posted: {"enabled": posted.form.get("enabled") == "yes"},
)
command(
    router,
    f"{_PATH}/change",
    api.change_webhook,
    _THIS,
    body=_changes,
    refused=_not_changed,
    refusals=(errors.Invalid, FleetNotFound),
)
command(router, f"{_PATH}/delete", api.delete_webhook, "/webhooks")
command(router, f"{_PATH}/deliveries/{{delivery_id}}/resend", api.resend_webhook_delivery, _THIS)


@router.post("/organizations/{organization_id}/webhooks/{webhook_id}/secret")
def renew_secret(who: Visit, caller: Member, webhook_id: WebhookId, form: Form) -> Response:
    # Read before the change, so that a fault leaves nothing changed whose secret nobody saw.
    listed, labels = _deliveries(caller, webhook_id), _labels(caller)
    webhook, secret = webhooks.renew_secret(caller, webhook_id)
    return _one(who, caller, webhook, listed, labels, secret)


def _types(form: Mapping[str, str]) -> list[str]:
    return [kind for kind in _TYPES if form.get(f"type.{kind}") == "yes"]


def _fleet_ids(form: Mapping[str, str]) -> list[str]:
    ticked = [name for name, value in form.items() if value == "yes"]
    return [name.removeprefix("fleet.") for name in ticked if name.startswith("fleet.")]


def _in_order(value: str | Sequence[str]) -> str | list[str]:
    return value if isinstance(value, str) else sorted(value)


def _list(
    who: Visitor,
    caller: Caller,
    typed: dict[str, str],
    problem: str = "",
    status: int = 200,
    view: View | None = None,
) -> Response:
    path, shown = f"{home(caller)}/webhooks", frame(who, caller, "webhooks")
    view, labels = view or View(path), _labels(caller)
    listed = read(view, partial(webhooks.webhooks, caller), _KEYS)
    rows = [
        (
            html(_ENTRY, path=path, id=webhook.id, name=webhook.name),
            _state(webhook),
            html("<code>{host}</code>", host=webhook.host),
            dict(_FORMATS)[webhook.format],
            ", ".join(webhook.types) or "all",
            _fleets(caller, webhook, labels),
        )
        for webhook in listed.entries
    ]
    content = html(
        _LIST,
        path=path,
        csrf=csrf_field(shown),
        entries=html("{pages}{table}", pages=pages(view, listed, {}, "webhook"), table=table(_COLUMNS, rows, view=view))
        if rows or not view.is_first
        else nothing_yet(_WEBHOOKS_FOR, _FIRST_WEBHOOK),
        name=text("name", "Name", typed.get("name", ""), most=200, hint="Who is told, for example on-call"),
        format=choice("format", "Format", _FORMATS, typed.get("format", "cloudevents")),
        url=text("url", "Address", "", most=MAX_URL, hint="https://… It is stored encrypted, and not shown again."),
        routing_key=text(
            "routing_key", "Integration key", "", most=200, required=False, hint="For PagerDuty only: Events API v2"
        ),
        types=[_check(f"type.{kind}", kind, typed) for kind in _TYPES],
        fleets=[_check(f"fleet.{id}", label, typed) for id, label in labels.items()]
        or [empty("There are no fleets yet.")],
    )
    return page(shown, "Webhooks", content, problem=problem, status=status)


def _check(name: str, label: str, typed: Mapping[str, str]) -> Html:
    return check(name, label, checked=typed.get(name) == "yes")


def _one(
    who: Visitor,
    caller: Caller,
    webhook: Webhook,
    listed: Listed[Delivery],
    labels: Mapping[str, str],
    secret: str = "",
    *,
    view: View | None = None,
    typed: Mapping[str, str] | None = None,
    refused: errors.HeadgateError | None = None,
) -> Response:
    shown = frame(who, caller, "webhooks")
    path, csrf = f"{home(caller)}/webhooks", csrf_field(shown)
    own = f"{path}/{webhook.id}"
    view = view or View(own)
    rows = [_row(delivery, own, csrf) for delivery in listed.entries]
    until = webhook.previous_until
    content = html(
        _ONE,
        path=path,
        name=webhook.name,
        secret=html(_SHOWN_ONCE, value=secret) if secret else NOTHING,
        state=_state(webhook),
        host=webhook.host,
        format=dict(_FORMATS)[webhook.format],
        types=", ".join(webhook.types) or "all",
        fleets=_fleets(caller, webhook, labels),
        live="yes" if any(delivery.status == "waiting" for delivery in listed.entries) else "idle",
        rotation=empty(html("The previous secret signs as well until {at}.", at=moment(until))) if until else NOTHING,
        test=action(f"{own}/test", csrf, "Send a test", ""),
        switch=action(
            f"{own}/switch",
            csrf,
            "Switch off" if webhook.enabled else "Switch on",
            "plain",
            hidden("enabled", "no" if webhook.enabled else "yes"),
        ),
        renew=confirmed(
            f"{own}/secret",
            csrf,
            "New secret",
            "For a day, deliveries are signed with both; then with the new one only.",
        ),
        edit=_edit(webhook, own, csrf, labels, typed),
        delete=confirmed(f"{own}/delete", csrf, "Delete", "Deliveries that wait are not sent."),
        deliveries=html(
            "{pages}{table}",
            pages=pages(view, listed, {}, "delivery"),
            table=table(_DELIVERIES, rows, view=view),
        )
        if rows or not view.is_first
        else nothing_yet(_DELIVERIES_FOR, _FIRST_DELIVERY),
    )
    problem, status = (_told(refused), status_of(refused)) if refused else ("", 200)
    return page(shown, webhook.name, content, script="live", problem=problem, status=status)


def _told(refused: errors.HeadgateError) -> str:
    """The reason, with the label of its field in front."""
    field, message = next(iter(by_field(refused).items()), ("", refused.detail))
    if isinstance(refused, errors.Invalid) and refused.errors:
        # Behind the field, a place may have the number of an entry.
        field = str(refused.errors[0].loc[1])
    return f"{_LABELS.get(field, field)}: {message}" if field else message


def _labels(caller: Caller) -> dict[str, str]:
    """The labels of the organization's fleets by their ids."""
    return {fleet.id: fleet.label for fleet in fleets.fleets(caller, ENTRIES, None).entries}


def _edit(webhook: Webhook, own: str, csrf: Html, labels: Mapping[str, str], typed: Mapping[str, str] | None) -> Html:
    """The form with what the webhook has, or with what was typed. Neither the address nor the key is ever in it."""
    stored = {f"type.{kind}": "yes" for kind in webhook.types} | {f"fleet.{id}": "yes" for id in webhook.fleet_ids}
    values = stored if typed is None else typed
    offered = {id: id for id in webhook.fleet_ids} | dict(labels)
    key = text(
        "routing_key", "Integration key", most=200, required=False, hint="Give it again together with a new address"
    )
    return html(
        _EDIT,
        own=own,
        csrf=csrf,
        open=Html(" open") if typed is not None else NOTHING,
        name=text("name", "Name", webhook.name if typed is None else typed.get("name", ""), most=200),
        url=text(
            "url",
            "New address",
            most=MAX_URL,
            required=False,
            hint="Leave it empty to keep the present one, which is not shown",
        ),
        routing_key=key if webhook.format == "pagerduty" else NOTHING,
        types=[_check(f"type.{kind}", kind, values) for kind in _TYPES],
        fleets=[_check(f"fleet.{id}", label, values) for id, label in offered.items()]
        or [empty("There are no fleets yet.")],
    )


def _fleets(caller: Caller, webhook: Webhook, labels: Mapping[str, str]) -> Html:
    """Links to the webhook's fleets by their labels; one that is gone by its id."""
    if not webhook.fleet_ids:
        return html("all")
    links = [
        html('<a href="{home}/fleets/{id}">{label}</a>', home=home(caller), id=id, label=labels.get(id, id))
        for id in webhook.fleet_ids
    ]
    return html("{first}{others}", first=links[0], others=[html(", {link}", link=link) for link in links[1:]])


def _row(delivery: Delivery, own: str, csrf: Html) -> Sequence[Cell]:
    resend = action(f"{own}/deliveries/{delivery.id}/resend", csrf, "Send again", "plain", subject=delivery.type)
    return (
        delivery.type,
        moment(delivery.created_at),
        tag(delivery.status, _KINDS[delivery.status]),
        _attempt(delivery.attempts[-1], len(delivery.attempts)) if delivery.attempts else "not yet",
        resend if delivery.status != "waiting" else NOTHING,
    )


def _attempt(last: Attempt, number: int) -> Html:
    outcome = f"HTTP {last.status}" if last.status is not None else str(last.error).replace("_", " ")
    return separated(", ", [outcome, moment(last.at), f"{number} attempts" if number > 1 else ""])


def _state(webhook: Webhook) -> Html:
    return tag("On", "good") if webhook.enabled else tag("Off")

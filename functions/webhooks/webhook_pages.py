"""The pages of webhooks: the list with a form for a new one, and one webhook with its deliveries."""

from typing import Final

from fastapi import Request, Response
from pydantic import ValidationError

from headgate.events.model import EVENT_TYPES
from headgate.fleets import service as fleets
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.browser import public_url
from headgate.http.parameters import DeliveryId, WebhookId
from headgate.http.statuses import status_of
from headgate.storage.page import Slice
from headgate.webhooks import service as webhooks
from headgate.webhooks.addresses import MAX_URL
from headgate.webhooks.model import Attempt, Delivery, DeliveryStatus, Webhook
from headgate.webhooks.service import Changes
from web.html import NOTHING, Html, html
from web.layout import csrf_field, page, redirect
from web.pages import Form, Member, Visit, frame, page_router
from web.parts import (
    ENTRIES,
    After,
    action,
    check,
    choice,
    confirmed,
    empty,
    hidden,
    home,
    moment,
    more,
    nothing_yet,
    tag,
    text,
)
from web.visitor import Visitor
from webhooks.wire import NewWebhook

router = page_router()

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
_ENTRY: Final = """\
<li><a href="{path}/{id}">{name}</a> {state}<span class="soft small">{host}</span></li>"""
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
<div class="card"><h2>Deliveries</h2><div id="live" data-live="{live}">{deliveries}</div>{more}</div>"""
_SHOWN_ONCE: Final = """\
<div class="card"><h2>The secret of this webhook</h2><div class="code long" id="secret">{value}</div>
<p class="soft">Give it to the receiver now: it cannot be shown again.</p></div>"""
_TABLE: Final = """\
<table><thead><tr><th>Event</th><th>Status</th><th>Last attempt</th><td></td></tr></thead>
<tbody>{rows}</tbody></table>"""
_ROW: Final = """\
<tr><td>{type}<div class="small soft">{at}</div></td><td data-label="Status">{status}</td>
<td data-label="Last attempt">{attempt}</td><td class="end">{resend}</td></tr>"""


@router.get("/organizations/{organization_id}/webhooks")
def list_webhooks(who: Visit, caller: Member) -> Response:
    return _list(who, caller, {})


@router.post("/organizations/{organization_id}/webhooks")
def create_webhook(who: Visit, caller: Member, form: Form) -> Response:
    chosen = {
        "name": form.get("name", ""),
        "url": form.get("url", ""),
        "format": form.get("format", ""),
        "routing_key": form.get("routing_key") or None,
        "types": [kind for kind in _TYPES if form.get(f"type.{kind}") == "yes"],
        "fleet_ids": [name.removeprefix("fleet.") for name, value in form.items() if _is_fleet(name, value)],
    }
    try:
        webhook, secret = webhooks.create(caller, NewWebhook.model_validate(chosen).settings())
    except ValidationError as error:
        wrong = error.errors()[0]
        field = _LABELS.get(str(wrong["loc"][0]), str(wrong["loc"][0]))
        return _list(who, caller, form, f"{field}: {wrong['msg'].removeprefix('Value error, ')}", 422)
    except (errors.Invalid, errors.Conflict) as error:
        return _list(who, caller, form, error.detail, status_of(error))
    return _one(who, caller, webhook, Slice([], None), secret)


@router.get("/organizations/{organization_id}/webhooks/{webhook_id}")
def show_webhook(who: Visit, caller: Member, webhook_id: WebhookId, after: After) -> Response:
    webhook = webhooks.get(caller, webhook_id)
    return _one(who, caller, webhook, webhooks.listed_deliveries(caller, webhook.id, ENTRIES, after))


@router.post("/organizations/{organization_id}/webhooks/{webhook_id}/test")
def test_webhook(caller: Member, webhook_id: WebhookId, form: Form, request: Request) -> Response:
    webhooks.send_test(caller, webhook_id, public_url(request))
    return redirect(f"{home(caller)}/webhooks/{webhook_id}")


@router.post("/organizations/{organization_id}/webhooks/{webhook_id}/switch")
def switch_webhook(caller: Member, webhook_id: WebhookId, form: Form) -> Response:
    webhooks.change(caller, webhook_id, Changes({"enabled": form.get("enabled") == "yes"}))
    return redirect(f"{home(caller)}/webhooks/{webhook_id}")


@router.post("/organizations/{organization_id}/webhooks/{webhook_id}/secret")
def renew_secret(who: Visit, caller: Member, webhook_id: WebhookId, form: Form) -> Response:
    # Read before the change, so that a fault leaves nothing changed whose secret nobody saw.
    part = webhooks.listed_deliveries(caller, webhook_id, ENTRIES, None)
    webhook, secret = webhooks.renew_secret(caller, webhook_id)
    return _one(who, caller, webhook, part, secret)


@router.post("/organizations/{organization_id}/webhooks/{webhook_id}/delete")
def delete_webhook(caller: Member, webhook_id: WebhookId, form: Form) -> Response:
    webhooks.delete(caller, webhook_id)
    return redirect(f"{home(caller)}/webhooks")


@router.post("/organizations/{organization_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/resend")
def resend_delivery(caller: Member, webhook_id: WebhookId, delivery_id: DeliveryId, form: Form) -> Response:
    webhooks.send_again(caller, webhook_id, delivery_id)
    return redirect(f"{home(caller)}/webhooks/{webhook_id}")


def _is_fleet(name: str, value: str) -> bool:
    return name.startswith("fleet.") and value == "yes"


def _list(who: Visitor, caller: Caller, typed: dict[str, str], problem: str = "", status: int = 200) -> Response:
    path, shown = f"{home(caller)}/webhooks", frame(who, caller, "webhooks")
    entries = [
        html(_ENTRY, path=path, id=one.id, name=one.name, host=one.host, state=_state(one))
        for one in webhooks.webhooks(caller, ENTRIES, None).entries
    ]
    listed = fleets.fleets(caller, ENTRIES, None).entries
    content = html(
        _LIST,
        path=path,
        csrf=csrf_field(shown),
        entries=html('<ul class="plain">{entries}</ul>', entries=entries)
        if entries
        else nothing_yet(_WEBHOOKS_FOR, _FIRST_WEBHOOK),
        name=text("name", "Name", typed.get("name", ""), most=200, hint="Who is told, for example on-call"),
        format=choice("format", "Format", _FORMATS, typed.get("format", "cloudevents")),
        url=text("url", "Address", "", most=MAX_URL, hint="https://… It is stored encrypted, and not shown again."),
        routing_key=text(
            "routing_key", "Integration key", "", most=200, required=False, hint="For PagerDuty only: Events API v2"
        ),
        types=[_check(f"type.{kind}", kind, typed) for kind in _TYPES],
        fleets=[_check(f"fleet.{one.id}", one.label, typed) for one in listed] or [empty("There are no fleets yet.")],
    )
    return page(shown, "Webhooks", content, problem=problem, status=status)


def _check(name: str, label: str, typed: dict[str, str]) -> Html:
    return check(name, label, checked=typed.get(name) == "yes")


def _one(who: Visitor, caller: Caller, webhook: Webhook, part: Slice[Delivery], secret: str = "") -> Response:
    shown = frame(who, caller, "webhooks")
    path, csrf = f"{home(caller)}/webhooks", csrf_field(shown)
    own = f"{path}/{webhook.id}"
    rows = [_row(one, own, csrf) for one in part.entries]
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
        fleets=_fleets(caller, webhook),
        live="yes" if any(one.status == "waiting" for one in part.entries) else "no",
        rotation=empty(f"The previous secret signs as well until {moment(until)}.") if until else NOTHING,
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
        delete=confirmed(f"{own}/delete", csrf, "Delete", "Deliveries that wait are not sent."),
        deliveries=html(_TABLE, rows=rows) if rows else nothing_yet(_DELIVERIES_FOR, _FIRST_DELIVERY),
        more=more(own, part.position),
    )
    return page(shown, webhook.name, content, script="live")


def _fleets(caller: Caller, webhook: Webhook) -> Html:
    """Links to the webhook's fleets by their labels; one that is gone by its id."""
    if not webhook.fleet_ids:
        return html("all")
    labels = {one.id: one.label for one in fleets.fleets(caller, ENTRIES, None).entries}
    links = [
        html('<a href="{home}/fleets/{id}">{label}</a>', home=home(caller), id=id, label=labels.get(id, id))
        for id in webhook.fleet_ids
    ]
    return html("{first}{others}", first=links[0], others=[html(", {link}", link=link) for link in links[1:]])


def _row(delivery: Delivery, own: str, csrf: Html) -> Html:
    resend = action(f"{own}/deliveries/{delivery.id}/resend", csrf, "Send again", "plain", of=delivery.type)
    return html(
        _ROW,
        type=delivery.type,
        at=moment(delivery.created_at),
        status=tag(delivery.status, _KINDS[delivery.status]),
        attempt=_attempt(delivery.attempts[-1], len(delivery.attempts)) if delivery.attempts else "not yet",
        resend=resend if delivery.status != "waiting" else NOTHING,
    )


def _attempt(last: Attempt, number: int) -> str:
    outcome = f"HTTP {last.status}" if last.status is not None else str(last.error).replace("_", " ")
    return f"{outcome}, {moment(last.at)}" + (f", {number} attempts" if number > 1 else "")


def _state(webhook: Webhook) -> Html:
    return tag("On", "good") if webhook.enabled else tag("Off")

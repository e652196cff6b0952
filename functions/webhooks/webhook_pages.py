"""The pages of webhooks: the list with a form for a new one, and one webhook with its deliveries."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from fastapi import Response

from headgate.events.model import EVENT_TYPES
from headgate.fleets import service as fleets
from headgate.fleets.model import FleetNotFound
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import WebhookId
from headgate.http.wire import ids_in_body
from headgate.webhooks import service as webhooks
from headgate.webhooks.addresses import MAX_URL
from headgate.webhooks.model import Attempt, Delivery, DeliveryStatus, Webhook
from web.commands import command, form
from web.forms import by_field, filled, model_of
from web.html import NOTHING, Html, html, separated
from web.pages import Here, MemberPage, page_router
from web.parts import (
    ENTRIES,
    Fields,
    action,
    confirmed,
    empty,
    hidden,
    home,
    link,
    moment,
    nothing_yet,
    tag,
)
from web.table import END, Cell, Column, Listed, View, Viewed, listing, read
from webhooks import api
from webhooks.wire import NewWebhook

router = page_router()

_LIST_PATH: Final = "/organizations/{organization_id}/webhooks"
_PATH: Final = f"{_LIST_PATH}/{{webhook_id}}"
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
<p class="soft">Headgate sends what happens to an address of yours, signed as
<a href="https://www.standardwebhooks.com">Standard Webhooks</a> describes: its libraries check it.</p>
<div class="card">{entries}</div>
<div class="card"><h2>Add a webhook</h2>
<form method="post" action="{path}">{csrf}
<div class="two">{name}{format}</div>{url}{routing_key}
<details><summary>Only some events or fleets</summary>
<p class="small soft">None chosen means all.</p>
<fieldset><legend>Events</legend>{types}</fieldset>
<fieldset><legend>Fleets</legend>{fleets}</fieldset></details>
<button>Add</button></form></div>"""
_COLUMNS: Final = (
    Column("Webhook", "name", lambda webhook: webhook.name.casefold()),
    Column("State", "state", lambda webhook: not webhook.enabled),
    Column("Address", "host", lambda webhook: webhook.host),
    Column("Format", "format", lambda webhook: webhook.format),
    Column("Events"),
    Column("Fleets"),
)
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
    Column("Event", "event", lambda delivery: delivery.type),
    Column("Since", "since", lambda delivery: delivery.created_at),
    Column("Status", "status", lambda delivery: delivery.status),
    Column("Last attempt"),
    END,
)


@router.get(_LIST_PATH)
def list_webhooks(here: Here, view: Viewed) -> Response:
    """The webhooks; after a refusal, with the form as typed."""
    caller, path, fields = here.caller, f"{here.home}/webhooks", Fields(here.form)
    labels = _labels(caller)
    listed = read(view, partial(webhooks.webhooks, caller), _COLUMNS)
    rows = [
        (
            link(f"{path}/{webhook.id}", webhook.name),
            _state(webhook),
            html("<code>{host}</code>", host=webhook.host),
            dict(_FORMATS)[webhook.format],
            ", ".join(webhook.types) or "all",
            _fleets(caller, webhook, labels),
        )
        for webhook in listed.entries
    ]
    # Neither the address nor the key is ever shown again.
    key, secret = "For PagerDuty only: Events API v2", "https://… It is stored encrypted, and not shown again."
    content = html(
        _LIST,
        path=path,
        csrf=here.csrf,
        entries=listing(view, listed, _COLUMNS, rows, "webhook", nothing_yet(_WEBHOOKS_FOR, _FIRST_WEBHOOK)),
        name=fields.text("name", "Name", most=200, hint="Who is told, for example on-call"),
        format=fields.choice("format", "Format", _FORMATS, "cloudevents"),
        url=Fields().text("url", "Address", most=MAX_URL, hint=secret),
        routing_key=Fields().text("routing_key", "Integration key", most=200, required=False, hint=key),
        **_choices(fields, labels),
    )
    return here.page("webhooks", "Webhooks", content, problem=_told(here.refused))


@form(router, _LIST_PATH, refused=list_webhooks, refusals=(errors.Invalid, errors.Conflict, FleetNotFound))
def create_webhook(posted: MemberPage) -> Response:
    typed = posted.form
    chosen: dict[str, object] = {name: typed.get(name, "") for name in ("name", "url", "format")}
    chosen |= {"routing_key": typed.get("routing_key") or None, "types": _types(typed), "fleet_ids": _fleet_ids(typed)}
    # Read before the change, so that a fault leaves nothing saved whose secret nobody saw.
    labels = _labels(posted.caller)
    with ids_in_body(fleet_ids=FleetNotFound):
        webhook, secret = webhooks.create(posted.caller, model_of(NewWebhook, chosen).settings())
    return _one(posted, webhook, Listed([]), labels, View(f"{posted.home}/webhooks/{webhook.id}"), secret)


@router.get(_PATH)
def show_webhook(here: Here, webhook_id: WebhookId, view: Viewed) -> Response:
    """The webhook; after a refused change, with the form as typed."""
    webhook = webhooks.get(here.caller, webhook_id)
    return _one(here, webhook, _deliveries(here.caller, webhook_id, view), _labels(here.caller), view)


def _deliveries(caller: Caller, webhook_id: str, view: View) -> Listed[Delivery]:
    return read(view, partial(webhooks.listed_deliveries, caller, webhook_id), _DELIVERIES)


def _changes(posted: MemberPage) -> Mapping[str, object] | None:
    before, form = webhooks.get(posted.caller, posted.ids["webhook_id"]), posted.form
    # A field without a change is not sent: a fleet that is gone may stay, and another Admin's change as well.
    settings = {"name": form.get("name", "").strip(), "types": _types(form), "fleet_ids": _fleet_ids(form)}
    now = {"name": before.name, "types": list(before.types), "fleet_ids": list(before.fleet_ids)}
    changed: dict[str, object] = {
        name: value for name, value in settings.items() if _in_order(value) != _in_order(now[name])
    }
    return changed | filled(form, "url", "routing_key") or None


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
    refused=show_webhook,
    refusals=(errors.Invalid, FleetNotFound),
)
command(router, f"{_PATH}/delete", api.delete_webhook, "/webhooks")
command(router, f"{_PATH}/deliveries/{{delivery_id}}/resend", api.resend_webhook_delivery, _THIS)


@form(router, f"{_PATH}/secret")
def renew_secret(posted: MemberPage, webhook_id: WebhookId) -> Response:
    view = View(f"{posted.home}/webhooks/{webhook_id}")
    # Read before the change, so that a fault leaves nothing changed whose secret nobody saw.
    listed, labels = _deliveries(posted.caller, webhook_id, view), _labels(posted.caller)
    webhook, secret = webhooks.renew_secret(posted.caller, webhook_id)
    return _one(posted, webhook, listed, labels, view, secret)


def _types(form: Mapping[str, str]) -> list[str]:
    return [kind for kind in _TYPES if form.get(f"type.{kind}") == "yes"]


def _fleet_ids(form: Mapping[str, str]) -> list[str]:
    ticked = [name for name, value in form.items() if value == "yes"]
    return [name.removeprefix("fleet.") for name in ticked if name.startswith("fleet.")]


def _in_order(value: str | Sequence[str]) -> str | list[str]:
    return value if isinstance(value, str) else sorted(value)


def _one(
    here: MemberPage,
    webhook: Webhook,
    listed: Listed[Delivery],
    labels: Mapping[str, str],
    view: View,
    secret: str = "",
) -> Response:
    caller, csrf = here.caller, here.csrf
    path = f"{here.home}/webhooks"
    own = f"{path}/{webhook.id}"
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
        edit=_edit(webhook, own, csrf, labels, here.form if here.refused else None),
        delete=confirmed(f"{own}/delete", csrf, "Delete", "Deliveries that wait are not sent."),
        deliveries=listing(view, listed, _DELIVERIES, rows, "delivery", nothing_yet(_DELIVERIES_FOR, _FIRST_DELIVERY)),
    )
    outcome = own if secret else ""
    return here.page("webhooks", webhook.name, content, script="live", problem=_told(here.refused), outcome=outcome)


def _told(refused: errors.HeadgateError | None) -> str:
    """The reason, with the label of its field in front."""
    if refused is None:
        return ""
    field, message = next(iter(by_field(refused).items()), ("", refused.detail))
    return f"{_LABELS.get(field, field)}: {message}" if field else message


def _labels(caller: Caller) -> dict[str, str]:
    """The labels of the organization's fleets by their ids."""
    return {fleet.id: fleet.label for fleet in fleets.fleets(caller, ENTRIES, None).entries}


def _edit(webhook: Webhook, own: str, csrf: Html, labels: Mapping[str, str], typed: Mapping[str, str] | None) -> Html:
    """The form with what the webhook has, or with what was typed. Neither the address nor the key is ever in it."""
    stored = {f"type.{kind}": "yes" for kind in webhook.types} | {f"fleet.{id}": "yes" for id in webhook.fleet_ids}
    fields = Fields(stored if typed is None else typed)
    again = "Give it again together with a new address"
    key = Fields().text("routing_key", "Integration key", most=200, required=False, hint=again)
    keep = "Leave it empty to keep the present one, which is not shown"
    return html(
        _EDIT,
        own=own,
        csrf=csrf,
        open=Html(" open") if typed is not None else NOTHING,
        name=fields.text("name", "Name", webhook.name, most=200),
        url=Fields().text("url", "New address", most=MAX_URL, required=False, hint=keep),
        routing_key=key if webhook.format == "pagerduty" else NOTHING,
        **_choices(fields, {id: id for id in webhook.fleet_ids} | dict(labels)),
    )


def _choices(fields: Fields, labels: Mapping[str, str]) -> dict[str, list[Html]]:
    """The boxes of events, and of fleets by their labels."""
    fleets = [fields.check(f"fleet.{id}", label) for id, label in labels.items()]
    return {
        "types": [fields.check(f"type.{kind}", kind) for kind in _TYPES],
        "fleets": fleets or [empty("There are no fleets yet.")],
    }


def _fleets(caller: Caller, webhook: Webhook, labels: Mapping[str, str]) -> Html:
    """Links to the webhook's fleets by their labels; one that is gone by its id."""
    if not webhook.fleet_ids:
        return html("all")
    return separated(
        ", ",
        [
            html('<a href="{home}/fleets/{id}">{label}</a>', home=home(caller), id=id, label=labels.get(id, id))
            for id in webhook.fleet_ids
        ],
    )


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

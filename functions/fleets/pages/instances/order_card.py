"""The card of what people order of one collector: a restart, another try, another version for a while."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fleets.pages.instances.changing import group_field, label_field
from fleets.pages.parts import version
from headgate.configurations import service as configurations
from headgate.deployments import service as deployments
from headgate.deployments.events import LONGEST_MESSAGE
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances.details import KnownInstance
from headgate.instances.orders.acts import LONGEST
from web.forms import number_of, read_minute
from web.html import NOTHING, Html, html
from web.pages import MemberPage
from web.parts import ENTRIES, Fields, action, empty, second

_CARD: Final = """\
<div class="card"><h2>Orders</h2>{pending}{buttons}
{override}
<details{changes}><summary>Label it, or move it to another group</summary>
<form method="post" action="{path}/change">{csrf}<div class="two">{label}{group}</div>
<p class="hint">Labels select groups and canaries as the host's own do, and win over these. It moves with its next
message, whatever its labels select.</p><button>Save</button></form></details>
<details{open}><summary>Run another version for a while</summary>
<form method="post" action="{path}/override">{csrf}
<div class="two">{configuration}{number}</div><div class="two">{until}{why}</div><button>Run it</button></form>
</details>
<details><summary>Let another host take its place</summary>
<p class="hint">For a host that lost its key, or came by the token of another group. The next host that reports under
this collector's id gets what is known of it and meant for it: whoever has a token of the fleet can be the first.</p>
{move}</details>
<details{is_cut_off}><summary>Cut this host off</summary>
<p class="hint">Every message of it is refused, and it is sent nothing. Its collector runs on as it is. Renew the token,
too: whoever has it can report as another host, and a host that is cut off does not get the next one.</p>
{cut_off}</details></div>"""
_BUTTONS: Final = """\
<div class="buttons">{restart}{retry}{upgrade}</div>
<p class="hint">A host carries out an order with one of its next messages, or never after an hour.</p>"""
_NO_ORDERS: Final = "This host is cut off: it gets no orders, and rollouts leave it out."
_MOVE: Final = "<p>Another host may take its place until {until}.</p>"
_CUT_OFF: Final = "<p>Its messages are refused since {since}.</p>{let_in}"
_PENDING: Final = "<p>{do}: waits for the host since {at}.</p>"
_OVERRIDE: Final = """\
<p>It runs {version} until {until}, whatever its group runs: {by}. {why}</p>{end}"""
_NAMES: Final = {
    "restart": "Restart",
    "retry": "Another try",
    "upgrade_supervisor": "Upgrade of its supervisor",
}


def override_of(posted: MemberPage) -> Mapping[str, object]:
    """The body of an override. Raises Invalid, naming the field."""
    form = posted.form
    return {
        "configuration_id": form.get("configuration_id") or None,
        "version_number": number_of(form.get("version_number", "").strip()),
        "until": read_minute(form.get("until", ""), "until").isoformat(),
        "message": form.get("message", "").strip() or None,
    }


def order_card(caller: Caller, path: str, csrf: Html, known: KnownInstance, fields: Fields) -> Html:
    """The card; after a refusal, with what was typed and the problem at its field."""
    visible = configurations.visible(caller, ENTRIES, None).entries
    published = [(each.id, each.name) for each in visible if each.published_version is not None]
    fleet_id, is_cut_off = known.seen.instance.fleet_id, known.seen.instance.orders.cut_off_at is not None
    groups = {group.id: group.name for group in deployments.deployments(caller, fleet_id, ENTRIES, None).entries}
    longest = f"{LONGEST.days} days from now at most"
    return html(
        _CARD,
        path=path,
        csrf=csrf,
        pending=[html(_PENDING, do=_NAMES.get(order.do, order.do), at=second(order.at)) for order in known.orders],
        buttons=empty(_NO_ORDERS) if is_cut_off else _buttons(path, csrf, known),
        is_cut_off=Html(" open") if is_cut_off else NOTHING,
        override=_override(caller, path, csrf, known),
        move=_move(path, csrf, known),
        cut_off=_cut_off(path, csrf, known),
        changes=Html(" open") if "set_label" in fields.typed else NOTHING,
        label=label_field(fields),
        group=group_field(fields, groups),
        open=Html(" open") if "until" in fields.typed else NOTHING,
        configuration=fields.choice("configuration_id", "Configuration", [("", "The group's"), *published]),
        number=fields.text("version_number", "Version", most=9),
        until=fields.text("until", "Until (UTC)", most=40, kind="datetime-local", hint=longest),
        why=fields.text("message", "Why", most=LONGEST_MESSAGE, required=False),
    )


def _buttons(path: str, csrf: Html, known: KnownInstance) -> Html:
    called = known.seen.instance.called
    return html(
        _BUTTONS,
        restart=action(f"{path}/restart", csrf, "Restart its collector", "plain", subject=called),
        retry=action(f"{path}/retry", csrf, "Try the failed version again", "plain", subject=called)
        if known.seen.state == "apply_failed"
        else NOTHING,
        upgrade=action(f"{path}/upgrade-supervisor", csrf, "Upgrade its supervisor", "plain", subject=called)
        if "upgrade_supervisor" in known.seen.instance.reported.host.can
        else NOTHING,
    )


def _move(path: str, csrf: Html, known: KnownInstance) -> Html:
    until = known.seen.instance.orders.move_allowed(clock.now())
    if until is not None:
        return html(_MOVE, until=second(until))
    return action(f"{path}/allow-move", csrf, "Allow it for an hour", "plain", subject=known.seen.instance.called)


def _cut_off(path: str, csrf: Html, known: KnownInstance) -> Html:
    called, since = known.seen.instance.called, known.seen.instance.orders.cut_off_at
    if since is None:
        return action(f"{path}/cut-off", csrf, "Cut it off", "danger small", subject=called)
    return html(
        _CUT_OFF, since=second(since), let_in=action(f"{path}/let-in", csrf, "Let it in", "plain", subject=called)
    )


def _override(caller: Caller, path: str, csrf: Html, known: KnownInstance) -> Html:
    override = known.override
    if override is None:
        return NOTHING
    return html(
        _OVERRIDE,
        version=version(caller, override.assignment, known.names),
        until=second(override.until),
        by=override.actor.name,
        why=override.message,
        end=action(f"{path}/override/end", csrf, "End it now", "plain", subject=known.seen.instance.called),
    )

"""`webhook list`, `create`, `change`, `secret`, `test`, `deliveries`, `resend` and `delete`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, TypeVar

import click

from headgate_cli.api import Api
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.ids import is_id
from headgate_cli.output import print_json, print_outcome, print_result, say, show_list
from headgate_cli.shapes import DeliveryOut, WebhookOut, WebhookWithSecret
from headgate_cli.untrusted import one_line

_PATH: Final = "/webhooks"

Command = TypeVar("Command", bound=Callable[..., object])


def _chosen(command: Command) -> Command:
    """The options that say what is sent."""
    types = click.option("--type", "types", metavar="TYPE", multiple=True, help="Send events of this type; repeatable.")
    fleets = click.option(
        "--fleet", "fleets", metavar="FLEET", multiple=True, help="Send events of this fleet; repeatable."
    )
    return types(fleets(command))


@click.group(cls=CommandGroup)
def webhook() -> None:
    """Tell other systems what happens; for Admins, signed in with `headgate login`.

    WEBHOOK is an id or a name. docs/webhooks.md says what is sent, and how a receiver checks it.

    \b
    Examples:
      headgate webhook create on-call < address
      headgate webhook test on-call
      headgate webhook deliveries on-call
    """


@webhook.command("list")
@connected
def list_(api: Api, as_json: bool) -> None:
    """List the webhooks. Only the host of an address is shown.

    \b
    Examples:
      headgate webhook list
    """
    webhooks = list(api.items(WebhookOut, _PATH))
    show_list(
        webhooks,
        as_json,
        "There are no webhooks",
        {
            "NAME": lambda webhook: webhook["name"],
            "HOST": lambda webhook: webhook["host"],
            "FORMAT": lambda webhook: webhook["format"],
            "STATE": lambda webhook: "on" if webhook["enabled"] else "off",
            "EVENTS": lambda webhook: ", ".join(webhook["types"]) or "all",
        },
    )


@webhook.command()
@click.argument("name", metavar="NAME")
@click.option("--address", default="-", metavar="URL", help="The address; without it, it is read from standard input.")
@click.option("--format", "form", type=click.Choice(["cloudevents", "slack", "pagerduty"]), default="cloudevents")
@click.option(
    "--routing-key", metavar="KEY", help="For pagerduty: the integration key, `-` for standard input's 2nd line."
)
@_chosen
@connected
def create(
    api: Api,
    name: str,
    address: str,
    form: str,
    routing_key: str | None,
    types: tuple[str, ...],
    fleets: tuple[str, ...],
    as_json: bool,
) -> None:
    """Create a webhook and print the secret that signs what it sends. It is not shown again.

    Addresses and integration keys are often credentials: on standard input, other users of the machine do not see them.

    \b
    Examples:
      headgate webhook create on-call < address
      headgate webhook create builds --address https://ci.example.com/hook --type configuration.published
    """
    url = _line("the address") if address == "-" else address
    body: dict[str, object] = {"name": name, "url": url, "format": form, **_filters(api, types, fleets)}
    if routing_key is not None:
        body["routing_key"] = _line("the integration key") if routing_key == "-" else routing_key
    created = api.create(WebhookWithSecret, _PATH, body)
    if as_json:
        print_json(created)
        return
    print_result(f"{one_line(name)} is created: {created['id']}")
    _print_secret(created)


@webhook.command()
@click.argument("webhook", metavar="WEBHOOK")
@click.option("--name", metavar="NAME", help="Another name.")
@click.option("--address", metavar="URL", help="Another address; `-` reads it from standard input.")
@click.option("--routing-key", metavar="KEY", help="For pagerduty, with --address: the integration key.")
@click.option("--on/--off", "enabled", default=None, help="Whether anything is sent.")
@click.option("--everything", is_flag=True, help="Send events of every type and fleet.")
@_chosen
@connected
def change(
    api: Api,
    webhook: str,
    name: str | None,
    address: str | None,
    routing_key: str | None,
    enabled: bool | None,
    everything: bool,
    types: tuple[str, ...],
    fleets: tuple[str, ...],
    as_json: bool,
) -> None:
    """Change a webhook. --type and --fleet replace what was chosen before.

    \b
    Examples:
      headgate webhook change on-call --off
      headgate webhook change on-call --type instance.stale --type rollout.halted
    """
    fields: dict[str, object | None] = {
        "name": name,
        "url": _line("the address") if address == "-" else address,
        "routing_key": routing_key,
        "enabled": enabled,
    }
    body = {field: value for field, value in fields.items() if value is not None}
    chosen = _filters(api, types, fleets)
    body |= chosen if everything else {field: value for field, value in chosen.items() if value}
    if not body:
        raise click.UsageError("say what to change: --name, --address, --on, --off, --type, --fleet or --everything")
    changed = api.patch(WebhookOut, f"{_PATH}/{_find(api, webhook)}", body)
    print_outcome(changed, as_json, f"{one_line(changed['name'])} is changed")


@webhook.command()
@click.argument("webhook", metavar="WEBHOOK")
@connected
def secret(api: Api, webhook: str, as_json: bool) -> None:
    """Make a new secret and print it. For a day, what is sent is signed with the one before as well.

    \b
    Examples:
      headgate webhook secret on-call
    """
    renewed = api.create(WebhookWithSecret, f"{_PATH}/{_find(api, webhook)}/secret")
    print_outcome(renewed, as_json, lambda: _print_secret(renewed))


@webhook.command()
@click.argument("webhook", metavar="WEBHOOK")
@connected
def test(api: Api, webhook: str, as_json: bool) -> None:
    """Send a test. `webhook deliveries` says what became of it.

    \b
    Examples:
      headgate webhook test on-call
    """
    sent = api.create(DeliveryOut, f"{_PATH}/{_find(api, webhook)}/test")
    print_outcome(
        sent,
        as_json,
        f"Sent as {sent['event_id']}: `headgate webhook deliveries {one_line(webhook)}` has the outcome",
    )


@webhook.command()
@click.argument("webhook", metavar="WEBHOOK")
@connected
def deliveries(api: Api, webhook: str, as_json: bool) -> None:
    """List what was sent in the last 30 days, newest first, with the receiver's status.

    \b
    Examples:
      headgate webhook deliveries on-call
    """
    listed = list(api.items(DeliveryOut, f"{_PATH}/{_find(api, webhook)}/deliveries"))
    show_list(
        listed,
        as_json,
        "Nothing was sent yet",
        {
            "ID": lambda delivery: delivery["id"],
            "AT": lambda delivery: delivery["created_at"],
            "EVENT": lambda delivery: delivery["type"],
            "STATUS": lambda delivery: delivery["status"],
            "LAST ATTEMPT": lambda delivery: _last(delivery),
        },
    )


@webhook.command()
@click.argument("webhook", metavar="WEBHOOK")
@click.argument("delivery", metavar="DELIVERY")
@connected
def resend(api: Api, webhook: str, delivery: str, as_json: bool) -> None:
    """Send a delivery again that is delivered or has failed. DELIVERY is an id that `webhook deliveries` lists.

    \b
    Examples:
      headgate webhook resend on-call dlv_01h455vb4pex5vsknk084sn02q
    """
    if not is_id("dlv", delivery):
        raise click.UsageError(
            f"{one_line(delivery)} is not the id of a delivery: `headgate webhook deliveries` lists them"
        )
    sent = api.create(DeliveryOut, f"{_PATH}/{_find(api, webhook)}/deliveries/{delivery}/resend")
    print_outcome(sent, as_json, f"{delivery} is sent again")


@webhook.command()
@click.argument("webhook", metavar="WEBHOOK")
@connected
def delete(api: Api, webhook: str, as_json: bool) -> None:
    """Delete a webhook. What waits is not sent.

    \b
    Examples:
      headgate webhook delete on-call
    """
    webhook_id = _find(api, webhook)
    api.delete(f"{_PATH}/{webhook_id}")
    print_outcome({"deleted": webhook_id}, as_json, f"{one_line(webhook)} is deleted")


def _find(api: Api, name: str) -> str:
    """The webhook's id. Raises Failed if none, or several, have this name; an id is not looked up."""
    if is_id("whk", name):
        return name
    ids = [webhook["id"] for webhook in api.items(WebhookOut, _PATH) if webhook["name"] == name]
    if len(ids) == 1:
        return ids[0]
    if ids:
        raise Failed(f"{len(ids)} webhooks are called {name!r}: give the id, {', '.join(ids)}")
    raise Failed(f"there is no webhook {name!r}: `headgate webhook list` shows them")


def _filters(api: Api, types: tuple[str, ...], fleets: tuple[str, ...]) -> dict[str, object]:
    return {"types": list(types), "fleet_ids": [lookup.fleet(api, fleet) for fleet in fleets]}


def _line(what: str) -> str:
    """A line of standard input, asked for without showing it on a terminal."""
    line = click.prompt(what.capitalize(), hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().strip()
    if not line:
        way_out = "pass a file that has it in its first line, `< FILE`"
        raise click.UsageError(f"{what} is missing on standard input: {way_out}")
    return str(line)


def _print_secret(webhook: WebhookWithSecret) -> None:
    value = webhook["secret"]
    if value:
        print_result(one_line(value))
        say("This is its secret. Give it to the receiver: it is not shown again.")
    else:
        # The answer that had it was lost on the way.
        again = f"headgate webhook secret {one_line(webhook['id'])}"
        say(f"Its secret was lost with the connection: `{again}` makes another one")


def _last(delivery: DeliveryOut) -> str:
    if not delivery["attempts"]:
        return "not yet"
    last = delivery["attempts"][-1]
    return f"HTTP {last['status']}" if last["status"] is not None else (last["error"] or "").replace("_", " ")

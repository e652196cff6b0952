"""The pages of service accounts and their tokens."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final

from fastapi import Response

from application import api
from application.wire import CreateToken
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import ServiceAccountId
from headgate.identity import members
from headgate.identity import service as identity
from headgate.identity.model import OwnerNotFound, ServiceAccount, Token
from web.commands import command, form
from web.forms import model_of
from web.html import NOTHING, Html, html
from web.layout import options, redirect
from web.pages import Here, MemberPage, page_router
from web.parts import action, confirmed, link, moment, nothing_yet, tag
from web.table import END, Cell, Column, View, Viewed, in_order, listing, read, table

router = page_router()

_PATH: Final = "/organizations/{organization_id}/service-accounts"
_ONE: Final = f"{_PATH}/{{service_account_id}}"
_LIFETIMES: Final = (("", "Never"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year"))

_ACCOUNTS: Final = """\
<h1>Service accounts</h1>
<div class="card"><h2>Create a service account</h2>
<form method="post" action="/organizations/{id}/service-accounts" class="row">{csrf}{name}
<button>Create</button></form></div>
<div class="card">{list}</div>"""
_ACCOUNT_COLUMNS: Final = (
    Column("Service account", "name", lambda account: account.name.casefold()),
    Column("Created by", "by", lambda account: _creator(account).casefold()),
    Column("Created", "created", lambda account: account.created_at),
)
_SOON: Final = timedelta(days=14)
_EXPIRING_TOKENS: Final = """\
<div class="card" id="tokens"><h2>Tokens of service accounts</h2>{table}</div>"""
_EXPIRING_COLUMNS: Final = ("What", "Token", "Reason", Column("Expires", kind="soft small"))
_REASON: Final = "Programs with it are refused once it has expired; give them another one"
_NONE_EXPIRES: Final = """\
<p class="small soft" id="tokens">No token of a service account expires within {days} days.</p>"""
_ACCOUNTS_FOR: Final = "A service account is what a pipeline or a script signs in as: it has tokens and no password."
_FIRST_ACCOUNT: Final = "None yet: create one above, then a token for it."
_TOKENS_FOR: Final = "A token lets a program use the API and the command line as this service account."
_NONE_YET: Final = "None yet: create one above. It is shown once, and goes into SERVICE_API_TOKEN."
_TOKENS: Final = """\
<p class="small"><a href="/organizations/{id}/service-accounts">Service accounts</a></p>
<h1>{name}</h1>{value}{membership}
<div class="card"><h2>Create a token</h2>
<form method="post" action="{path}/tokens">{csrf}
<div class="two">{name_field}
<div class="field"><label for="lifetime">Expires</label><select id="lifetime" name="days">{lifetimes}</select></div>
</div>
{owner}
<label class="check"><input type="checkbox" name="write_access" value="yes"{write}> Allow write access</label>
<button>Create token</button></form></div>
<div class="card"><h2>Tokens</h2>{tokens}</div>
<div class="card"><h2>Delete this service account</h2>
<p class="soft">Its tokens stop working at once.</p>{delete}</div>"""
_VALUE: Final = """\
<div class="card"><h2>Your new token</h2><div class="code long" id="token" data-copy="the token">{value}</div>
<p class="soft">Copy it now: it is not stored and cannot be shown again.</p></div>"""
_TOKEN_COLUMNS: Final = (
    Column("Name", "name", lambda token: token.name.casefold()),
    Column("Access", "access", lambda token: token.access),
    Column("Held by", "owner", lambda token: token.owner.name if token.owner else ""),
    # What never expires comes last.
    Column("Expires", "expires", lambda token: token.expires_at.timestamp() if token.expires_at else math.inf),
    END,
)
_REMOVED: Final = """\
<div class="card"><h2>Not a member</h2><p>This service account was removed from the organization, and its tokens were
deleted.</p>{again}</div>"""


@router.get(_PATH)
def list_service_accounts(here: Here, view: Viewed) -> Response:
    """The accounts; after a refusal, with the name as typed."""
    fields = here.fields()
    listed = read(view, partial(identity.service_accounts, here.caller), _ACCOUNT_COLUMNS)
    rows = [
        (
            link(f"{view.path}/{account.id}", account.name),
            _creator(account),
            moment(account.created_at),
        )
        for account in listed.entries
    ]
    first = nothing_yet(_ACCOUNTS_FOR, _FIRST_ACCOUNT)
    content = html(
        _ACCOUNTS,
        id=here.caller.organization_id,
        csrf=here.csrf,
        name=fields.text("name", "Name", most=200, hint="What it is for, for example ci"),
        list=listing(view, listed, _ACCOUNT_COLUMNS, rows, "service account", first),
    )
    problem = fields.problem(here.refused, "")
    return here.page("service-accounts", "Service accounts", content, problem=problem)


command(
    router,
    _PATH,
    api.create_service_account,
    "/service-accounts/{result.id}",
    body=lambda posted: {"name": posted.form.get("name", "")},
    refused=list_service_accounts,
)


def _creator(account: ServiceAccount) -> str:
    return account.created_by.name if account.created_by else "not recorded"


@router.get("/organizations/{organization_id}/expiring-tokens")
def list_expiring_tokens(here: Here) -> Response:
    """The tokens that expire soon. Home shows the part `tokens` of this page."""
    now, path = clock.now(), f"{here.home}/service-accounts"
    rows = [
        (
            tag("Token expired", "bad") if token.expires_at <= now else tag("Token expires", "warn"),
            link(f"{path}/{token.service_account_id}", token.name),
            _REASON,
            moment(token.expires_at),
        )
        for token in identity.tokens_until(here.caller, now + _SOON)
        if token.expires_at is not None
    ]
    listed = (
        html(_EXPIRING_TOKENS, table=table(_EXPIRING_COLUMNS, rows)) if rows else html(_NONE_EXPIRES, days=_SOON.days)
    )
    content = html("<h1>Tokens that expire soon</h1>{listed}", listed=listed)
    return here.page("service-accounts", "Tokens that expire soon", content)


@router.get(_ONE)
def show_service_account(here: Here, service_account_id: ServiceAccountId, view: Viewed) -> Response:
    return _page_of(here, _read(here.caller, service_account_id), view)


command(router, f"{_ONE}/delete", api.delete_service_account, "/service-accounts")
command(router, f"{_ONE}/tokens/{{token_id}}/delete", api.delete_token, "/service-accounts/{service_account_id}")


@form(router, f"{_ONE}/add")
def add_service_account(posted: MemberPage, service_account_id: ServiceAccountId) -> Response:
    members.add_service_account(posted.caller, service_account_id)
    return redirect(f"{posted.home}/service-accounts/{service_account_id}")


@form(router, f"{_ONE}/tokens", refused=show_service_account)
def create_token(posted: MemberPage, service_account_id: ServiceAccountId) -> Response:
    typed = posted.form
    days = typed.get("days", "")
    if days not in dict(_LIFETIMES):
        raise errors.Invalid("Choose from the list when the token expires")
    # Read before the token is created: once it exists, no error may prevent its value from being shown.
    shown, view = _read(posted.caller, service_account_id), View(f"{posted.home}/service-accounts/{service_account_id}")
    body = model_of(CreateToken, {"name": typed.get("name", ""), "write_access": typed.get("write_access") == "yes"})
    token, value = identity.create_token(
        posted.caller.organization_id,
        service_account_id,
        name=body.name,
        access=body.access,
        expires_at=clock.now() + timedelta(days=int(days)) if days else None,
        owner=typed.get("owner", "").strip() or None,
        by=posted.caller,
    )
    created = replace(shown, tokens=[*shown.tokens, token])
    return _page_of(replace(posted, form={}), created, view, html(_VALUE, value=value))


@dataclass(frozen=True, slots=True)
class _Account:
    """A service account with what its page shows."""

    account: ServiceAccount
    tokens: Sequence[Token]
    is_member: bool


def _read(caller: Caller, service_account_id: str) -> _Account:
    account = identity.service_account(caller, service_account_id)
    return _Account(account, identity.tokens(caller, account.id), members.is_member(caller, account.id))


def _page_of(here: MemberPage, shown: _Account, view: View, value: Html = NOTHING) -> Response:
    account, csrf, fields = shown.account, here.csrf, here.fields(owner=OwnerNotFound)
    path = f"{here.home}/service-accounts/{account.id}"
    rows = [_token_row(csrf, path, token) for token in in_order(view, shown.tokens, _TOKEN_COLUMNS)]
    removed = html(_REMOVED, again=action(f"{path}/add", csrf, "Make it a member again", "plain"))
    hint = f"The address of the member who is to use it; you, {here.caller.name}, if empty. "
    hint += "Neither of you can then approve a rollout that it starts"
    content = html(
        _TOKENS,
        id=here.caller.organization_id,
        name=account.name,
        value=value,
        membership=NOTHING if shown.is_member else removed,
        path=path,
        csrf=csrf,
        name_field=fields.text("name", "Name", most=200),
        owner=fields.text("owner", "Held by", most=254, required=False, hint=hint),
        lifetimes=options(_LIFETIMES, here.form.get("days", "")),
        write=Html(" checked") if here.form.get("write_access") == "yes" else NOTHING,
        tokens=table(_TOKEN_COLUMNS, rows, view=view) if rows else nothing_yet(_TOKENS_FOR, _NONE_YET),
        delete=confirmed(f"{path}/delete", csrf, "Delete service account", "This cannot be undone."),
    )
    problem, outcome = fields.problem(here.refused, ""), path if value else ""
    return here.page("service-accounts", account.name, content, problem=problem, outcome=outcome)


def _token_row(csrf: Html, path: str, token: Token) -> Sequence[Cell]:
    expired = token.expires_at is not None and token.expires_at <= clock.now()
    return (
        token.name,
        "Read and write" if token.access == "read_write" else "Read",
        token.owner.name if token.owner else "not recorded",
        tag("expired", "bad") if expired else moment(token.expires_at) if token.expires_at else "Never",
        confirmed(
            f"{path}/tokens/{token.id}/delete",
            csrf,
            "Delete",
            "Programs that use it are refused at once.",
            subject=token.name,
        ),
    )

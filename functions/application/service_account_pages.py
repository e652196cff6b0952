"""The pages of service accounts and their tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from fastapi import Response

from application.name_forms import BadName, name_field, name_of, status
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import ServiceAccountId, TokenId
from headgate.identity import members
from headgate.identity import service as identity
from headgate.identity.model import OwnerNotFound, ServiceAccount, Token
from web.html import NOTHING, Html, html
from web.layout import csrf_field, options, page, redirect
from web.pages import Form, Member, Visit, frame, page_router
from web.parts import action, confirmed, home, moment, nothing_yet, tag, text
from web.table import END, Cell, Column, Keys, View, Viewed, in_order, pages, read, table
from web.visitor import Visitor

router = page_router()

_LIFETIMES: Final = (("", "Never"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year"))

_ACCOUNTS: Final = """\
<h1>Service accounts</h1>
<div class="card"><h2>Create a service account</h2>
<form method="post" action="/organizations/{id}/service-accounts" class="row">{csrf}{name}
<button>Create</button></form></div>
<div class="card">{list}</div>"""
_ACCOUNT_COLUMNS: Final = (Column("Service account", "name"), Column("Created by", "by"), Column("Created", "created"))
_ACCOUNT_KEYS: Final[Keys] = {
    "name": lambda account: account.name.casefold(),
    "by": lambda account: _creator(account).casefold(),
    "created": lambda account: account.created_at,
}
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
_ACCOUNT: Final = '<a href="{path}/{account}"><strong>{name}</strong></a>'
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
    Column("Name", "name"),
    Column("Access", "access"),
    Column("Held by", "owner"),
    Column("Expires", "expires"),
    END,
)
_TOKEN_KEYS: Final[Keys] = {
    "name": lambda token: token.name.casefold(),
    "access": lambda token: token.access,
    "owner": lambda token: token.owner.name if token.owner else "",
    # What never expires comes last.
    "expires": lambda token: (token.expires_at is None, token.expires_at and token.expires_at.timestamp()),
}
_REMOVED: Final = """\
<div class="card"><h2>Not a member</h2><p>This service account was removed from the organization, and its tokens were
deleted.</p>{again}</div>"""


@router.get("/organizations/{organization_id}/service-accounts")
def list_service_accounts(who: Visit, caller: Member, view: Viewed) -> Response:
    return _service_accounts(who, caller, view)


def _service_accounts(who: Visitor, caller: Caller, view: View | None = None, wrong: BadName | None = None) -> Response:
    shown = frame(who, caller, "service-accounts")
    view = view or View(f"{home(caller)}/service-accounts")
    listed = read(view, lambda limit, after: identity.service_accounts(caller, limit, after), _ACCOUNT_KEYS)
    rows = [
        (
            html(_ACCOUNT, path=view.path, account=account.id, name=account.name),
            _creator(account),
            moment(account.created_at),
        )
        for account in listed.entries
    ]
    content = html(
        _ACCOUNTS,
        id=caller.organization_id,
        csrf=csrf_field(shown),
        name=name_field(wrong, hint="What it is for, for example ci"),
        list=html(
            "{pages}{table}",
            pages=pages(view, listed, {}, "service account"),
            table=table(_ACCOUNT_COLUMNS, rows, view=view),
        )
        if rows or not view.is_first
        else nothing_yet(_ACCOUNTS_FOR, _FIRST_ACCOUNT),
    )
    return page(shown, "Service accounts", content, status=status(wrong))


def _creator(account: ServiceAccount) -> str:
    return account.created_by.name if account.created_by else "not recorded"


@router.post("/organizations/{organization_id}/service-accounts")
def create_service_account(who: Visit, caller: Member, form: Form) -> Response:
    try:
        account = identity.create_service_account(caller.organization_id, name_of(form), by=caller)
    except errors.Invalid as error:
        return _service_accounts(who, caller, wrong=BadName(form, error))
    return redirect(f"{home(caller)}/service-accounts/{account.id}")


@router.get("/organizations/{organization_id}/expiring-tokens")
def list_expiring_tokens(who: Visit, caller: Member) -> Response:
    """The tokens that expire soon. Home shows the part `tokens` of this page."""
    now, path = clock.now(), f"{home(caller)}/service-accounts"
    rows = [
        (
            tag("Token expired", "bad") if token.expires_at <= now else tag("Token expires", "warn"),
            html(_ACCOUNT, path=path, account=token.service_account_id, name=token.name),
            _REASON,
            moment(token.expires_at),
        )
        for token in identity.tokens_until(caller, now + _SOON)
        if token.expires_at is not None
    ]
    listed = (
        html(_EXPIRING_TOKENS, table=table(_EXPIRING_COLUMNS, rows)) if rows else html(_NONE_EXPIRES, days=_SOON.days)
    )
    content = html("<h1>Tokens that expire soon</h1>{listed}", listed=listed)
    return page(frame(who, caller, "service-accounts"), "Tokens that expire soon", content)


@router.get("/organizations/{organization_id}/service-accounts/{service_account_id}")
def show_service_account(who: Visit, caller: Member, service_account_id: ServiceAccountId, view: Viewed) -> Response:
    return _page_of(who, caller, _read(caller, service_account_id), view=view)


@router.post("/organizations/{organization_id}/service-accounts/{service_account_id}/delete")
def delete_service_account(caller: Member, service_account_id: ServiceAccountId, form: Form) -> Response:
    identity.delete_service_account(caller, service_account_id)
    return redirect(f"{home(caller)}/service-accounts")


@router.post("/organizations/{organization_id}/service-accounts/{service_account_id}/add")
def add_service_account(caller: Member, service_account_id: ServiceAccountId, form: Form) -> Response:
    members.add_service_account(caller, service_account_id)
    return redirect(f"{home(caller)}/service-accounts/{service_account_id}")


@router.post("/organizations/{organization_id}/service-accounts/{service_account_id}/tokens")
def create_token(who: Visit, caller: Member, service_account_id: ServiceAccountId, form: Form) -> Response:
    days = form.get("days", "")
    if days not in dict(_LIFETIMES):
        raise errors.Invalid("Choose from the list when the token expires")
    # Read before the token is created: once it exists, no error may prevent its value from being shown.
    shown = _read(caller, service_account_id)
    try:
        name = name_of(form)
    except errors.Invalid as error:
        return _page_of(who, caller, shown, wrong=BadName(form, error))
    try:
        token, value = identity.create_token(
            caller.organization_id,
            service_account_id,
            name=name,
            access="read_write" if form.get("write_access") == "yes" else "read",
            expires_at=clock.now() + timedelta(days=int(days)) if days else None,
            owner=form.get("owner", "").strip() or None,
            by=caller,
        )
    except OwnerNotFound as error:
        return _page_of(who, caller, shown, wrong=BadName(form, error))
    return _page_of(who, caller, replace(shown, tokens=[*shown.tokens, token]), html(_VALUE, value=value))


@router.post("/organizations/{organization_id}/service-accounts/{service_account_id}/tokens/{token_id}/delete")
def delete_token(caller: Member, service_account_id: ServiceAccountId, token_id: TokenId, form: Form) -> Response:
    identity.delete_token(caller, service_account_id, token_id)
    return redirect(f"{home(caller)}/service-accounts/{service_account_id}")


@dataclass(frozen=True, slots=True)
class _Account:
    """A service account with what its page shows."""

    account: ServiceAccount
    tokens: Sequence[Token]
    is_member: bool


def _read(caller: Caller, service_account_id: str) -> _Account:
    account = identity.service_account(caller, service_account_id)
    return _Account(account, identity.tokens(caller, account.id), members.is_member(caller, account.id))


def _page_of(
    who: Visitor,
    caller: Caller,
    shown: _Account,
    value: Html = NOTHING,
    wrong: BadName | None = None,
    view: View | None = None,
) -> Response:
    typed = wrong.form if wrong else {}
    no_owner = wrong is not None and isinstance(wrong.error, OwnerNotFound)
    account = shown.account
    around = frame(who, caller, "service-accounts")
    csrf = csrf_field(around)
    path = f"{home(caller)}/service-accounts/{account.id}"
    view = view or View(path)
    listed = in_order(view, shown.tokens, _TOKEN_KEYS)
    rows = [_token_row(csrf, path, token) for token in listed]
    removed = html(_REMOVED, again=action(f"{path}/add", csrf, "Make it a member again", "plain"))
    content = html(
        _TOKENS,
        id=caller.organization_id,
        name=account.name,
        value=value,
        membership=NOTHING if shown.is_member else removed,
        path=path,
        csrf=csrf,
        name_field=name_field(None, typed.get("name", "")) if no_owner else name_field(wrong),
        owner=text(
            "owner",
            "Held by",
            typed.get("owner", ""),
            most=254,
            required=False,
            hint=f"The address of the member who is to use it; you, {caller.name}, if empty. Neither of you can then "
            "approve a rollout that it starts",
            error=wrong.error.detail if wrong and no_owner else "",
        ),
        lifetimes=options(_LIFETIMES, typed.get("days", "")),
        write=Html(" checked") if typed.get("write_access") == "yes" else NOTHING,
        tokens=table(_TOKEN_COLUMNS, rows, view=view) if rows else nothing_yet(_TOKENS_FOR, _NONE_YET),
        delete=confirmed(f"{path}/delete", csrf, "Delete service account", "This cannot be undone."),
    )
    return page(around, account.name, content, status=status(wrong))


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

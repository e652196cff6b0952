"""An organization: its members, service accounts, tokens and record of changes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from fastapi import Request, Response

from headgate import clock, errors
from headgate.audit import service as audit
from headgate.audit.model import AuditRecord
from headgate.identity import members, sessions
from headgate.identity import service as identity
from headgate.identity.model import Caller, Role, ServiceAccount, Token
from headgate.identity.model import Member as MemberRecord
from web.html import NOTHING, Html, html
from web.layout import csrf_field, options, page, redirect
from web.pages import Form, Member, Person, Visit, frame, page_router
from web.parts import ENTRIES, After, action, day, empty, home, more, tag
from web.site import public_url
from web.visitor import Visitor

router = page_router()

_ROLES: Final = (("contributor", "Contributor"), ("admin", "Admin"))
_LIFETIMES: Final = (("", "Never"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year"))

_CHOOSE: Final = '<div class="card"><h1>Your organizations</h1><ul class="plain">{entries}</ul></div>'
_CHOICE: Final = '<li><a href="/organizations/{id}">{name}</a><span class="tag">{role}</span></li>'
_NONE: Final = """\
<div class="card"><h1>No organization</h1><p>You are not a member of any organization. Ask an Admin to invite you.</p>
</div>"""
_OVERVIEW: Final = """\
<div class="card"><h1>{name}</h1>
<p class="soft">Organization <code>{id}</code> · you are {role}</p>
<p>Look at its <a href="/organizations/{id}/configurations">configurations</a>, whose pipelines you give validation
rules here, and at its <a href="/organizations/{id}/fleets">fleets</a>, whose groups you give volume mounts.</p>
<p class="last">All else is worked on with the command line and the API. Connect a terminal with
<code>headgate login --url {url}</code>.</p></div>
{manage}"""
_MANAGE: Final = """\
<div class="card"><h2>Rename this organization</h2>
<form method="post" action="/organizations/{id}/rename" class="row">{csrf}
<div><label for="name">Name</label><input id="name" name="name" required maxlength="200" value="{name}"></div>
<button>Rename</button></form></div>
<div class="card"><h2>Create another organization</h2>
<form method="post" action="/organizations/{id}/create" class="row">{csrf}
<div><label for="other">Name</label><input id="other" name="name" required maxlength="200"></div>
<button class="plain">Create</button></form></div>"""
_MEMBERS: Final = """\
<h1>Members</h1>{invite}
<div class="card"><table><thead><tr><th>Member</th><th>Role</th><th></th><th></th></tr></thead><tbody>{rows}</tbody>
</table></div>{more}"""
_INVITE: Final = """\
<div class="card"><h2>Invite somebody</h2>
<form method="post" action="/organizations/{id}/members" class="row">{csrf}
<div><label for="email">Email address</label><input id="email" name="email" type="email" required maxlength="254"></div>
<div><label for="role">Role</label><select id="role" name="role">{roles}</select></div>
<button>Invite</button></form></div>"""
_MEMBER: Final = '<tr><td>{name} {tag}</td><td>{role}</td><td>{again}</td><td class="end">{remove}</td></tr>'
_ROLE: Final = """\
<form method="post" action="/organizations/{id}/members/{member}/role">{csrf}
<select name="role" aria-label="Role of {name}">{roles}</select><button class="plain small">Set</button></form>"""
_ACCOUNTS: Final = """\
<h1>Service accounts</h1>
<div class="card"><h2>Create a service account</h2>
<form method="post" action="/organizations/{id}/service-accounts" class="row">{csrf}
<div><label for="name">Name</label><input id="name" name="name" required maxlength="200" placeholder="ci"></div>
<button>Create</button></form></div>
<div class="card">{list}</div>{more}"""
_ACCOUNT: Final = """\
<li><a href="/organizations/{id}/service-accounts/{account}">{name}</a><span class="soft small">{at}</span></li>"""
_TOKENS: Final = """\
<p class="small"><a href="/organizations/{id}/service-accounts">Service accounts</a></p>
<h1>{name}</h1>{value}{membership}
<div class="card"><h2>Create a token</h2>
<form method="post" action="{path}/tokens">{csrf}
<div class="two"><div><label for="name">Name</label><input id="name" name="name" required maxlength="200"></div>
<div><label for="lifetime">Expires</label><select id="lifetime" name="days">{lifetimes}</select></div></div>
<label class="check"><input type="checkbox" name="write_access" value="yes"> Allow write access</label>
<button>Create token</button></form></div>
<div class="card"><h2>Tokens</h2>{tokens}</div>
<div class="card"><h2>Delete this service account</h2>
<p class="soft">Its tokens stop working at once.</p>{delete}</div>"""
_VALUE: Final = """\
<div class="card"><h2>Your new token</h2><div class="code long" id="token">{value}</div>
<p class="soft">Copy it now: it is not kept and cannot be shown again.</p></div>"""
_KEY_TABLE: Final = """\
<table><thead><tr><th>Name</th><th>Access</th><th>Expires</th><th></th></tr></thead><tbody>{rows}</tbody></table>"""
_KEY_ROW: Final = '<tr><td>{name}</td><td>{access}</td><td>{expires}</td><td class="end">{delete}</td></tr>'
_REMOVED: Final = """\
<div class="card"><h2>Not a member</h2><p>This service account was removed from the organization, and its tokens with
it.</p>{again}</div>"""
_CHANGES: Final = """\
<h1>Changes</h1><div class="card">{list}</div>{more}"""
_CHANGE_TABLE: Final = """\
<table><thead><tr><th>When</th><th>Who</th><th>What</th><th>Credential</th></tr></thead><tbody>{rows}</tbody></table>"""
_CHANGE: Final = """\
<tr><td class="small">{at}</td><td>{who}</td><td><code>{action}</code> {details}
<div class="small soft">{target}</div></td>\
<td class="small soft">{credential}</td></tr>"""


@router.get("/")
def start(who: Visit, session: Person) -> Response:
    organizations = sessions.organizations(session)
    if len(organizations) == 1:
        return redirect(f"/organizations/{organizations[0].organization_id}")
    if not organizations:
        return page(frame(who), "No organization", html(_NONE))
    entries = [
        html(_CHOICE, id=one.organization_id, name=one.organization_name, role=one.role) for one in organizations
    ]
    return page(frame(who), "Your organizations", html(_CHOOSE, entries=entries))


@router.get("/organizations/{organization_id}")
def overview(request: Request, who: Visit, caller: Member) -> Response:
    shown = frame(who, caller)
    manage = html(_MANAGE, id=caller.organization_id, csrf=csrf_field(shown), name=caller.organization_name)
    content = html(
        _OVERVIEW,
        name=caller.organization_name,
        id=caller.organization_id,
        role="an Admin" if caller.is_admin else "a Contributor",
        url=public_url(request),
        manage=manage if caller.is_admin else NOTHING,
    )
    return page(shown, caller.organization_name, content)


@router.post("/organizations/{organization_id}/rename")
def rename(caller: Member, form: Form) -> Response:
    members.rename_organization(caller, _name(form))
    return redirect(home(caller))


@router.post("/organizations/{organization_id}/create")
def create_organization(caller: Member, form: Form) -> Response:
    return redirect(f"/organizations/{members.create_organization(caller, _name(form)).organization_id}")


@router.get("/organizations/{organization_id}/members")
def list_members(who: Visit, caller: Member, after: After = None) -> Response:
    shown = frame(who, caller, "members")
    part = members.members(caller, ENTRIES, after)
    invite = html(_INVITE, id=caller.organization_id, csrf=csrf_field(shown), roles=options(_ROLES, "contributor"))
    content = html(
        _MEMBERS,
        invite=invite if caller.is_admin else NOTHING,
        rows=[_member_row(who, caller, one) for one in part.entries],
        more=more(f"{home(caller)}/members", part.position),
    )
    return page(shown, "Members", content)


@router.post("/organizations/{organization_id}/members")
def invite(request: Request, caller: Member, form: Form) -> Response:
    members.invite(caller, form.get("email", ""), _role(form), public_url(request))
    return redirect(f"{home(caller)}/members")


@router.post("/organizations/{organization_id}/members/{member_id}/role")
def change_role(caller: Member, member_id: str, form: Form) -> Response:
    members.change_role(caller, member_id, _role(form))
    return redirect(f"{home(caller)}/members")


@router.post("/organizations/{organization_id}/members/{member_id}/remove")
def remove_member(caller: Member, member_id: str, form: Form) -> Response:
    members.remove(caller, member_id)
    return redirect(f"{home(caller)}/members")


@router.get("/organizations/{organization_id}/service-accounts")
def list_service_accounts(who: Visit, caller: Member, after: After = None) -> Response:
    shown = frame(who, caller, "service-accounts")
    part = identity.service_accounts(caller, ENTRIES, after)
    entries = [
        html(_ACCOUNT, id=caller.organization_id, account=one.id, name=one.name, at=day(one.created_at))
        for one in part.entries
    ]
    listed = html('<ul class="plain">{entries}</ul>', entries=entries) if entries else empty("No service account yet.")
    content = html(
        _ACCOUNTS,
        id=caller.organization_id,
        csrf=csrf_field(shown),
        list=listed,
        more=more(f"{home(caller)}/service-accounts", part.position),
    )
    return page(shown, "Service accounts", content)


@router.post("/organizations/{organization_id}/service-accounts")
def create_service_account(caller: Member, form: Form) -> Response:
    account = identity.create_service_account(caller.organization_id, _name(form), by=caller)
    return redirect(f"{home(caller)}/service-accounts/{account.id}")


@router.get("/organizations/{organization_id}/service-accounts/{service_account_id}")
def show_service_account(who: Visit, caller: Member, service_account_id: str) -> Response:
    return _page_of(who, caller, _look(caller, service_account_id))


@router.post("/organizations/{organization_id}/service-accounts/{service_account_id}/delete")
def delete_service_account(caller: Member, service_account_id: str, form: Form) -> Response:
    identity.delete_service_account(caller, service_account_id)
    return redirect(f"{home(caller)}/service-accounts")


@router.post("/organizations/{organization_id}/service-accounts/{service_account_id}/add")
def add_service_account(caller: Member, service_account_id: str, form: Form) -> Response:
    members.add_service_account(caller, service_account_id)
    return redirect(f"{home(caller)}/service-accounts/{service_account_id}")


@router.post("/organizations/{organization_id}/service-accounts/{service_account_id}/tokens")
def create_token(who: Visit, caller: Member, service_account_id: str, form: Form) -> Response:
    days = form.get("days", "")
    if days not in dict(_LIFETIMES):
        raise errors.Invalid("Choose one of the offered lifetimes")
    # Before the token is made: after it, nothing may keep its value from being shown.
    found = _look(caller, service_account_id)
    token, value = identity.create_token(
        caller.organization_id,
        service_account_id,
        name=_name(form),
        access="read_write" if form.get("write_access") == "yes" else "read",
        expires_at=clock.now() + timedelta(days=int(days)) if days else None,
        by=caller,
    )
    return _page_of(who, caller, replace(found, tokens=[*found.tokens, token]), html(_VALUE, value=value))


@router.post("/organizations/{organization_id}/service-accounts/{service_account_id}/tokens/{token_id}/delete")
def delete_token(caller: Member, service_account_id: str, token_id: str, form: Form) -> Response:
    identity.delete_token(caller, service_account_id, token_id)
    return redirect(f"{home(caller)}/service-accounts/{service_account_id}")


@router.get("/organizations/{organization_id}/changes")
def list_changes(who: Visit, caller: Member, after: After = None) -> Response:
    part = audit.records(caller, ENTRIES, after)
    rows = [_change_row(record) for record in part.entries]
    content = html(
        _CHANGES,
        list=html(_CHANGE_TABLE, rows=rows) if rows else empty("Nothing was changed yet."),
        more=more(f"{home(caller)}/changes", part.position),
    )
    return page(frame(who, caller, "changes"), "Changes", content)


def _member_row(who: Visitor, caller: Caller, member: MemberRecord) -> Html:
    csrf = csrf_field(frame(who))
    path = f"{home(caller)}/members"
    person = member.principal.kind == "user"
    mark = "invited" if member.status == "invited" else "" if person else "service account"
    role: Html | str = dict(_ROLES)[member.role]
    remove = again = NOTHING
    if caller.is_admin:
        if person:
            role = html(
                _ROLE,
                id=caller.organization_id,
                member=member.principal.id,
                csrf=csrf,
                name=member.principal.name,
                roles=options(_ROLES, member.role),
            )
        remove = action(f"{path}/{member.principal.id}/remove", csrf, "Remove", "danger")
        if member.status == "invited":
            fields = html(
                '<input type="hidden" name="email" value="{email}"><input type="hidden" name="role" value="{role}">',
                email=member.principal.name,
                role=member.role,
            )
            again = action(path, csrf, "Send mail again", "plain", fields)
    return html(
        _MEMBER,
        name=member.principal.name,
        tag=tag(mark) if mark else NOTHING,
        role=role,
        again=again,
        remove=remove,
    )


@dataclass(frozen=True, slots=True)
class _Account:
    """What the page of a service account shows."""

    account: ServiceAccount
    tokens: Sequence[Token]
    is_member: bool


def _look(caller: Caller, service_account_id: str) -> _Account:
    account = identity.service_account(caller, service_account_id)
    return _Account(account, identity.tokens(caller, account.id), members.is_member(caller, account.id))


def _page_of(who: Visitor, caller: Caller, found: _Account, value: Html = NOTHING) -> Response:
    account = found.account
    shown = frame(who, caller, "service-accounts")
    csrf = csrf_field(shown)
    path = f"{home(caller)}/service-accounts/{account.id}"
    rows = [_token_row(csrf, path, token) for token in found.tokens]
    removed = html(_REMOVED, again=action(f"{path}/add", csrf, "Make it a member again", "plain"))
    content = html(
        _TOKENS,
        id=caller.organization_id,
        name=account.name,
        value=value,
        membership=NOTHING if found.is_member else removed,
        path=path,
        csrf=csrf,
        lifetimes=options(_LIFETIMES, ""),
        tokens=html(_KEY_TABLE, rows=rows) if rows else empty("No token yet."),
        delete=action(f"{path}/delete", csrf, "Delete service account", "danger"),
    )
    return page(shown, account.name, content)


def _token_row(csrf: Html, path: str, token: Token) -> Html:
    expired = token.expires_at is not None and token.expires_at <= clock.now()
    return html(
        _KEY_ROW,
        name=token.name,
        access="Read and write" if token.access == "read_write" else "Read",
        expires="Expired" if expired else day(token.expires_at) if token.expires_at else "Never",
        delete=action(f"{path}/tokens/{token.id}/delete", csrf, "Delete", "danger"),
    )


def _change_row(record: AuditRecord) -> Html:
    details = ", ".join(f"{name} {value}" for name, value in record.details.items())
    return html(
        _CHANGE,
        at=record.at.strftime("%Y-%m-%d %H:%M:%S"),
        who=record.actor.name,
        action=record.action,
        details=details,
        target=record.target,
        credential=record.credential_id,
    )


def _name(form: dict[str, str]) -> str:
    name = form.get("name", "").strip()
    if not 1 <= len(name) <= 200:
        raise errors.Invalid("A name has 1 to 200 characters")
    return name


def _role(form: dict[str, str]) -> Role:
    match form.get("role"):
        case "admin":
            return "admin"
        case "contributor":
            return "contributor"
    raise errors.Invalid("The role is Contributor or Admin")

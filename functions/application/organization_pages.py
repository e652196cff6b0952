"""The pages of organizations and their people: invitations and members."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from fastapi import Response

from application import api
from headgate.foundation import errors
from headgate.foundation.ids import is_id
from headgate.http.parameters import OrganizationId
from headgate.identity import invitations, members, sessions
from headgate.identity.model import AlreadyMember, Invitation, LastAdmin, Session
from headgate.identity.model import Member as MemberRecord
from web.commands import command
from web.html import NOTHING, Html, html
from web.layout import csrf_field, options, page, redirect
from web.pages import Form, Here, MemberPage, Person, Visit, frame, page_router
from web.parts import action, confirmed, hidden, moment, tag
from web.table import END, Cell, Column, Viewed, pages, read, table
from web.visitor import Visitor

router = page_router()

_PATH: Final = "/organizations/{organization_id}/members"
_ROLES: Final = (("contributor", "Contributor"), ("admin", "Admin"))

_CHOOSE: Final = '<div class="card"><h1>Your organizations</h1><ul class="plain">{entries}</ul></div>'
_CHOICE: Final = '<li><a href="/organizations/{id}">{name}</a><span class="tag">{role}</span></li>'
_NONE: Final = """\
<div class="card"><h1>No organization</h1><p>You are not a member of any organization. Ask an Admin to invite you.</p>
</div>"""
_INVITED: Final = '<div class="card"><h1>You are invited</h1><ul class="plain">{entries}</ul></div>'
_INVITATION: Final = """\
<li><span>{name}<br><span class="soft small">as {role}, by {by}, until {until}</span></span>
<span class="row">{accept}{decline}</span></li>"""
_NO_INVITATIONS: Final = """\
<div class="card"><h1>No invitations</h1><p>You have no open invitations.</p></div>"""
_MEMBERS: Final = '<h1>Members</h1>{invite}<div class="card">{pages}{table}</div>'
_COLUMNS: Final = (
    Column("Member", "name", lambda member: member.principal.name.casefold()),
    Column("Kind", "kind", lambda member: _kind(member)),
    Column("Role", "role", lambda member: member.role),
    END,
)
_INVITE: Final = """\
<div class="card"><h2>Invite somebody</h2>
<form method="post" action="/organizations/{id}/members" class="row">{csrf}{email}
{role}
<button>Invite</button></form>
<p class="small soft last">The invitation is open for seven days. People without an account get a mail. Everybody else
gets none: tell them to sign in and accept.</p></div>"""
_ROLE: Final = """\
<form method="post" action="/organizations/{id}/members/{member}/role">{csrf}
<select name="role" aria-label="Role of {name}">{roles}</select>\
<button class="plain small" aria-label="Save the role of {name}">Save</button></form>"""


@router.get("/")
def start(who: Visit, session: Person) -> Response:
    organizations = sessions.organizations(session)
    invited = _invitations(who, session)
    if len(organizations) == 1 and not invited:
        return redirect(f"/organizations/{organizations[0].organization_id}")
    if not organizations:
        return page(frame(who), "You are invited" if invited else "No organization", invited or html(_NONE))
    entries = [
        html(_CHOICE, id=membership.organization_id, name=membership.organization_name, role=membership.role)
        for membership in organizations
    ]
    content = html("{invited}{chosen}", invited=invited, chosen=html(_CHOOSE, entries=entries))
    return page(frame(who), "Your organizations", content)


@router.get("/invitations")
def list_invitations(who: Visit, session: Person) -> Response:
    return page(frame(who), "Invitations", _invitations(who, session) or html(_NO_INVITATIONS))


@router.post("/invitations/{organization_id}/accept")
def accept_invitation(organization_id: OrganizationId, session: Person, form: Form) -> Response:
    invitations.accept(session, organization_id)
    return redirect(f"/organizations/{organization_id}")


@router.post("/invitations/{organization_id}/decline")
def decline_invitation(organization_id: OrganizationId, session: Person, form: Form) -> Response:
    invitations.decline(session, organization_id)
    return redirect("/")


def _invitations(who: Visitor, session: Session) -> Html:
    """The person's open invitations; empty if there are none."""
    csrf = csrf_field(frame(who))
    invited = invitations.of_person(session)
    # Two organizations may have the same name; the inviter's address was verified.
    entries = [
        html(
            _INVITATION,
            name=invitation.organization_name,
            role=dict(_ROLES)[invitation.role],
            by=invitation.invited_by,
            until=moment(invitation.expires_at),
            accept=_answer(invitation, "accept", csrf, "Accept"),
            decline=_answer(invitation, "decline", csrf, "Decline"),
        )
        for invitation in invited
    ]
    return html(_INVITED, entries=entries) if invited else NOTHING


def _answer(invitation: Invitation, way: str, csrf: Html, label: str) -> Html:
    path = f"/invitations/{invitation.organization_id}/{way}"
    return action(path, csrf, label, "plain", subject=invitation.organization_name)


@router.get(_PATH)
def list_members(here: Here, view: Viewed) -> Response:
    """The members; after a refusal, with the invitation as typed, or the reason why a member was not changed."""
    fields = here.fields(email=AlreadyMember)
    listed = read(view, partial(members.members, here.caller), _COLUMNS)
    invite = html(
        _INVITE,
        id=here.caller.organization_id,
        csrf=here.csrf,
        email=fields.text("email", "Email address", most=254, kind="email"),
        role=fields.choice("role", "Role", _ROLES, "contributor"),
    )
    content = html(
        _MEMBERS,
        invite=invite if here.caller.is_admin else NOTHING,
        pages=pages(view, listed, {}, "member"),
        table=table(_COLUMNS, [_member_row(here, member) for member in listed.entries], view=view),
    )
    return here.page("members", "Members", content, problem=fields.problem(here.refused, ""))


command(
    router,
    _PATH,
    api.add_member,
    "/members",
    body=lambda posted: {name: posted.form.get(name, "") for name in ("email", "role")},
    refused=list_members,
    refusals=(errors.Invalid, AlreadyMember),
)
command(
    router,
    f"{_PATH}/{{member_id}}/role",
    api.patch_member,
    "/members",
    body=lambda posted: {"role": posted.form.get("role", "")},
    refused=list_members,
    refusals=(LastAdmin,),
)
command(
    router, f"{_PATH}/{{member_id}}/remove", api.remove_member, "/members", refused=list_members, refusals=(LastAdmin,)
)


def _kind(member: MemberRecord) -> str:
    if member.status == "invited":
        return "invited"
    return "person" if member.principal.kind == "user" else "service account"


def _member_row(here: MemberPage, member: MemberRecord) -> Sequence[Cell]:
    csrf, path = here.csrf, f"{here.home}/members"
    person = member.principal.kind == "user"
    role: Html | str = dict(_ROLES)[member.role]
    remove = again = NOTHING
    if here.caller.is_admin:
        if person:
            role = html(
                _ROLE,
                id=here.caller.organization_id,
                member=member.principal.id,
                csrf=csrf,
                name=member.principal.name,
                roles=options(_ROLES, member.role),
            )
        loss = "They lose access at once." if person else "Its tokens are deleted and stop working at once."
        label = "Remove"
        if is_id("inv", member.principal.id):
            loss, label = "The invitation can no longer be accepted.", "Withdraw"
        remove = confirmed(f"{path}/{member.principal.id}/remove", csrf, label, loss, subject=member.principal.name)
        if member.status == "invited":
            fields = html("{a}{b}", a=hidden("email", member.principal.name), b=hidden("role", member.role))
            again = action(path, csrf, "Invite again", "plain", fields)
    kind = _kind(member)
    return (
        member.principal.name,
        kind if kind == "person" else tag(kind, "warn" if kind == "invited" else ""),
        role,
        html("{again} {remove}", again=again, remove=remove),
    )

"""Organizations, people and members in the identity table. One method, one access pattern."""

from __future__ import annotations

import contextlib
from typing import Final

from headgate.foundation import clock
from headgate.foundation.caller import Role
from headgate.foundation.page import Slice
from headgate.foundation.principal import Principal
from headgate.identity import keys
from headgate.identity.model import AlreadyMember, LastAdmin, Member, Membership, MemberStatus, Organization, User
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.retry import LostRace
from headgate.storage.stored import Stored
from headgate.storage.table import Write, identity

USERS: Final = Stored(User, names={"id": "user_id"})
_ORGANIZATIONS: Final = Stored(Organization, names={"id": "organization_id"})
_MEMBERS: Final = Stored(Member, elsewhere=["organization_id"], flat={"principal": {"id": "principal_id"}})


def put_organization(organization: Organization, admin: User | None, status: MemberStatus, *more: Write) -> None:
    """Store a new organization and its first Admin; one transaction. Raises LostRace."""
    item = _ORGANIZATIONS.item(organization) | {"admins": 1 if admin else 0}
    writes = [identity.put_new(keys.organization(organization.id) | item)]
    if admin is not None:
        principal = Principal("user", admin.id, admin.email)
        writes += _put_user_member(Member(organization.id, principal, "admin", status, organization.created_at))
    table.transact([*writes, *more])


def organization_name(organization_id: str) -> str | None:
    """The organization's name; one read. None if there is no such organization."""
    item = identity.get(keys.organization(organization_id))
    return items.text(item, "name") if item else None


def rename_organization(organization_id: str, name: str, *more: Write) -> None:
    """One transaction. Raises LostRace."""
    key = keys.organization(organization_id)
    renamed = identity.update(key, "SET #name = :name", "attribute_exists(pk)", {":name": name})
    table.transact([renamed, *more])


def membership(organization_id: str, user_id: str) -> Membership | None:
    """Returns the person's membership of the organization, None if not a member; one read of two items."""
    rows = identity.get_all([keys.organization(organization_id), keys.member(organization_id, user_id)])
    organization = next((item for item in rows if item["sk"] == "organization"), None)
    member = next((item for item in rows if item["sk"] != "organization"), None)
    if organization is None or member is None:
        return None
    return Membership(organization_id, items.text(organization, "name"), _role(member))


def memberships(user_id: str) -> list[Membership]:
    """The person's organizations by name; one query, and one read for each fifty of them."""
    listed = identity.list_all(keys.user_partition(user_id), keys.MEMBERS)
    ids = [items.text(item, "organization_id") for item in listed]
    rows = identity.get_all([key for each in ids for key in (keys.organization(each), keys.member(each, user_id))])
    organizations = {item["pk"]: item for item in rows if item["sk"] == "organization"}
    members = [item for item in rows if item["sk"] != "organization" and item["pk"] in organizations]
    together = [
        Membership(
            keys.organization_id_of(items.text(member, "pk")),
            items.text(organizations[member["pk"]], "name"),
            _role(member),
        )
        for member in members
    ]
    return sorted(together, key=lambda entry: (entry.organization_name.casefold(), entry.organization_id))


def user_by_email(email: str) -> User | None:
    """Two reads, the second only if there is such a person."""
    marker = identity.get(keys.email(email))
    item = identity.get(keys.user(items.text(marker, "user_id"))) if marker else None
    if item is None:
        return None
    return USERS.read(item)


def put_user(user: User) -> None:
    """Store a new person; one transaction. Raises LostRace if the address has one already."""
    table.transact(
        [
            identity.put_new(keys.email(user.email) | {"user_id": user.id}),
            identity.put_new(keys.user(user.id) | USERS.item(user)),
        ]
    )


def member(organization_id: str, principal_id: str) -> Member | None:
    """One read."""
    item = identity.get(keys.member(organization_id, principal_id))
    return _member(organization_id, item) if item and not items.expired(item, clock.now()) else None


def members(organization_id: str, limit: int, after: str | None) -> Slice[Member]:
    """Invitations first, then service accounts and people, each the oldest first; one query."""
    part = identity.list(keys.organization_partition(organization_id), keys.MEMBERS, limit, after)
    at = clock.now()
    return Slice(
        [_member(organization_id, item) for item in part.entries if not items.expired(item, at)],
        part.position,
    )


def add_user(member: Member, *more: Write) -> None:
    """Make a person a member; one transaction. Raises AlreadyMember, LostRace."""
    table.transact([*added_writes(member), *more], {0: AlreadyMember(), 1: AlreadyMember()})


def added_writes(member: Member) -> list[Write]:
    """The writes that make a person a member of an organization that exists; the first two fail for a member."""
    if member.role == "admin":
        organization = _count_admins(member.organization_id, 1)
    else:
        organization = identity.must_exist(keys.organization(member.organization_id))
    return [*_put_user_member(member), organization]


def add_service_account(member: Member, *more: Write) -> None:
    """Make a service account a member again; one transaction. Raises AlreadyMember, LostRace."""
    account = identity.must_exist(keys.service_account(member.organization_id, member.principal.id))
    table.transact([put(member), account, *more], {0: AlreadyMember()})


def put(member: Member) -> Write:
    """Store a new member as a part of a transaction."""
    return identity.put_new(keys.member(member.organization_id, member.principal.id) | _MEMBERS.item(member))


def activate(organization_id: str, user_id: str) -> None:
    """Make an invited person active; one transaction of one update. A removed member stays removed."""
    values: Item = {":active": "active", ":invited": "invited"}
    key = keys.member(organization_id, user_id)
    with contextlib.suppress(LostRace):
        table.transact([identity.update(key, "SET #status = :active", "#status = :invited", values)])


def change_role(before: Member, role: Role, *more: Write) -> None:
    """One transaction, which counts the Admins. Raises LastAdmin, LostRace."""
    key = keys.member(before.organization_id, before.principal.id)
    changed = identity.update(key, "SET #role = :after", "#role = :before", {":after": role, ":before": before.role})
    count = _count_admins(before.organization_id, 1 if role == "admin" else -1)
    table.transact([changed, count, *more], {1: LastAdmin()})


def remove_user(before: Member, *more: Write) -> None:
    """One transaction, which counts the Admins; the person's sessions stop in this organization at once.

    Raises LastAdmin, LostRace.
    """
    key = keys.member(before.organization_id, before.principal.id)
    removed = identity.delete(key, "#role = :before", {":before": before.role})
    listing = identity.delete(keys.membership(before.principal.id, before.organization_id))
    if before.role == "admin":
        organization = _count_admins(before.organization_id, -1)
    else:
        organization = identity.must_exist(keys.organization(before.organization_id))
    table.transact([removed, organization, listing, *more], {1: LastAdmin()})


def first_organization(organization_id: str) -> Write:
    """Note the first organization; fails if there is one already."""
    return identity.put_new(keys.first_organization() | {"organization_id": organization_id})


def has_first_organization() -> bool:
    """One read."""
    return identity.get(keys.first_organization()) is not None


def _count_admins(organization_id: str, change: int) -> Write:
    """The number of Admins stands in the organization's item, so that no two can both be the last to go."""
    condition = "attribute_exists(pk)" if change > 0 else "admins > :one"
    values: Item = {":change": change} if change > 0 else {":change": change, ":one": 1}
    return identity.update(keys.organization(organization_id), "ADD admins :change", condition, values)


def _put_user_member(member: Member) -> list[Write]:
    membership = keys.membership(member.principal.id, member.organization_id)
    return [
        put(member),
        identity.put_new(membership | {"organization_id": member.organization_id}),
    ]


def _member(organization_id: str, item: Item) -> Member:
    # Not from its attribute, which the first items of service accounts lack.
    principal_id = keys.principal_id_of(items.text(item, "sk"))
    return _MEMBERS.read(item, organization_id=organization_id, principal_id=principal_id)


def _role(item: Item) -> Role:
    return "admin" if item["role"] == "admin" else "contributor"

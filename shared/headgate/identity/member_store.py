"""Organizations, people and members in the identity table. One method, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.identity import keys, table
from headgate.identity.model import (
    AlreadyMember,
    LastAdmin,
    Member,
    Membership,
    MemberStatus,
    Organization,
    Principal,
    Role,
    User,
)
from headgate.identity.table import delete, must_exist, put_new, transact, update
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.page import Slice

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


class LostRace(Exception):
    """The member changed since it was read."""


def put_organization(
    organization: Organization, admin: User | None, status: MemberStatus, *more: TransactWriteItemTypeDef
) -> None:
    """Keep a new organization and its first Admin; one transaction."""
    created_at = clock.rfc3339(organization.created_at)
    writes = [
        put_new(
            keys.organization(organization.id)
            | {
                "organization_id": organization.id,
                "name": organization.name,
                "created_at": created_at,
                "admins": 1 if admin else 0,
            }
        )
    ]
    if admin is not None:
        member = Member(
            organization.id, Principal("user", admin.id, admin.email), "admin", status, organization.created_at
        )
        writes += _put_user_member(member)
    transact(*writes, *more)


def organization_name(organization_id: str) -> str | None:
    """The organization's name; one read. None if there is no such organization."""
    item = table.get(keys.organization(organization_id))
    return items.text(item, "name") if item else None


def rename_organization(organization_id: str, name: str, *more: TransactWriteItemTypeDef) -> None:
    """One transaction."""
    renamed = update(keys.organization(organization_id), "SET #name = :name", "attribute_exists(pk)", {":name": name})
    transact(renamed, *more)


def membership(organization_id: str, user_id: str) -> Membership | None:
    """What the person is in the organization, None if not a member; one read of two items."""
    found = table.get_all([keys.organization(organization_id), keys.member(organization_id, user_id)])
    organization = next((item for item in found if item["sk"] == "organization"), None)
    member = next((item for item in found if item["sk"] != "organization"), None)
    if organization is None or member is None:
        return None
    return Membership(organization_id, items.text(organization, "name"), _role(member))


def memberships(user_id: str) -> list[Membership]:
    """The person's organizations by name; one query, and one read for each fifty of them."""
    listed = [
        items.text(item, "organization_id") for item in table.query_all(items.text(keys.user(user_id), "pk"), "member#")
    ]
    wanted = [key for one in listed for key in (keys.organization(one), keys.member(one, user_id))]
    found = {(item["pk"], item["sk"]): item for item in table.get_all(wanted)}
    together = []
    for one in listed:
        organization = found.get((keys.organization(one)["pk"], keys.organization(one)["sk"]))
        member = found.get((keys.member(one, user_id)["pk"], keys.member(one, user_id)["sk"]))
        if organization is not None and member is not None:
            together.append(Membership(one, items.text(organization, "name"), _role(member)))
    return sorted(together, key=lambda entry: (entry.organization_name.casefold(), entry.organization_id))


def user_by_email(email: str) -> User | None:
    """Two reads, the second only if there is such a person."""
    marker = table.get(keys.email(email))
    item = table.get(keys.user(items.text(marker, "user_id"))) if marker else None
    if item is None:
        return None
    return User(items.text(item, "user_id"), items.text(item, "email"), clock.parse(items.text(item, "created_at")))


def put_user(user: User) -> bool:
    """Keep a new person; one transaction. False if the address has one already."""
    try:
        transact(
            put_new(keys.email(user.email) | {"user_id": user.id}),
            put_new(
                keys.user(user.id)
                | {"user_id": user.id, "email": user.email, "created_at": clock.rfc3339(user.created_at)}
            ),
        )
    except ClientError as error:
        if items.lost_a_race(error):
            return False
        raise
    return True


def member(organization_id: str, principal_id: str) -> Member | None:
    """One read."""
    item = table.get(keys.member(organization_id, principal_id))
    return _member(organization_id, item) if item and not table.expired(item, clock.now()) else None


def members(organization_id: str, limit: int, after: str | None) -> Slice[Member]:
    """Invitations that stand first, then service accounts and people in the order of their making; one query."""
    part = table.query(items.text(keys.organization(organization_id), "pk"), "member#", limit, after)
    at = clock.now()
    return Slice(
        [_member(organization_id, item) for item in part.entries if not table.expired(item, at)], part.position
    )


def add_user(added: Member, *more: TransactWriteItemTypeDef) -> None:
    """Make a person a member; one transaction. Raises AlreadyMember, LostRace."""
    try:
        transact(*added_writes(added), *more)
    except ClientError as error:
        if items.cancellation_codes(error)[:1] == ["ConditionalCheckFailed"]:
            raise AlreadyMember from error
        if items.lost_a_race(error):
            raise LostRace from error
        raise


def added_writes(added: Member) -> list[TransactWriteItemTypeDef]:
    """The writes that make a person a member of an organization that exists; the first fails for who is one."""
    organization = _count_admins(added.organization_id, 1) if added.role == "admin" else None
    return [*_put_user_member(added), organization or must_exist(keys.organization(added.organization_id))]


def add_service_account(added: Member, *more: TransactWriteItemTypeDef) -> None:
    """Make a service account a member again; one transaction. Raises AlreadyMember, LostRace."""
    try:
        transact(
            put_new(_member_item(added)),
            must_exist(keys.service_account(added.organization_id, added.principal.id)),
            *more,
        )
    except ClientError as error:
        if items.cancellation_codes(error)[:1] == ["ConditionalCheckFailed"]:
            raise AlreadyMember from error
        if items.lost_a_race(error):
            raise LostRace from error
        raise


def activate(organization_id: str, user_id: str) -> None:
    """An invited person has come; one transaction of one update. A member removed meanwhile stays removed."""
    try:
        transact(
            update(
                keys.member(organization_id, user_id),
                "SET #status = :active",
                "#status = :invited",
                {":active": "active", ":invited": "invited"},
            )
        )
    except ClientError as error:
        if not items.lost_a_race(error):
            raise


def change_role(before: Member, role: Role, *more: TransactWriteItemTypeDef) -> None:
    """One transaction, which counts the Admins. Raises LastAdmin, LostRace."""
    changed = update(
        keys.member(before.organization_id, before.principal.id),
        "SET #role = :after",
        "#role = :before",
        {":after": role, ":before": before.role},
    )
    count = _count_admins(before.organization_id, 1 if role == "admin" else -1)
    _with_count(changed, count, *more)


def remove_user(before: Member, *more: TransactWriteItemTypeDef) -> None:
    """One transaction, which counts the Admins; the person's sessions stop in this organization at once.

    Raises LastAdmin, LostRace.
    """
    removed = delete(
        keys.member(before.organization_id, before.principal.id), "#role = :before", {":before": before.role}
    )
    listing = delete(keys.membership(before.principal.id, before.organization_id))
    if before.role == "admin":
        _with_count(removed, _count_admins(before.organization_id, -1), listing, *more)
    else:
        _with_count(removed, must_exist(keys.organization(before.organization_id)), listing, *more)


def first_organization_made(organization_id: str) -> TransactWriteItemTypeDef:
    """Says so, once: a second try is refused."""
    return put_new(keys.first_organization() | {"organization_id": organization_id})


def has_first_organization() -> bool:
    """One read."""
    return table.get(keys.first_organization()) is not None


def _with_count(
    changed: TransactWriteItemTypeDef, count: TransactWriteItemTypeDef, *more: TransactWriteItemTypeDef
) -> None:
    try:
        transact(changed, count, *more)
    except ClientError as error:
        codes = items.cancellation_codes(error)
        if codes[:2] == ["None", "ConditionalCheckFailed"]:
            raise LastAdmin from error
        if items.lost_a_race(error):
            raise LostRace from error
        raise


def _count_admins(organization_id: str, change: int) -> TransactWriteItemTypeDef:
    """The number of Admins stands in the organization's item, so that no two can both be the last to go."""
    condition = "attribute_exists(pk)" if change > 0 else "admins > :one"
    values: Item = {":change": change} if change > 0 else {":change": change, ":one": 1}
    return update(keys.organization(organization_id), "ADD admins :change", condition, values)


def _put_user_member(member: Member) -> list[TransactWriteItemTypeDef]:
    return [
        put_new(_member_item(member)),
        put_new(
            keys.membership(member.principal.id, member.organization_id) | {"organization_id": member.organization_id}
        ),
    ]


def _member_item(member: Member) -> Item:
    return keys.member(member.organization_id, member.principal.id) | {
        "principal_id": member.principal.id,
        "kind": member.principal.kind,
        "name": member.principal.name,
        "role": member.role,
        "status": member.status,
        "created_at": clock.rfc3339(member.created_at),
    }


def _member(organization_id: str, item: Item) -> Member:
    return Member(
        organization_id=organization_id,
        principal=Principal(
            "user" if item["kind"] == "user" else "service_account",
            items.text(item, "sk").removeprefix("member#"),
            items.text(item, "name"),
        ),
        role=_role(item),
        status="invited" if item.get("status") == "invited" else "active",
        created_at=clock.parse(items.text(item, "created_at")),
    )


def _role(item: Item) -> Role:
    return "admin" if item["role"] == "admin" else "contributor"

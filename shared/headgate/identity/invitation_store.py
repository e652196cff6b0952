"""Invitations in the identity table: each among the members of its organization, and listed by its address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.identity import keys, member_store, table
from headgate.identity.model import AlreadyMember, Invitation, Member, Principal, Role, User
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.retry import LostRace

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


def put(invitation: Invitation, user: User | None, *more: TransactWriteItemTypeDef) -> None:
    """Keep it, over an earlier one; one transaction. Raises AlreadyMember if the `user` is one by now, LostRace."""
    item = keys.member(invitation.organization_id, invitation.id) | {
        "principal_id": invitation.id,
        "kind": "user",
        "name": invitation.email,
        "role": invitation.role,
        "status": "invited",
        "invited_by": invitation.invited_by,
        "created_at": clock.rfc3339(invitation.created_at),
        **table.expiry(invitation.expires_at),
    }
    listing = keys.invitation(invitation.email, invitation.organization_id) | {
        "organization_id": invitation.organization_id,
        "invitation_id": invitation.id,
        **table.expiry(invitation.expires_at),
    }
    organization = table.must_exist(keys.organization(invitation.organization_id))
    # An address without a person takes the same write: the inviter can tell by nothing which it was.
    person = keys.member(invitation.organization_id, user.id if user else "nobody")
    stranger = table.check(person, "attribute_not_exists(pk)")
    try:
        table.transact(stranger, organization, table.put_over(item), table.put_over(listing), *more)
    except ClientError as error:
        if items.cancellation_codes(error)[:1] == ["ConditionalCheckFailed"]:
            raise AlreadyMember from error
        raise _lost(error) from error


def of_address(email: str) -> list[Invitation]:
    """Those that stand; one query, and one read for each fifty of them."""
    listed = table.query_all(items.text(keys.email(email), "pk"), "invitation#")
    organizations = [items.text(item, "organization_id") for item in listed]
    wanted = [keys.member(items.text(item, "organization_id"), items.text(item, "invitation_id")) for item in listed]
    found = table.get_all([*wanted, *map(keys.organization, organizations)])
    names = {item["pk"]: items.text(item, "name") for item in found if item["sk"] == "organization"}
    pending = [item for item in found if item["sk"] != "organization" and not table.expired(item, clock.now())]
    return [_invitation(item, names[item["pk"]]) for item in pending if item["pk"] in names]


def accept(found: Invitation, user: User, *more: TransactWriteItemTypeDef) -> None:
    """Make the person a member as they were shown it; one transaction. Raises AlreadyMember, LostRace."""
    member = Member(found.organization_id, Principal("user", user.id, user.email), found.role, "active", clock.now())
    try:
        table.transact(*_ended(found), *member_store.added_writes(member), *more)
    except ClientError as error:
        codes = items.cancellation_codes(error)
        if codes[:3] == ["None", "None", "ConditionalCheckFailed"]:
            raise AlreadyMember from error
        raise _lost(error) from error


def end(found: Invitation, *more: TransactWriteItemTypeDef) -> None:
    """It was withdrawn or declined; one transaction. Raises LostRace."""
    try:
        table.transact(*_ended(found), *more)
    except ClientError as error:
        raise _lost(error) from error


def change_role(pending: Member, role: Role, *more: TransactWriteItemTypeDef) -> None:
    """Offer another role, which has not been shown to the person yet; one transaction. Raises LostRace."""
    key = keys.member(pending.organization_id, pending.principal.id)
    changed = table.update(key, "SET #role = :after", "#role = :before", {":after": role, ":before": pending.role})
    try:
        table.transact(changed, *more)
    except ClientError as error:
        raise _lost(error) from error


def _ended(found: Invitation) -> tuple[TransactWriteItemTypeDef, TransactWriteItemTypeDef]:
    """On the condition that it still says what it said, and was not ended by another."""
    values: Item = {":role": found.role, ":at": clock.rfc3339(found.created_at)}
    return (
        table.delete(keys.member(found.organization_id, found.id), "#role = :role AND created_at = :at", values),
        table.delete(keys.invitation(found.email, found.organization_id)),
    )


def _lost(error: ClientError) -> Exception:
    return LostRace() if items.lost_a_race(error) else error


def _invitation(item: Item, organization_name: str) -> Invitation:
    return Invitation(
        id=items.text(item, "principal_id"),
        organization_id=items.text(item, "pk").removeprefix("organization#"),
        organization_name=organization_name,
        email=items.text(item, "name"),
        role="admin" if item["role"] == "admin" else "contributor",
        invited_by=items.text(item, "invited_by"),
        created_at=clock.parse(items.text(item, "created_at")),
        expires_at=clock.parse(items.text(item, "expires_at")),
    )

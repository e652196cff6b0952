"""Invitations in the identity table: each among the members of its organization, and listed by its address."""

from __future__ import annotations

from typing import Final

from headgate.foundation import clock
from headgate.foundation.caller import Role
from headgate.foundation.principal import Principal
from headgate.identity import keys, member_store
from headgate.identity.model import AlreadyMember, Invitation, Member, User
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import Write, identity

_INVITATIONS: Final = Stored(
    Invitation, names={"id": "principal_id", "email": "name"}, elsewhere=["organization_id", "organization_name"]
)


def put(invitation: Invitation, user: User | None, *more: Write) -> None:
    """Store it over an earlier one; one transaction. Raises AlreadyMember if the `user` is a member, LostRace."""
    expiry = items.expiry(invitation.expires_at)
    pending: Item = {"kind": "user", "status": "invited"}
    item = keys.member(invitation.organization_id, invitation.id) | _INVITATIONS.item(invitation) | pending | expiry
    listing = keys.invitation(invitation.email, invitation.organization_id) | {
        "organization_id": invitation.organization_id,
        "invitation_id": invitation.id,
        **expiry,
    }
    organization = identity.must_exist(keys.organization(invitation.organization_id))
    # An address without a person takes the same write: the inviter can tell by nothing which it was.
    person = keys.member(invitation.organization_id, user.id if user else "nobody")
    stranger = identity.check(person, "attribute_not_exists(pk)")
    table.transact(
        [stranger, organization, identity.put_over(item), identity.put_over(listing), *more], {0: AlreadyMember()}
    )


def of_address(email: str) -> list[Invitation]:
    """Those that can be accepted; one query, and one read for each fifty of them."""
    listed = identity.list_all(keys.email_partition(email), keys.INVITATIONS)
    organizations = [items.text(item, "organization_id") for item in listed]
    members = [keys.member(items.text(item, "organization_id"), items.text(item, "invitation_id")) for item in listed]
    rows = identity.get_all([*members, *map(keys.organization, organizations)])
    names = {item["pk"]: items.text(item, "name") for item in rows if item["sk"] == "organization"}
    pending = [item for item in rows if item["sk"] != "organization" and not items.expired(item, clock.now())]
    return [_invitation(item, names[item["pk"]]) for item in pending if item["pk"] in names]


def accept(invitation: Invitation, user: User, *more: Write) -> None:
    """Make the person a member as they were shown it; one transaction. Raises AlreadyMember, LostRace."""
    principal = Principal("user", user.id, user.email)
    member = Member(invitation.organization_id, principal, invitation.role, "active", clock.now())
    deletes, puts = _deletes(invitation), member_store.added_writes(member)
    table.transact([*deletes, *puts, *more], {len(deletes): AlreadyMember(), len(deletes) + 1: AlreadyMember()})


def end(invitation: Invitation, *more: Write) -> None:
    """Delete it when it was withdrawn or declined; one transaction. Raises LostRace."""
    table.transact([*_deletes(invitation), *more])


def change_role(pending: Member, role: Role, *more: Write) -> None:
    """Offer another role, which has not been shown to the person yet; one transaction. Raises LostRace."""
    key = keys.member(pending.organization_id, pending.principal.id)
    changed = identity.update(key, "SET #role = :after", "#role = :before", {":after": role, ":before": pending.role})
    table.transact([changed, *more])


def _deletes(invitation: Invitation) -> list[Write]:
    """On the condition that it still offers the same, and was not ended by another request."""
    values: Item = {":role": invitation.role, ":at": clock.rfc3339(invitation.created_at)}
    key = keys.member(invitation.organization_id, invitation.id)
    return [
        identity.delete(key, "#role = :role AND created_at = :at", values),
        identity.delete(keys.invitation(invitation.email, invitation.organization_id)),
    ]


def _invitation(item: Item, organization_name: str) -> Invitation:
    organization_id = keys.organization_id_of(items.text(item, "pk"))
    return _INVITATIONS.read(item, organization_id=organization_id, organization_name=organization_name)

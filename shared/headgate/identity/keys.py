"""The keys of identity's items in the identity table; audit and http have keys of their own there.

Functions whose names end in `_partition` give a partition key, and the constants the beginnings of sort keys in it.
"""

from typing import Final

from headgate.storage.table import Key, TableIndex

MEMBERS: Final = "member#"
"""The members of an organization in its partition, the memberships of a person in theirs."""
SERVICE_ACCOUNTS: Final = "service_account#"
TOKENS: Final = "token#"
INVITATIONS: Final = "invitation#"
SESSIONS: Final = "session#"
EXPIRING: Final = TableIndex("expiring", "access", "expires_at")


def organization_partition(organization_id: str) -> str:
    return f"organization#{organization_id}"


def organization(organization_id: str) -> Key:
    return {"pk": organization_partition(organization_id), "sk": "organization"}


def organization_id_of(partition: str) -> str:
    return partition.removeprefix("organization#")


def member(organization_id: str, principal_id: str) -> Key:
    return {"pk": organization_partition(organization_id), "sk": f"{MEMBERS}{principal_id}"}


def principal_id_of(sort_key: str) -> str:
    """The principal of a member's item."""
    return sort_key.removeprefix(MEMBERS)


def service_account(organization_id: str, service_account_id: str) -> Key:
    return {"pk": organization_partition(organization_id), "sk": f"{SERVICE_ACCOUNTS}{service_account_id}"}


def token_listing(organization_id: str, service_account_id: str, token_id: str) -> Key:
    """Names the token under its service account; the token itself is found by its hash."""
    return {"pk": organization_partition(organization_id), "sk": f"{token_listings(service_account_id)}{token_id}"}


def token_listings(service_account_id: str) -> str:
    """The beginning of the sort keys of a service account's tokens, in the organization's partition."""
    return f"{TOKENS}{service_account_id}#"


def token(value_hash: str) -> Key:
    return {"pk": f"token#{value_hash}", "sk": "token"}


def rate(credential_id: str, minute: int) -> Key:
    """The counter of a token's or session's minute. It is apart from the credential, which few may write."""
    return {"pk": f"rate#{credential_id}", "sk": str(minute)}


def checks(credential_id: str) -> Key:
    """The checks that a credential has under way at the collector."""
    return {"pk": f"checks#{credential_id}", "sk": "checks"}


def user_partition(user_id: str) -> str:
    return f"user#{user_id}"


def user(user_id: str) -> Key:
    return {"pk": user_partition(user_id), "sk": "user"}


def email_partition(address: str) -> str:
    return f"email#{address}"


def email(address: str) -> Key:
    """Names the user who has the address, which is in lower case."""
    return {"pk": email_partition(address), "sk": "email"}


def membership(user_id: str, organization_id: str) -> Key:
    """Names an organization of a person; the member's own item in that organization says what they may do there."""
    return {"pk": user_partition(user_id), "sk": f"{MEMBERS}{organization_id}"}


def invitation(address: str, organization_id: str) -> Key:
    """Names an invitation by the address that it is for; the invitation itself stands among the members."""
    return {"pk": email_partition(address), "sk": f"{INVITATIONS}{organization_id}"}


def session(value_hash: str) -> Key:
    return {"pk": f"session#{value_hash}", "sk": "session"}


def session_listing(user_id: str, session_id: str) -> Key:
    return {"pk": user_partition(user_id), "sk": f"{SESSIONS}{session_id}"}


def session_id_of(sort_key: str) -> str:
    """The session that a listing names."""
    return sort_key.removeprefix(SESSIONS)


def login(secret_hash: str) -> Key:
    """A login of the command line, by the hash of its device code or of its code to paste."""
    return {"pk": f"login#{secret_hash}", "sk": "login"}


def secret_hash_of(partition: str) -> str:
    """The hash of a login's secret, by the login's partition key."""
    return partition.removeprefix("login#")


def user_code(code_hash: str) -> Key:
    """Names a login by the short code that the person compares."""
    return {"pk": f"user_code#{code_hash}", "sk": "user_code"}


def attempts(subject: str) -> Key:
    return {"pk": f"attempts#{subject}", "sk": "attempts"}


def first_organization() -> Key:
    """Says that this installation has its first organization."""
    return {"pk": "first_organization", "sk": "first_organization"}


def signing_key() -> Key:
    return {"pk": "signing_key", "sk": "signing_key"}

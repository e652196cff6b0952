"""The keys of identity's items in the identity table; audit and http have keys of their own there."""

from headgate.storage.items import Value

Key = dict[str, Value]


def organization(organization_id: str) -> Key:
    return {"pk": f"organization#{organization_id}", "sk": "organization"}


def member(organization_id: str, principal_id: str) -> Key:
    return {"pk": f"organization#{organization_id}", "sk": f"member#{principal_id}"}


def service_account(organization_id: str, service_account_id: str) -> Key:
    return {"pk": f"organization#{organization_id}", "sk": f"service_account#{service_account_id}"}


def token_listing(organization_id: str, service_account_id: str, token_id: str) -> Key:
    """Names the token under its service account; the token itself is found by its hash."""
    return {"pk": f"organization#{organization_id}", "sk": f"token#{service_account_id}#{token_id}"}


def token(value_hash: str) -> Key:
    return {"pk": f"token#{value_hash}", "sk": "token"}


def rate(credential_id: str, minute: int) -> Key:
    """How often a token or session was used in that minute. Apart from the credential, which few may write."""
    return {"pk": f"rate#{credential_id}", "sk": str(minute)}


def checks(credential_id: str) -> Key:
    """What of a credential's the collector is being asked just now."""
    return {"pk": f"checks#{credential_id}", "sk": "checks"}


def token_listings(service_account_id: str) -> str:
    """The beginning of the sort keys of a service account's tokens, in the organization's partition."""
    return f"token#{service_account_id}#"


def user(user_id: str) -> Key:
    return {"pk": f"user#{user_id}", "sk": "user"}


def email(address: str) -> Key:
    """Names the user who has the address, which is in lower case."""
    return {"pk": f"email#{address}", "sk": "email"}


def membership(user_id: str, organization_id: str) -> Key:
    """Names an organization of a person; the member's own item in that organization says what they may do there."""
    return {"pk": f"user#{user_id}", "sk": f"member#{organization_id}"}


def invitation(address: str, organization_id: str) -> Key:
    """Names an invitation by the address that it is for; the invitation itself stands among the members."""
    return {"pk": f"email#{address}", "sk": f"invitation#{organization_id}"}


def session(value_hash: str) -> Key:
    return {"pk": f"session#{value_hash}", "sk": "session"}


def session_listing(user_id: str, session_id: str) -> Key:
    return {"pk": f"user#{user_id}", "sk": f"session#{session_id}"}


def login(secret_hash: str) -> Key:
    """A login of the command line under way, by the hash of the device code or of the code to paste."""
    return {"pk": f"login#{secret_hash}", "sk": "login"}


def user_code(code_hash: str) -> Key:
    """Names a login by the short code that the person compares."""
    return {"pk": f"user_code#{code_hash}", "sk": "user_code"}


def attempts(of: str) -> Key:
    return {"pk": f"attempts#{of}", "sk": "attempts"}


def unanswered(of: str) -> Key:
    return {"pk": f"unanswered#{of}", "sk": "unanswered"}


def first_organization() -> Key:
    """Says that a deployment has its first organization."""
    return {"pk": "first_organization", "sk": "first_organization"}


def signing_key() -> Key:
    return {"pk": "signing_key", "sk": "signing_key"}

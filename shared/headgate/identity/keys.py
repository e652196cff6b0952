"""Every key of the identity table, built here and nowhere else."""

from headgate.dynamo import Value

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


def idempotency(credential_id: str, key_hash: str) -> Key:
    return {"pk": f"idempotency#{credential_id}#{key_hash}", "sk": "idempotency"}


def signing_key() -> Key:
    return {"pk": "signing_key", "sk": "signing_key"}

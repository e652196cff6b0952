"""The key of the record of an `Idempotency-Key`, which is in the identity table."""

from headgate.storage.table import Key


def idempotency(credential_id: str, key_hash: str) -> Key:
    return {"pk": f"idempotency#{credential_id}#{key_hash}", "sk": "idempotency"}

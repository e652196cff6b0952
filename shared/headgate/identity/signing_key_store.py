"""The deployment's signing key in the identity table."""

import contextlib
import secrets

from headgate.identity import keys, table
from headgate.settings import settings
from headgate.storage import aws, items


def get_or_create() -> bytes:
    """The deployment's own 256-bit secret, which the first to need it creates; one read, and one write once ever."""
    item = table.get(keys.signing_key())
    if item is None:
        with contextlib.suppress(aws.dynamodb().exceptions.ConditionalCheckFailedException):
            aws.dynamodb().put_item(
                TableName=settings().identity_table,
                Item=items.marshal(keys.signing_key() | {"secret": secrets.token_bytes(32)}),
                ConditionExpression="attribute_not_exists(pk)",
            )
        item = table.get(keys.signing_key()) or {}
    secret = item.get("secret")
    if not isinstance(secret, bytes):
        raise TypeError("the signing key in the identity table is not binary")
    return secret

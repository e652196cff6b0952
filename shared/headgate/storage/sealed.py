"""Texts that the tables hold encrypted, by a key of KMS.

A text opens only under the context that it was sealed under. The context names what the text belongs to, such as
`webhook_id="whk_…"`, and is not secret: AWS logs it, and IAM policies can refer to it.
"""

from typing import Final

from botocore.exceptions import ClientError

from headgate.foundation.settings import settings
from headgate.storage import aws

MAX_BYTES: Final = 4_096
"""KMS's own limit, in UTF-8."""
_NOT_OURS: Final = ("InvalidCiphertextException", "IncorrectKeyException")


class Unsealable(Exception):
    """The text was sealed under another context or by another key, such as that of another deployment."""


def seal(text: str, **context: str) -> bytes:
    """The text encrypted; one call."""
    answer = aws.kms().encrypt(KeyId=settings().secrets_key, Plaintext=text.encode(), EncryptionContext=context)
    return answer["CiphertextBlob"]


def unseal(sealed: bytes, **context: str) -> str:
    """The text again; one call. Raises Unsealable."""
    try:
        answer = aws.kms().decrypt(KeyId=settings().secrets_key, CiphertextBlob=sealed, EncryptionContext=context)
    except ClientError as error:
        if error.response["Error"]["Code"] in _NOT_OURS:
            raise Unsealable from error
        raise
    return answer["Plaintext"].decode()

"""The template's keys in moto's KMS, the same after a restart: their material is in a file of the data folder."""

import secrets
from pathlib import Path
from typing import Final

from moto.kms.models import kms_backends

from headgate_local import private_files
from headgate_local.moto_data import ACCOUNT, REGION
from headgate_local.template import Template

_FILE: Final = "secrets-key"
_BYTES: Final = 32


def create(template: Template, folder: Path) -> None:
    """Create the keys, and their material if the folder has none. Raises OSError."""
    path = folder / _FILE
    if not path.exists():
        private_files.write(path, secrets.token_bytes(_BYTES).hex())
    material = bytes.fromhex(path.read_text(encoding="utf-8"))
    for logical_id, _ in template.of_type("AWS::KMS::Key"):
        backend = kms_backends[ACCOUNT][REGION]
        # moto computes a private key for a symmetric one too: an RSA key, in 0.1 s, unless it is to be another.
        key = backend.create_key(None, "ENCRYPT_DECRYPT", "ECC_NIST_P256", logical_id, None)
        del backend.keys[key.id]
        key.id, key.key_material, key.key_spec = template.name_of(logical_id), material, "SYMMETRIC_DEFAULT"
        key.arn = str(template.resolve({"Fn::GetAtt": [logical_id, "Arn"]}))
        backend.keys[key.id] = key

"""moto in this process, with what the template describes."""

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from joserfc._rfc7518 import rsa_key
from moto import mock_aws

from headgate import checker
from headgate.foundation.settings import settings
from headgate.identity import signing
from headgate.storage import aws
from headgate_local import deliveries, direct_dynamodb, moto_patches, secrets_key, template, user_pool
from headgate_local.moto_data import MotoData
from tests.support import calls
from tests.support.documented_data import Stored

_import_private_key: Final = rsa_key.RSABinding.import_private_key


@cache
def _private_key(numbers: str) -> RSAPrivateKey:
    return _import_private_key(json.loads(numbers))


@cache
def read_template() -> template.Template:
    """template.yaml, read once for all modules of a worker."""
    return template.read()


def aws_for(monkeypatch: pytest.MonkeyPatch, folder: Path, *, documented: bool = True) -> Iterator[template.Template]:
    """moto with the template's tables, bucket and user pool, for the body of a fixture.

    What is stored has to be `documented` in docs/data.md. Clients stay for the next module; others are asked for by
    forgetting them.
    """
    for name in [name for name in os.environ if name.startswith(("AWS_", "HEADGATE_"))]:
        if name not in ("HEADGATE_COLLECTORS_DIR", calls.VARIABLE):
            monkeypatch.delenv(name)
    described = read_template()
    for name, value in described.environment().items():
        monkeypatch.setenv(name, value)
    for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "100000")
    monkeypatch.setenv("HEADGATE_CHECKS_UNDER_WAY", "1000")
    # moto reads its one key anew for each user pool, and computes the factors that the key lacks.
    once = staticmethod(lambda numbers: _private_key(json.dumps(numbers)))
    monkeypatch.setattr(rsa_key.RSABinding, "import_private_key", once)
    settings.cache_clear()
    data = MotoData(described.tables(), described.buckets())
    stored = Stored(described)
    with mock_aws(), moto_patches.installed(data, save=stored.note), direct_dynamodb.installed():
        # An earlier module of this process may have left one that looks for collectors elsewhere.
        checker.close()
        signing.signing_key.cache_clear()
        for table in described.tables():
            aws.dynamodb().create_table(**table.definition)
        for bucket in described.buckets():
            aws.s3().create_bucket(Bucket=bucket.name)
        secrets_key.create(described, folder)
        deliveries.create(described)
        with user_pool.running(described, folder):
            yield described
    assert not documented or not stored.undocumented, f"docs/data.md does not list {sorted(stored.undocumented)}"

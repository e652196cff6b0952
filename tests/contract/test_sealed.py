"""Texts sealed by KMS, as moto has it, and the key of the local service."""

from pathlib import Path

import pytest
from moto.kms.models import kms_backends

from headgate.foundation.settings import settings
from headgate.storage import sealed
from headgate_local import secrets_key
from headgate_local.moto_data import ACCOUNT, REGION
from headgate_local.template import Template

pytestmark = pytest.mark.contract

SECRET = "whsec_cGxhbnRlZA=="


@pytest.fixture
def folder(aws_here: Template, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_SECRETS_KEY", str(aws_here.resolve({"Fn::GetAtt": ["SecretsKey", "Arn"]})))
    settings.cache_clear()
    secrets_key.create(aws_here, tmp_path)
    return tmp_path


def test_a_text_opens_under_its_own_context_only(folder: Path) -> None:
    closed = sealed.seal(SECRET, webhook_id="whk_a")

    assert SECRET.encode() not in closed
    assert sealed.unseal(closed, webhook_id="whk_a") == SECRET
    for context in ({"webhook_id": "whk_b"}, {"deployment_id": "whk_a"}, {}):
        with pytest.raises(sealed.Unsealable):
            sealed.unseal(closed, **context)


def test_the_same_text_is_sealed_differently_each_time(folder: Path) -> None:
    assert sealed.seal(SECRET, webhook_id="whk_a") != sealed.seal(SECRET, webhook_id="whk_a")


def test_a_text_opens_after_a_restart_of_the_local_service(aws_here: Template, folder: Path) -> None:
    closed = sealed.seal(SECRET, webhook_id="whk_a")
    kms_backends[ACCOUNT][REGION].keys.clear()
    secrets_key.create(aws_here, folder)

    assert sealed.unseal(closed, webhook_id="whk_a") == SECRET


def test_another_folder_has_another_key(
    aws_here: Template, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    closed = sealed.seal(SECRET, webhook_id="whk_a")
    secrets_key.create(aws_here, tmp_path_factory.mktemp("other"))

    with pytest.raises(sealed.Unsealable):
        sealed.unseal(closed, webhook_id="whk_a")


def test_the_file_with_the_key_is_its_owners(folder: Path) -> None:
    assert (folder / "secrets-key").stat().st_mode & 0o077 == 0

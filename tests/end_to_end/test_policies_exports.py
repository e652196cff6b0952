"""The daily export makes every call that its role allows, and no other one; test_policies.py looks at them again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from exports.app import handler
from headgate.foundation.settings import settings
from headgate.identity import keys, signing
from headgate.storage import aws, table
from headgate_local import callers, template
from tests.support import calls, recorded_here
from tests.support.aws import read_template
from tests.support.backups import alone, ann, fleet_endpoint, furnished, policies_of
from tests.support.members import Member
from tests.support.policies import EXPORT_BUCKET, lacking, roles, unused
from tests.support.webhooks import Admin

__all__ = ["alone", "ann", "fleet_endpoint", "furnished"]
pytestmark = [pytest.mark.end_to_end, pytest.mark.usefixtures("fleet_endpoint")]

OURS = read_template()


@pytest.fixture(scope="module", autouse=True)
def recording(aws_here: template.Template, recorded_calls: Path) -> Iterator[Path]:
    with recorded_here.recording(recorded_calls / "exports.jsonl"):
        yield recorded_calls


def test_a_daily_export_uses_its_rights_and_lacks_none(
    ann: Member, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policies_of(ann)
    Admin.of(ann.organization_id).create()
    monkeypatch.setenv("HEADGATE_EXPORT_BUCKET", EXPORT_BUCKET)
    settings.cache_clear()
    aws.s3().create_bucket(Bucket=EXPORT_BUCKET)
    # A deployment whose first use of its key is an export.
    table.write(table.identity.delete(keys.signing_key()))
    signing.signing_key.cache_clear()

    with callers.acting("ExportsFunction"):
        assert handler({}, None) == {"exported": 1}

    role = {"ExportsFunction": roles(OURS)["ExportsFunction"]}
    made = [call for call in calls.read(recording) if call.function == "ExportsFunction"]
    assert lacking(made, role) == []
    assert unused(made, role) == []

"""Called once a day: writes an archive of each organization into the bucket for exports, often in another region."""

import random
import tempfile
from pathlib import Path
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import JsonValue

from headgate.backup import export, seals
from headgate.foundation import clock
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import logger
from headgate.foundation.settings import settings
from headgate.storage import elsewhere

ARCHIVES: Final = "archives"
# The keys with which another deployment takes the tokens of an archive, apart so that a policy can keep them apart.
SEAL_KEYS: Final = "seal-keys"


class NotExported(Exception):
    """Some archives were not written. Lambda calls again, and counts an error, which raises an alarm."""


def handler(_event: JsonValue, _context: object) -> JsonValue:
    """Raises NotExported after all others are written."""
    if not settings().export_bucket:
        return {"exported": 0}
    organizations = [organization_id for organization_id, _ in export.organizations()]
    # So that one that takes too long does not keep the same others from being exported.
    random.shuffle(organizations)
    failed = sum(not _exported(organization_id) for organization_id in organizations)
    logger.info("organizations_exported", organizations=len(organizations), failed=failed)
    if failed:
        raise NotExported(f"{failed} of {len(organizations)} organizations")
    return {"exported": len(organizations)}


def _exported(organization_id: str) -> bool:
    """Write the archive, and the key of its seal. False if that failed, which the log tells."""
    name = f"{organization_id}/{clock.rfc3339(clock.now()).replace(':', '')}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive"
        try:
            header, size = export.to_file(path, organization_id)
            elsewhere.put(f"{SEAL_KEYS}/{name}.txt", seals.shown(seals.key_of(header)).encode())
            with path.open("rb") as archive:
                elsewhere.put(f"{ARCHIVES}/{name}.jsonl.gz", archive)
        except export.OrganizationNotFound:
            # It was deleted meanwhile.
            return True
        except (HeadgateError, BotoCoreError, ClientError, OSError) as error:
            logger.error("organization_not_exported", organization_id=organization_id, kind=type(error).__name__)
            return False
    logger.info("organization_exported", organization_id=organization_id, items=size.items, objects=size.objects)
    return True

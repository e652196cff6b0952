"""Tells operators' scripts how to reach the running service's moto: `aws.json` in its data folder."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from headgate_local import private_files
from headgate_local.running import Local

_FILE: Final = "aws.json"
_NAMES: Final = (
    *("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"),
    *(f"HEADGATE_{table}_TABLE" for table in ("CONFIGURATIONS", "VERSIONS", "FLEETS", "IDENTITY", "EVENTS")),
    *("HEADGATE_BUCKET", "HEADGATE_SECRETS_KEY", "HEADGATE_PUBLIC_URL"),
    *("HEADGATE_USER_POOL", "HEADGATE_USER_POOL_CLIENT"),
)


@contextmanager
def published(local: Local) -> Iterator[None]:
    """The variables with moto's address and key are in the file, for its owner only, while the service runs."""
    path = local.data / _FILE
    private_files.write(path, json.dumps({name: os.environ[name] for name in _NAMES}))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def of_service(data: Path) -> Mapping[str, str]:
    """The variables of the service that uses the data folder. Raises FileNotFoundError if no service runs."""
    environment: dict[str, str] = json.loads((data / _FILE).read_text(encoding="utf-8"))
    return environment

"""Tells operators' scripts where the running service keeps its data: `aws.json` in its data folder."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from headgate_local.running import Local

_FILE: Final = "aws.json"
_NAMES: Final = (
    *("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"),
    *(f"HEADGATE_{table}_TABLE" for table in ("CONFIGURATIONS", "VERSIONS", "FLEETS", "IDENTITY")),
    *("HEADGATE_BUCKET", "HEADGATE_PUBLIC_URL", "HEADGATE_USER_POOL", "HEADGATE_USER_POOL_CLIENT"),
)


@contextmanager
def told(local: Local) -> Iterator[None]:
    """Keep the environment that leads to moto in the file while the service runs; for its owner only."""
    path = local.data / _FILE
    environment = {name: os.environ[name] for name in _NAMES}
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        json.dump(environment, opened)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def of_service(data: Path) -> Mapping[str, str]:
    """The environment of the service that runs on the data folder. Raises FileNotFoundError if none does."""
    environment: dict[str, str] = json.loads((data / _FILE).read_text(encoding="utf-8"))
    return environment

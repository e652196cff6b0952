"""The two programs of a host, as they were built on this machine."""

import os
from pathlib import Path
from typing import Final

from headgate.foundation.settings import settings

MACHINE: Final = "arm64" if os.uname().machine in ("aarch64", "arm64") else "amd64"


def cached_programs() -> dict[str, Path]:
    collectors = Path(os.environ["HEADGATE_COLLECTORS_DIR"])
    return {
        "otelcol-contrib": collectors / settings().collector_version / "otelcol-contrib",
        "headgate-supervisor": collectors.parent / "supervisor" / f"linux-{MACHINE}" / "headgate-supervisor",
    }

"""Writes the local service's small files: secrets among them, so for their owner only."""

import os
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write the file atomically, readable for its owner only. Raises OSError."""
    part = path.with_suffix(".unfinished")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    part.rename(path)

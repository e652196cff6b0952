"""The contents of S3 objects, as files named by their SHA-256: neither journal nor snapshot has to carry them."""

import contextlib
import hashlib
import os
from pathlib import Path


class ObjectFiles:
    """A folder of contents. A file is never changed, and removed only by `keep_only`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir(mode=0o700, exist_ok=True)

    def put(self, content: bytes) -> str:
        """Keep the content; returns its name. Raises OSError if it could not be written whole."""
        name = hashlib.sha256(content).hexdigest()
        path = self._folder / name
        if path.exists():
            return name
        temporary = self._folder / f"{name}.unfinished"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            temporary.rename(path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        return name

    def get(self, name: str) -> bytes | None:
        """The content, or None if the file is gone or is not what was put (a power cut, an editor)."""
        try:
            content = (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        return content if hashlib.sha256(content).hexdigest() == name else None

    def keep_only(self, names: set[str]) -> None:
        """Remove what nothing refers to any more."""
        for path in list(self._folder.iterdir()):
            if path.name not in names:
                path.unlink(missing_ok=True)

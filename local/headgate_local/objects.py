"""The contents of S3 objects, as files named by their SHA-256: neither journal nor snapshot has to carry them."""

import contextlib
import hashlib
import os
from collections.abc import Iterator
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
            with temporary.open("wb", opener=_private) as file:
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
        for path in self._others(names):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def _others(self, names: set[str]) -> Iterator[Path]:
        return (path for path in list(self._folder.iterdir()) if path.name not in names)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)

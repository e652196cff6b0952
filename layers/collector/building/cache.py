"""The folder of builds, outside of the checkout, so that later builds can use them."""

import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from building.errors import BuildError


@dataclass(frozen=True, slots=True)
class Cache:
    """`folder` has builds and tools; `collectors` has a folder for each version, where the checker finds them."""

    folder: Path
    collectors: Path

    @classmethod
    def of_this_user(cls) -> "Cache":
        """The folders named by HEADGATE_CACHE and HEADGATE_COLLECTORS_DIR, or those of the user's cache."""
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(os.environ.get("HEADGATE_CACHE") or Path(base, "headgate")).absolute()
        return cls(folder, Path(os.environ.get("HEADGATE_COLLECTORS_DIR") or folder / "collectors").absolute())

    @contextlib.contextmanager
    def locked(self, what: str) -> Iterator[None]:
        """Hold the lock with this name, so that two processes do not do the same work at once.

        Says on standard error which process it waits for.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / f".{what}.lock").open("a+")
        except OSError as error:
            raise BuildError(f"The cache folder {self.folder} cannot be written: {error.strerror}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                holder = lock.read(20).strip() or "unknown"
                print(f"Waiting for another build ({what}, process {holder}) to end", file=sys.stderr, flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield

    @contextlib.contextmanager
    def new_folder(self, final: Path) -> Iterator[Path]:
        """A folder to fill. It becomes `final` in one step if the block succeeds, and is removed otherwise."""
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
        except OSError as error:
            raise BuildError(f"The folder {final.parent} cannot be written: {error.strerror}") from error
        try:
            yield part
            part.chmod(0o755)
            if final.is_symlink():
                final.unlink()
            elif final.exists():
                shutil.rmtree(final)
            part.rename(final)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def point(link: Path, folder: Path) -> None:
    """Make `link` a symbolic link to `folder`, atomically."""
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    new = link.with_name(f".{link.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(folder)
    new.replace(link)

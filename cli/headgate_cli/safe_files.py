"""Reading and writing files in a folder that somebody else may have filled.

Only regular files of at most 1 MB are read. A symbolic link, as the file or as a folder on the way to it, may lead only
into the folder that holds the link. Folders above the working folder are trusted, and so is the folder of a path that
leads out of the working folder.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from pathlib import Path
from typing import Final

from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"
# The server's limit for a body and for a sample.
MOST_BYTES: Final = 1_048_576

# File descriptors that the caller opened, such as those of a shell's `<(...)`.
_DESCRIPTOR: Final = re.compile(r"/dev/(?:stdin|fd/([0-9]{1,4}))|/proc/self/fd/([0-9]{1,4})")
# O_NONBLOCK: opening a pipe without a writer does not wait.
_TO_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_TO_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def read(file: str) -> str:
    """The text of a file that a person named, or of standard input for `-`; empty for /dev/null. Raises Failed."""
    if file == os.devnull:
        return ""
    try:
        content = _read_descriptor(file) if file == STDIN or _DESCRIPTOR.fullmatch(file) else read_bytes(Path(file))
    except OSError as error:
        raise Failed(f"cannot read {one_line(file)}: {error.strerror}") from error
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Failed(f"{one_line(name(file))} is not UTF-8 text: see line {line}") from error


def read_bytes(path: Path, *, links: bool = False) -> bytes:
    """The content of a regular file. `links` follows every link: for folders that nobody else writes to.

    Raises OSError, and Failed for a link out of its folder, for anything but a regular file, and for one over 1 MB.
    """
    descriptor = os.open(path.resolve() if links else place(path), _TO_READ)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Failed(f"cannot read {one_line(str(path))}: it is not a regular file")
        return _bounded(opened.read(MOST_BYTES + 1), str(path))


def replace(path: Path, content: bytes) -> None:
    """Replace a file's content atomically; who may read it stays. Raises OSError, and Failed as `read_bytes`."""
    target = place(path)
    permissions = target.stat().st_mode & 0o777 if target.exists() else None
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        # Without a moment in which others may read it.
        with os.fdopen(os.open(unfinished, _TO_WRITE, 0o666 if permissions is None else 0o600), "wb") as opened:
            if permissions is not None:
                os.fchmod(opened.fileno(), permissions)
            opened.write(content)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def write(path: str | Path, content: str | bytes) -> None:
    """Replace a file's content atomically. A text is written as it is, without other line ends. Raises Failed."""
    try:
        replace(Path(path), content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise Failed(f"cannot write {one_line(str(path))}: {error.strerror}") from error


def rewrite(path: str, before: str, after: str, undone: str = "nothing was written, run the command again") -> None:
    """Replace a file's text, if it still is what it was. Raises Failed."""
    if read_bytes(Path(path)) != before.encode():
        raise Failed(f"{one_line(path)} was changed meanwhile: {undone}")
    write(path, after)


def place(path: Path) -> Path:
    """The path with its links followed. Raises Failed if a link on the way leads out of its own folder."""
    here = Path.cwd()
    target_path = Path(os.path.normpath(here / path))
    if target_path.is_relative_to(here):
        reached, steps = here, target_path.relative_to(here).parts
    else:
        reached, steps = target_path.parent.resolve(), (target_path.name,)
    for step in steps:
        following = reached / step
        if following.is_symlink():
            target = Path(os.path.realpath(following))
            if not target.is_relative_to(reached):
                raise Failed(
                    f"{one_line(str(path))}: {one_line(step)} is a link that leads out of its folder, to "
                    f"{one_line(str(target))}; name that file instead"
                )
            following = target
        reached = following
    return reached


def below(folder: Path, relative: str) -> Path:
    """A file in the folder that a text of the folder names. Raises Failed for a path or a link that leads out of it."""
    path = folder / relative
    if Path(relative).is_absolute() or ".." in Path(relative).parts or not relative.isprintable():
        raise Failed(f"{one_line(relative)} leads out of {one_line(str(folder))}: name a file in that folder")
    # `place` trusts the folders on the way to a file outside of the working folder.
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise Failed(f"{one_line(str(path))} is a link that leads out of its folder")
    return path


def is_file(argument: str) -> bool:
    """True if the argument names a file, even one that `read` refuses."""
    if argument == STDIN or _DESCRIPTOR.fullmatch(argument):
        return True
    try:
        return os.path.lexists(argument) and not Path(argument).is_dir()
    except ValueError:
        return False


def name(file: str) -> str:
    return STDIN_NAME if file == STDIN else file


def _read_descriptor(file: str) -> bytes:
    """The content of standard input, or of another descriptor that the caller opened."""
    match = _DESCRIPTOR.fullmatch(file)
    number = next((group for group in match.groups() if group), "0") if match else ""
    if number in ("", "0"):
        return _bounded(sys.stdin.buffer.read(MOST_BYTES + 1), STDIN_NAME)
    with os.fdopen(os.dup(int(number)), "rb") as opened:
        return _bounded(opened.read(MOST_BYTES + 1), file)


def _bounded(content: bytes | None, label: str) -> bytes:
    if content is not None and len(content) > MOST_BYTES:
        raise Failed(f"{one_line(label)} is over 1 MB, the server's limit")
    return content or b""

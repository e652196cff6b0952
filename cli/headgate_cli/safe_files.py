"""Reading and writing files of a folder that may be a stranger's.

Only regular files are read, none past 1 MB, and a link, be it the file or a folder on the way to it, may lead only to
what lies in the link's own folder. What is above the working folder is the person's own, and so is the folder of a path
that leads elsewhere.
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
# The most that the server takes of a body or a sample.
MOST_BYTES: Final = 1_048_576

# What a shell's `<(...)` becomes, and other names of what this process was given open.
_GIVEN_OPEN: Final = re.compile(r"/dev/(?:stdin|fd/([0-9]{1,4}))|/proc/self/fd/([0-9]{1,4})")
# O_NONBLOCK: a pipe that nobody writes to is looked at, not waited for.
_TO_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_TO_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def read(file: str) -> str:
    """The text of a file that a person named, or of standard input for `-`.

    Raises Failed with the file's name and what is wrong.
    """
    try:
        content = _given(file) if file == STDIN or _GIVEN_OPEN.fullmatch(file) else read_bytes(Path(file))
    except OSError as error:
        raise Failed(f"cannot read {one_line(file)}: {error.strerror}") from error
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Failed(f"{one_line(name(file))} is not UTF-8: line {line} has a byte that cannot be read") from error


def read_bytes(path: Path, *, links: bool = False) -> bytes:
    """What a regular file holds; `links` follows every link, in folders that are nobody else's.

    Raises OSError, and Failed for a link that leads out, what is not a file, and what is too large.
    """
    descriptor = os.open(path.resolve() if links else place(path), _TO_READ)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Failed(f"cannot read {one_line(str(path))}: it is not a regular file")
        return _bounded(opened.read(MOST_BYTES + 1), str(path))


def replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, in the place where it is. Raises OSError, and Failed as `read_bytes`."""
    target = place(path)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(unfinished, _TO_WRITE, 0o666), "wb") as opened:
            opened.write(content)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def place(path: Path) -> Path:
    """Where the path leads. Raises Failed where a link on the way leads out of its own folder."""
    here = Path.cwd()
    wanted = Path(os.path.normpath(here / path))
    if wanted.is_relative_to(here):
        reached, steps = here, wanted.relative_to(here).parts
    else:
        reached, steps = wanted.parent.resolve(), (wanted.name,)
    for step in steps:
        following = reached / step
        if following.is_symlink():
            target = Path(os.path.realpath(following))
            if not target.is_relative_to(reached):
                raise Failed(
                    f"{one_line(str(path))}: {one_line(step)} is a link that leads out of its folder, to "
                    f"{one_line(str(target))}; if that is what you mean, name it instead"
                )
            following = target
        reached = following
    return reached


def is_file(wanted: str) -> bool:
    """Whether the person's word means a file, which may be one that `read` refuses."""
    if wanted == STDIN or _GIVEN_OPEN.fullmatch(wanted):
        return True
    try:
        return os.path.lexists(wanted) and not Path(wanted).is_dir()
    except ValueError:
        return False


def name(file: str) -> str:
    return STDIN_NAME if file == STDIN else file


def _given(file: str) -> bytes:
    """What standard input, or another file that was open already, has to say."""
    found = _GIVEN_OPEN.fullmatch(file)
    number = next((group for group in found.groups() if group), "0") if found else ""
    if number in ("", "0"):
        return _bounded(sys.stdin.buffer.read(MOST_BYTES + 1), STDIN_NAME)
    with os.fdopen(os.dup(int(number)), "rb") as opened:
        return _bounded(opened.read(MOST_BYTES + 1), file)


def _bounded(content: bytes | None, called: str) -> bytes:
    if content is not None and len(content) > MOST_BYTES:
        raise Failed(f"{one_line(called)} is over 1 MB, which is the most that the server takes")
    return content or b""

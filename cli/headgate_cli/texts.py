"""Reading configurations from files and standard input."""

import sys
from pathlib import Path
from typing import Final

from headgate_cli.errors import Failed

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"


def read(file: str) -> str:
    """The text of a file, or of standard input for `-`. Raises Failed with the file's name and what is wrong."""
    try:
        content = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        raise Failed(f"cannot read {file}: {error.strerror}") from error
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Failed(f"{name(file)} is not UTF-8: line {line} has a byte that cannot be read") from error


def name(file: str) -> str:
    return STDIN_NAME if file == STDIN else file

"""Text from others (a server, a file, a file's name), made safe to print on a terminal and in the log of a CI.

GitHub's runner runs a line as a command if it begins with `::` after any white space, or contains `##[`; Azure's runs
`##vso[`. No line printed for people may do either. Text of several lines gets a mark at the start of each line but the
first, which always follows words of this program.
"""

from __future__ import annotations

import json
import re
from typing import Final

# The escapes of `click.style`, the only ones that these commands print.
_STYLE: Final = re.compile(r"(\x1b\[(?:0|1|3[1-6])m)")
_BEGINS_COMMAND: Final = re.compile(r"^((?:\x1b\[(?:0|1|3[1-6])m|[ \t])*)(?=::)", re.MULTILINE)
_HOLDS_COMMAND: Final = re.compile(r"##(?=\w*\[)")
_MARK: Final = "  | "
# JSON escapes ASCII control characters only; terminals also begin an escape at U+009B.
_NOT_ASCII: Final = re.compile(r"[^\n -~]")
# In text that is printed unchanged: the runner ignores invisible characters before a command.
_COMMAND: Final = re.compile(r"^[^\w\n]*?::[\w-]+[ :]|##\w*\[[\w.-]+[\] ]", re.MULTILINE)


def printable(text: str) -> str:
    """The text without characters that control a terminal or are invisible. Line ends and tabs stay."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)


def one_line(text: str) -> str:
    """A name within a sentence: without line ends, which could fake a message of this program in a CI log."""
    return "".join(char if char.isprintable() else "�" for char in text)


def quoted(text: str) -> str:
    """A message after words of this program; its further lines are marked as quoted."""
    return printable(text).replace("\n", f"\n{_MARK}")


def block(text: str) -> str:
    """Lines of another's text, each marked as quoted."""
    return f"{_MARK}{quoted(text.rstrip())}"


def command(line: str) -> str:
    """A command of this program to a CI runner, with no other command inside."""
    return _HOLDS_COMMAND.sub("#�", one_line(line))


def harmless(text: str) -> str:
    """Text for people: keeps this program's colours, and contains nothing that a CI runner would run."""
    safe = "".join(part if _STYLE.fullmatch(part) else printable(part) for part in _STYLE.split(text))
    return _BEGINS_COMMAND.sub(r"\1| ", _HOLDS_COMMAND.sub("#�", safe))


def harmless_json(written: str) -> str:
    """The same JSON, with escapes for what controls a terminal or a CI runner."""
    escaped = _NOT_ASCII.sub(lambda char: char[0] if char[0].isprintable() else json.dumps(char[0])[1:-1], written)
    return _HOLDS_COMMAND.sub(r"#\\u0023", escaped)


def holds_command(text: str) -> bool:
    """True if a CI runner would run a line of the text as a command."""
    return bool(_COMMAND.search(text.replace("\r", "\n")))
